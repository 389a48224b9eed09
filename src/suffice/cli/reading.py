"""Options for reading data, and the columns of the data that a model reads."""

from __future__ import annotations

import codecs
import functools
import glob
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from suffice.cli.column_types import read_types_of_model
from suffice.cli.command import Choice, note, note_reading, section
from suffice.cli.databases import DATABASE_OPTIONS, DataArgument, DatabaseQuery, open_database_query

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.estimators.base import GenerativeClassifier
    from suffice.sources.files import Batch, Source

__all__ = [
    "ReadingOptions",
    "class_named",
    "column_names",
    "columns_options",
    "columns_to_predict_options",
    "data_argument",
    "data_path",
    "known_target",
    "known_target_option",
    "model_argument",
    "model_columns",
    "model_path",
    "open_data",
    "optional_data_argument",
    "pairs",
    "reading_options",
    "rows_for_model",
    "target_option",
    "use_good_rows",
    "weights_option",
]

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")
TYPES = ("number", "text", "category", "yes/no", "time")

# A file that cannot be read is reported by the library, as bad data and not as wrong usage.
data_path = click.Path(allow_dash=True, readable=False)
model_path = click.Path(readable=False)
data_argument = click.argument("data", cls=DataArgument, nargs=-1, required=True, type=data_path)
optional_data_argument = click.argument("data", cls=DataArgument, nargs=-1, type=data_path)
model_argument = click.argument("model", type=model_path)
target_option = click.option("-t", "--target", required=True, metavar="COL", help="Column with the class labels.")
known_target_option = click.option(
    "-t",
    "--target",
    metavar="COL",
    help="Column with the class labels; default: the target of the model, or the labels of mails.",
)
weights_option = click.option("--weights", metavar="COL", help="Column with the row weights.")


class ReadingOptions(TypedDict):
    """Arguments of `suffice.sources.files.open_source` that have options of their own."""

    format: str | None
    delimiter: str | None
    header: bool
    names: list[str] | None
    quote: str | None
    comment: str | None
    decimal: str | None
    thousands: str | None
    date_format: str | None
    encoding: str
    nulls: list[str]
    nulls_only: list[str] | None
    types: Mapping[str, str]
    bad_rows: str


def pairs(ctx: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """Parse options of the form NAME=VALUE. A name may contain =, a value may not."""
    parsed: dict[str, str] = {}
    for each in given:
        name, equals, value = each.rpartition("=")
        if not equals or not name:
            raise click.BadParameter(f"{each!r} is not of the form {parameter.metavar}.", ctx, parameter)
        if name in parsed:
            raise click.BadParameter(f"{name!r} is given twice.", ctx, parameter)
        parsed[name] = value
    return parsed


def _types(ctx: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    types = pairs(ctx, parameter, given)
    for value in types.values():
        if value not in TYPES:
            from suffice.exceptions import did_you_mean

            hint = did_you_mean(value, TYPES)
            raise click.BadParameter(f"{value!r} is not one of {', '.join(TYPES)}.{hint}", ctx, parameter)
    return types


def column_names(ctx: click.Context, parameter: click.Parameter, given: Sequence[str]) -> list[str] | None:
    """Parse column names, separated by commas; those of a repeated option add up."""
    names = [name for each in given for name in each.split(",") if name]
    for each in given:
        if not each.strip(","):
            raise click.BadParameter(f"{each!r} does not contain a column name.", ctx, parameter)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.BadParameter(f"The column {twice!r} is given twice.", ctx, parameter)
    return names or None


def _character(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    r"""Parse a single character. A tab may be typed as \t, because few shells turn that into a tab."""
    character = "\t" if given == r"\t" else given
    if character is not None and (len(character) != 1 or not character.isascii() or character in "\r\n"):
        raise click.BadParameter(f"{given!r} is not a single ASCII character.", ctx, parameter)
    return character


def _quote(ctx: click.Context, parameter: click.Parameter, given: str) -> str | None:
    return given if given in ("auto", "none") else _character(ctx, parameter, given)


def _encoding(ctx: click.Context, parameter: click.Parameter, given: str) -> str:
    try:
        codecs.lookup(given)
    except (LookupError, ValueError):
        raise click.BadParameter(
            f"There is no encoding {given!r}. Common encodings are utf-8, utf-16, latin-1 and cp1252.", ctx, parameter
        ) from None
    return given


def columns_options(function: F) -> F:
    """Add the options ``--columns`` and ``--ignore`` for rows with labels."""
    return _columns_options("Columns to read besides target and weights, separated by commas; default: all.")(function)


def columns_to_predict_options(function: F) -> F:
    """Add the options ``--columns`` and ``--ignore`` for rows without labels."""
    return _columns_options("Columns to read, separated by commas; default: those of the model.")(function)


def _columns_options(help_of_columns: str) -> Callable[[F], F]:
    return _all(
        click.option(
            "--ignore",
            multiple=True,
            metavar="COLS",
            callback=column_names,
            help="Columns to ignore, separated by commas. Repeatable.",
        ),
        click.option(
            "--columns", multiple=True, metavar="COLS", callback=column_names, help=f"{help_of_columns} Repeatable."
        ),
    )


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator for several options."""
    return lambda function: functools.reduce(lambda decorated, option: option(decorated), options, function)


OPTIONS = (
    click.option(
        "--format",
        "format_",
        type=Choice(
            ["csv", "tsv", "jsonl", "parquet", "arrow", "mails", "lines"],
            synonyms=dict.fromkeys(("mbox", "eml", "maildir"), "mails"),
        ),
        help="Format of the data; default: detected from the file name and content.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        callback=_character,
        help="CSV delimiter; default: detected from the first rows.",
    ),
    click.option("--no-header", is_flag=True, help="Read the first CSV row as data, not as column names."),
    click.option(
        "--names",
        multiple=True,
        metavar="COLS",
        callback=column_names,
        help="Names of all CSV columns, separated by commas; without --no-header, they replace the first row. "
        "Repeatable.",
    ),
    click.option(
        "--quote",
        default="auto",
        metavar="CHAR|none",
        callback=_quote,
        help='CSV quote character, or none; default: ", and none in a tab-separated file without quoted cells.',
    ),
    click.option("--comment", metavar="TEXT", help="Ignore CSV lines that begin with this text, such as '#'."),
    click.option("--decimal", metavar="CHAR", help="Decimal separator of CSV numbers; default: detected."),
    click.option("--thousands", metavar="CHAR", help="Thousands separator of CSV numbers; default: detected."),
    click.option(
        "--date-format",
        metavar="FORMAT",
        help="Format of CSV dates, such as %d/%m/%Y; default: detected if the first rows leave no doubt.",
    ),
    click.option(
        "--encoding",
        default="utf-8",
        show_default=True,
        metavar="NAME",
        callback=_encoding,
        help="Encoding of CSV and JSON lines.",
    ),
    click.option(
        "--null",
        "nulls",
        multiple=True,
        metavar="TEXT",
        help="Text that marks a missing cell, in addition to the usual ones of CSV (empty, NA, null, ...). Repeatable.",
    ),
    click.option(
        "--null-only",
        "nulls_only",
        multiple=True,
        metavar="TEXT",
        help="Text that marks a missing cell, instead of the usual ones. Repeatable.",
    ),
    click.option(
        "--type",
        "types",
        multiple=True,
        metavar="COL=TYPE",
        callback=_types,
        help=f"Type of a column: {', '.join(TYPES)}; default: detected. Repeatable.",
    ),
    click.option(
        "--bad-rows",
        type=Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="Stop at the first row that cannot be read, or skip and count such rows.",
    ),
)


def reading_options(function: F) -> F:
    """Add the options for reading files and databases. The function gets them as ``reading``, a `ReadingOptions`."""

    @functools.wraps(function)
    def with_reading(*args: object, **given: Any) -> object:
        if given["nulls"] and given["nulls_only"]:
            raise click.UsageError(
                "--null adds texts that mark missing cells, and --null-only replaces them. Use one of them."
            )
        reading: ReadingOptions = {
            "format": given.pop("format_"),
            "delimiter": given.pop("delimiter"),
            "header": not given.pop("no_header"),
            "names": given.pop("names"),
            "quote": given.pop("quote"),
            "comment": given.pop("comment"),
            "decimal": given.pop("decimal"),
            "thousands": given.pop("thousands"),
            "date_format": given.pop("date_format"),
            "encoding": given.pop("encoding"),
            "nulls": list(given.pop("nulls")),
            "nulls_only": list(given.pop("nulls_only")) or None,
            "types": given.pop("types"),
            "bad_rows": given.pop("bad_rows"),
        }
        return function(*args, reading=reading, **given)

    of_databases: Any = section("Reading a database", *DATABASE_OPTIONS)(with_reading)
    decorated: Any = section("Reading files", *OPTIONS)(of_databases)
    return decorated  # type: ignore[no-any-return]


def open_data(
    data: Sequence[str],
    reading: ReadingOptions,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    *,
    also: Sequence[str | None] = (),
    target: str | None = None,
    weights: str | None = None,
    notes: bool = True,
    text_column: str | None = None,
) -> Source:
    """Open files as a source of the chosen columns, of those in ``also``, of the target and of the weights.

    With ``notes``, notes on how columns are read are printed. Commands whose model knows the types print them later.
    """
    from suffice.exceptions import listed
    from suffice.sources.files import open_source

    required = [name for name in (target, weights, *also) if name is not None]
    chosen = None if columns is None else [*dict.fromkeys([*columns, *required])]
    conflicts = [name for name in ignore or () if name in required]
    if conflicts:
        raise click.UsageError(f"--ignore names the column {listed(conflicts)}, which another option uses.")
    if data and isinstance(data[0], DatabaseQuery):
        source = open_database_query(data[0], {**reading}, chosen, ignore or ())
    else:
        _check_paths(data)
        paths = data[0] if len(data) == 1 else list(data)
        source = open_source(paths, columns=chosen, ignore=ignore or (), text_column=text_column, **reading)
    for name in required:
        source.check_column(name)
    if target is not None:
        source.read_as_written(target)
    if weights is not None:
        source.read_numbers([weights])
    if notes:
        note_reading(source)
    return source


def _check_paths(data: Sequence[str]) -> None:
    """Raise for the first path that does not exist, and suggest a similar one."""
    from suffice.exceptions import InputError, short
    from suffice.model_file.disk import similar_path

    for path in data:
        name = os.path.expanduser(path)
        if path in ("", "-") or os.path.lexists(name) or glob.has_magic(name) or "://" in name or "\0" in name:
            continue
        near = similar_path(name)
        hint = "" if near is None else f" Did you mean {short(near)}?"
        raise InputError(f"There is no file or folder {short(path)}.{hint}", file=path, page="docs/files.md")


# ---------------------------------------------------------------------- a model and its columns


def model_columns(
    model: GenerativeClassifier, source: Source, besides: Sequence[str | None] = (), kept: Sequence[str] = ()
) -> list[str]:
    """Return the columns of a source that a model reads, in its order, and make the source read them with its types.

    A model that was fitted on named columns reads these; other columns are ignored. A text model reads the only column
    of text. A model that was fitted on arrays reads all columns in the order of the file, except ``besides``; if there
    are too many, ``kept`` columns are not for the model either.

    The cells of a column that the source lacks count as missing, with a note, if the model allows missing cells there.
    """
    fitted = model.fitted_
    read = fitted.reader.prediction_columns(source, besides, kept, fitted.layout, fitted.optional_columns)
    absent = fitted.reader.absent_columns(read, fitted.layout)
    if absent:
        note(_lacks_columns(source, absent, [name for name in source.names if name not in (*read, *besides)]))
    read_types_of_model(model, source, read)
    return read


def _lacks_columns(source: Source, absent: Sequence[str], others: Sequence[str]) -> str:
    from difflib import get_close_matches

    from suffice.exceptions import columns_at

    near = get_close_matches(absent[0].lower(), [name.lower() for name in others], 1)
    similar = next((name for name in others if near and name.lower() == near[0]), None)
    hint = "" if similar is None else f" Is it {similar!r}?"
    cells = "its cells count" if len(absent) == 1 else "their cells count"
    lack = f"there {'is' if len(absent) == 1 else 'are'} no {columns_at(absent)}"
    return f"{source.name or 'The data'}: {lack}, so {cells} as missing.{hint}"


def use_good_rows(
    model: GenerativeClassifier,
    source: Source,
    batch: Batch,
    read: Sequence[str],
    use: Callable[[pa.Table, Any], T],
) -> T | None:
    """Call ``use`` with the good rows of a batch, as an Arrow table and in the form that the model reads.

    Returns its result, or None if no row is good. A bad row raises an error that names its place, or the source counts
    it as skipped.
    """
    from suffice.learning.good_rows import of_good_rows

    return of_good_rows(batch, source.skip_or_raise, lambda rows: use(rows, rows_for_model(model, rows, read)))


def rows_for_model(model: GenerativeClassifier, rows: pa.Table, read: Sequence[str]) -> Any:
    """The columns of an Arrow table that a model reads, in the form that it takes; absent columns are missing."""
    fitted = model.fitted_
    return fitted.reader.from_arrow(fitted.reader.with_absent_columns(rows, read, fitted.layout))


def known_target(model: GenerativeClassifier | None, target: str | None, *, documents: bool = False) -> str:
    """Return the given column of labels, or the one that a model was fitted with, or that of mails."""
    from suffice.learning.labels import MAIL_LABEL

    known = target if target is not None or model is None else model.fitted_.target
    if known is None and documents:
        known = MAIL_LABEL
    if known is None:
        raise click.UsageError("Missing option '-t' / '--target': the column with the class labels.")
    return known


def class_named(model: GenerativeClassifier, text: str | None) -> Hashable:
    """Return the class of the model that a text from the shell names; None for None."""
    if text is None:
        return None
    labels: list[Hashable] = model.classes_.tolist()
    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return label
    from suffice.exceptions import ClassError, did_you_mean, listed

    hint = did_you_mean(text, map(str, labels))
    raise ClassError(f"The model has no class {text!r}.{hint} Its classes are {listed(labels)}.")
