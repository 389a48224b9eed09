"""Options for reading data, and the columns of the data that a model reads."""

from __future__ import annotations

import codecs
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from suffice.cli.column_types import read_types_of_model
from suffice.cli.command import note, section

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.estimators.base import GenerativeClassifier
    from suffice.sources.files import Batch, Source

__all__ = [
    "ReadingOptions",
    "class_named",
    "columns_options",
    "data_argument",
    "model_argument",
    "model_columns",
    "open_data",
    "pairs",
    "reading_options",
    "target_option",
    "use_good_rows",
    "weights_option",
]

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")
TYPES = ("number", "text", "yes/no", "time")

data_argument = click.argument("data", nargs=-1, required=True, type=click.Path(allow_dash=True))
model_argument = click.argument("model", type=click.Path())
target_option = click.option("-t", "--target", required=True, metavar="COL", help="Column with the class labels.")
weights_option = click.option("--weights", metavar="COL", help="Column with the row weights.")


class ReadingOptions(TypedDict):
    """Arguments of `suffice.sources.files.open_source` that have options of their own."""

    format: str | None
    delimiter: str | None
    header: bool
    names: list[str] | None
    quote: str
    encoding: str
    nulls: list[str] | None
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
            raise click.BadParameter(f"{value!r} is not one of {', '.join(TYPES)}.", ctx, parameter)
    return types


def _names(ctx: click.Context, parameter: click.Parameter, given: str | None) -> list[str] | None:
    if given is None:
        return None
    names = [name for name in given.split(",") if name]
    if not names:
        raise click.BadParameter(f"{given!r} does not contain a column name.", ctx, parameter)
    if len({*names}) < len(names):
        raise click.BadParameter(f"{given!r} contains a column name twice.", ctx, parameter)
    return names


def _character(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    r"""Parse a single character. A tab may be typed as \t, because few shells turn that into a tab."""
    character = "\t" if given == r"\t" else given
    if character is not None and (len(character) != 1 or not character.isascii() or character in "\r\n"):
        raise click.BadParameter(f"{given!r} is not a single ASCII character.", ctx, parameter)
    return character


def _encoding(ctx: click.Context, parameter: click.Parameter, given: str) -> str:
    try:
        codecs.lookup(given)
    except (LookupError, ValueError):
        raise click.BadParameter(
            f"There is no encoding {given!r}. Common encodings are utf-8, utf-16, latin-1 and cp1252.", ctx, parameter
        ) from None
    return given


def columns_options(function: F) -> F:
    """Add the options ``--columns`` and ``--ignore``."""
    for option in (
        click.option("--ignore", metavar="COLS", callback=_names, help="Columns to ignore, separated by commas."),
        click.option(
            "--columns",
            metavar="COLS",
            callback=_names,
            help="Columns to read besides target and weights, separated by commas; default: all.",
        ),
    ):
        function = option(function)
    return function


OPTIONS = (
    click.option(
        "--format",
        "format_",
        type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow", "mails"]),
        help="Format of the data; default: detected from the file name and content.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        callback=_character,
        help="CSV delimiter; default: detected from the first rows.",
    ),
    click.option("--no-header", is_flag=True, help="Read the first CSV row as data, not as column names."),
    click.option("--names", metavar="COLS", callback=_names, help="Column names for CSV without a header."),
    click.option(
        "--quote",
        default='"',
        show_default=True,
        metavar="CHAR",
        callback=_character,
        help="CSV quote character.",
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
        help="Text that marks a missing cell in CSV; replaces the default list (empty, NA, null, ...). Repeatable.",
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
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="Stop at the first row that cannot be read, or skip and count such rows.",
    ),
)


def reading_options(function: F) -> F:
    """Add the options for reading files. The function gets them as ``reading``, a `ReadingOptions`."""

    @functools.wraps(function)
    def with_reading(*args: object, **given: Any) -> object:
        reading: ReadingOptions = {
            "format": given.pop("format_"),
            "delimiter": given.pop("delimiter"),
            "header": not given.pop("no_header"),
            "names": given.pop("names"),
            "quote": given.pop("quote"),
            "encoding": given.pop("encoding"),
            "nulls": list(given.pop("nulls")) or None,
            "types": given.pop("types"),
            "bad_rows": given.pop("bad_rows"),
        }
        return function(*args, reading=reading, **given)

    decorated: Any = section("Reading files", *OPTIONS)(with_reading)
    return decorated  # type: ignore[no-any-return]


def open_data(
    data: Sequence[str],
    reading: ReadingOptions,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    *,
    also: Sequence[str | None] = (),
    notes: bool = True,
) -> Source:
    """Open files as a source of the chosen columns and of those in ``also``.

    With ``notes``, notes on how column types were detected are printed. Commands whose model knows the types print
    them later.
    """
    from suffice.exceptions import listed
    from suffice.sources.files import open_source

    required = [name for name in also if name is not None]
    chosen = None if columns is None else [*dict.fromkeys([*columns, *required])]
    conflicts = [name for name in ignore or () if name in required]
    if conflicts:
        raise click.UsageError(f"--ignore names the column {listed(conflicts)}, which another option uses.")
    source = open_source(data[0] if len(data) == 1 else list(data), columns=chosen, ignore=ignore or (), **reading)
    for name in required:
        source.check_column(name)
    for sentence in source.notes if notes else ():
        note(sentence)
    return source


# ---------------------------------------------------------------------- a model and its columns


def model_columns(
    model: GenerativeClassifier, source: Source, besides: Sequence[str | None] = (), kept: Sequence[str] = ()
) -> list[str]:
    """Return the columns of a source that a model reads, in its order, and make the source read them with its types.

    A model that was fitted on named columns reads these; other columns are ignored. A text model reads the only column
    of text. A model that was fitted on arrays reads all columns in the order of the file, except ``besides``; if there
    are too many, ``kept`` columns are not for the model either.
    """
    fitted = model.fitted_
    read = fitted.reader.prediction_columns(source, besides, kept, fitted.layout)
    read_types_of_model(model, source, read)
    return read


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

    def use_rows(rows: pa.Table) -> T:
        return use(rows, model.fitted_.reader.from_arrow(rows.select(list(read))))

    return of_good_rows(batch, source.skip_or_raise, use_rows)


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
