"""``suffice export``: write a model for other programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.command import Choice, mark_written, note, section
from suffice.cli.command import command as _command
from suffice.cli.output import size
from suffice.cli.reading import column_names, model_argument
from suffice.cli.writing import check_not_an_input, check_writable, open_output

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier

__all__ = ["command"]

EXAMPLES = """
suffice export flowers.suffice --to sql --table new_flowers
suffice export flowers.suffice --table sales.flowers --dialect postgres \\
    --keep species -o flowers.sql
suffice export flowers.suffice -o flowers.onnx
suffice export flowers.suffice -o flowers.joblib
suffice export spam.suffice --to json | head -c 300
"""
EXTENSIONS = {".sql": "sql", ".onnx": "onnx", ".joblib": "sklearn", ".json": "json"}
DIALECTS = ("duckdb", "postgres", "sqlite", "spark")
BINARY = ("onnx", "sklearn")
OPTIONS = {
    "sql": ("table", "dialect", "keep", "columns", "prefix", "complete"),
    "onnx": ("precision", "missing"),
}
"""Options that only one format has."""


@_command("export", "Write a model for other programs: SQL, ONNX, scikit-learn, JSON.", EXAMPLES)
@model_argument
@click.option(
    "--to",
    type=Choice(
        ["sql", "onnx", "sklearn", "json"],
        case_sensitive=False,
        synonyms=dict.fromkeys(("scikit", "scikit-learn", "joblib", "pickle"), "sklearn"),
    ),
    help="Format; default: by the name of the file (.sql, .onnx, .joblib, .json), or by an option of SQL or ONNX.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    default="-",
    metavar="FILE",
    help="File to write; default: standard output.",
)
@section(
    "SQL",
    click.option("--table", metavar="NAME", help="Table with the rows to score, as it is written in SQL; required."),
    click.option(
        "--dialect",
        type=Choice(
            DIALECTS,
            case_sensitive=False,
            synonyms={"pyspark": "spark", "sqlite3": "sqlite"},
            aliases={"postgresql": "postgres"},
        ),
        default="duckdb",
        show_default=True,
        help="Database that runs the statement.",
    ),
    click.option(
        "--keep",
        metavar="all|none|COLS",
        default="all",
        show_default=True,
        help="Columns of the table to keep beside the scores, separated by commas.",
    ),
    click.option(
        "--columns",
        multiple=True,
        metavar="COLS",
        callback=column_names,
        help="Names of the model's columns in the table, in the order of the model, separated by commas; default: the "
        "names in the model. Repeatable.",
    ),
    click.option("--prefix", metavar="TEXT", default="", help="Start of the names of the computed columns."),
    click.option(
        "--complete",
        is_flag=True,
        help="Dependent columns have no missing cells in the table; the statement is then shorter.",
    ),
)
@section(
    "ONNX",
    click.option(
        "--precision",
        type=Choice(["double", "float"]),
        default="double",
        show_default=True,
        help="Type of the numbers: float64 or float32.",
    ),
    click.option(
        "--missing",
        metavar="TEXT",
        default="",
        help="Text of a missing cell in columns of texts; default: the empty text.",
    ),
)
def command(model: str, output: str, to: str | None, **options: Any) -> None:
    """Write MODEL for a program that scores rows without Suffice, with the probabilities of `suffice predict`.

    sql: a SELECT statement that adds the label and the probabilities of each row to a table.

    onnx: a graph for ONNX Runtime.

    sklearn: an equal fitted model of scikit-learn, if there is one, as a file for joblib.load. Loading a joblib file
    can run any code that is in it, so load only files that you trust.

    json: the formulas, for a program of your own.
    """
    given = _given_options(click.get_current_context())
    by_name = EXTENSIONS.get(os.path.splitext(output)[1].lower())
    kind = _format_of(output, to or by_name, given)
    _check_options(given, kind, options)
    check_writable(output)
    if output != "-":
        check_not_an_input(output, model)
    import suffice

    content = CONTENTS[kind](suffice.load(model), options)
    with open_output(output) as file:
        file.write(content)
    if output != "-":
        mark_written(f"{output} was written")
        other = "" if by_name in (kind, None) else f" Its format is {kind}, although its name is that of {by_name}."
        note(f"{output} was written ({size(os.path.getsize(output))}).{other}")


def _given_options(ctx: click.Context) -> dict[str, str]:
    """The options on the command line that only one format has, and this format."""
    line = click.core.ParameterSource.COMMANDLINE
    every = [(name, kind) for kind, names in OPTIONS.items() for name in names]
    return {name: kind for name, kind in every if ctx.get_parameter_source(name) is line}


def _format_of(output: str, chosen: str | None, given: dict[str, str]) -> str:
    """The format: the one that ``--to`` or the name of the file says, or the one that has the given options."""
    kind = chosen or next(iter(given.values()), None)
    if kind is None:
        choose = "Choose a format with --to sql, onnx, sklearn or json"
        if output != "-":
            named = f"{output!r} has no extension that implies a format."
            raise click.UsageError(f"{named} {choose}, or give a name that ends in .sql, .onnx, .joblib or .json.")
        raise click.UsageError(f"{choose}.")
    if output == "-" and kind in BINARY and sys.stdout.isatty():
        raise click.UsageError(f"{kind} cannot be shown on a terminal. Give a file with -o, or pipe the output.")
    return kind


def _check_options(given: dict[str, str], kind: str, options: dict[str, Any]) -> None:
    """Raise if an option is given that the format does not have, or one is missing that it needs."""
    for name, other in given.items():
        if other != kind:
            raise click.UsageError(f"--{name} needs --to {other}; the format is {kind}.")
    if kind == "sql" and not options["table"]:
        raise click.UsageError("SQL needs the name of the table with the rows to score: give it with --table.")


# ---------------------------------------------------------------------- contents


def _sql(model: GenerativeClassifier, options: dict[str, Any]) -> bytes:
    keep = options["keep"]
    kept = None if keep == "all" else [] if keep == "none" else [name for name in keep.split(",") if name]
    names = ("columns", "prefix", "complete")
    statement = model.to_sql(options["table"], options["dialect"], keep=kept, **{name: options[name] for name in names})
    return f"{statement}\n".encode()


def _onnx(model: GenerativeClassifier, options: dict[str, Any]) -> bytes:
    graph = model.to_onnx(options["precision"], missing=options["missing"])
    return bytes(graph.SerializeToString(deterministic=True))


def _sklearn(model: GenerativeClassifier, options: dict[str, Any]) -> bytes:
    import io

    import joblib

    content = io.BytesIO()
    joblib.dump(model.to_sklearn(), content)
    return content.getvalue()


def _json(model: GenerativeClassifier, options: dict[str, Any]) -> bytes:
    return f"{model.to_json()}\n".encode()


CONTENTS: dict[str, Callable[[GenerativeClassifier, dict[str, Any]], bytes]] = {
    "sql": _sql,
    "onnx": _onnx,
    "sklearn": _sklearn,
    "json": _json,
}
