"""``suffice inspect``: what a saved model is, and what tells its classes apart."""

from __future__ import annotations

import os
from typing import Any

import click

from suffice.cli.command import command as _command
from suffice.cli.description import description, show_classes, show_columns
from suffice.cli.output import Page, json_option, number, show_json, shown, size
from suffice.cli.reading import model_argument

__all__ = ["command"]

EXAMPLES = """
suffice inspect flowers.suffice
suffice inspect flowers.suffice --column 'petal width' --json
suffice inspect spam.suffice --most 5
"""


@_command("inspect", "Show what a model has learned.", EXAMPLES)
@model_argument
@click.option(
    "-n", "--most", type=click.IntRange(min=0), default=20, show_default=True, help="Columns and words to list."
)
@click.option(
    "--column", "wanted", multiple=True, metavar="COL", help="Show the parameters of p(x | y) of a column; repeatable."
)
@json_option
def command(model: str, most: int, wanted: tuple[str, ...], as_json: bool) -> None:
    """Show what MODEL has learned: classes, families, rows, and the most telling columns or words.

    The bits of a column are what it says of the class by itself, under the model: 0 where the classes look alike.
    """
    import suffice
    from suffice.cli.mutual_information import entropy, telling_columns, words_of

    loaded = suffice.load(model)
    tables = {name: _parameters(loaded, name) for name in wanted}
    words = words_of(loaded, most)
    documents = {each["column"] for each in words}
    telling = [each for each in telling_columns(loaded) if not documents.issuperset(each["columns"])]
    found = {
        "file": model,
        "bytes": os.path.getsize(model),
        **description(loaded),
        "entropy_bits": entropy(loaded._estimated().prior),
        "telling_columns": telling,
        "telling_words": words,
        "parameters": tables,
    }
    if as_json:
        show_json(found)
    else:
        _show(found, most)


def _parameters(model: Any, name: str) -> dict[str, Any]:
    """p(x | y) of a column as a table, by the names of its columns."""
    from suffice.exceptions import InputError

    if not hasattr(model, "parameters"):
        raise InputError(f"A {type(model).__name__} does not show its parameters by column; leave out --column.")
    named = {_joined(each): each for each in model.families_}
    if name not in named:
        raise InputError(f"There is no column {name!r} in the model. Its columns are {', '.join(named)}.")
    return {str(kind): list(values) for kind, values in model.parameters(named[name]).items()}


def _joined(name: Any) -> str:
    return ",".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _show(found: dict[str, Any], most: int) -> None:
    page = Page()
    page.facts(
        {
            "file": f"{shown(found['file'])}, {size(found['bytes'])}",
            "model": found["model"] + "".join(f", {name} {shown(value)}" for name, value in found["settings"].items()),
            "rows": number(found["rows"]),
        }
    )
    page.heading("Classes")
    show_classes(page, found["classes"])
    page.heading("Columns")
    show_columns(page, found["columns"])
    if found["telling_columns"] and most:
        page.heading(f"Most telling columns (bits about the class, of {found['entropy_bits']:.3f})")
        rows = [[", ".join(each["columns"]), f"{each['bits']:.3f}"] for each in found["telling_columns"][:most]]
        page.table(["column", "bits"], rows)
    for each in found["telling_words"] if most else []:
        page.heading(f"Words that speak for {shown(each['label'])}")
        rows = [[w["word"], w["log_odds"], w["count"], w["others"]] for w in each["words"]]
        page.table(["word", "log-odds", "count", "others"], rows)
    for name, table in found["parameters"].items():
        page.heading(f"p(x | y) of {shown(name)}")
        page.table(list(table), [[_cell(cell) for cell in row] for row in zip(*table.values(), strict=True)])


def _cell(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
