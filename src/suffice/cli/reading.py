"""What commands read: data with the options of how to, the model that is to answer, and its part of the columns."""

from __future__ import annotations

import codecs
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from suffice.cli.column_types import expect
from suffice.cli.command import note

__all__ = [
    "columns_options",
    "data_argument",
    "label_of",
    "model_argument",
    "model_columns",
    "of_rows",
    "open_data",
    "pairs",
    "reading_options",
    "target_option",
    "weights_option",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
TYPES = ("number", "text", "yes/no", "time")

data_argument = click.argument("data", nargs=-1, required=True, type=click.Path(allow_dash=True))
model_argument = click.argument("model", type=click.Path())
target_option = click.option("-t", "--target", required=True, metavar="COL", help="The column of class labels.")
weights_option = click.option("--weights", metavar="COL", help="The column of row weights.")


def pairs(ctx: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """Options of the form NAME=VALUE; a name may have an = in it, a value not."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, value = each.rpartition("=")
        if not equals or not name:
            raise click.BadParameter(f"{each!r} is not of the form {parameter.metavar}.", ctx, parameter)
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice.", ctx, parameter)
        found[name] = value
    return found


def _types(ctx: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    found = pairs(ctx, parameter, given)
    for value in found.values():
        if value not in TYPES:
            raise click.BadParameter(f"{value!r} is not one of {', '.join(TYPES)}.", ctx, parameter)
    return found


def _names(ctx: click.Context, parameter: click.Parameter, given: str | None) -> list[str] | None:
    if given is None:
        return None
    names = [name for name in given.split(",") if name]
    if not names:
        raise click.BadParameter(f"{given!r} names no column.", ctx, parameter)
    if len({*names}) < len(names):
        raise click.BadParameter(f"{given!r} names a column twice.", ctx, parameter)
    return names


def _character(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    r"""A character; a tab may be typed as \t, which few shells make a tab of."""
    found = "\t" if given == r"\t" else given
    if found is not None and (len(found) != 1 or not found.isascii() or found in "\r\n"):
        raise click.BadParameter(f"{given!r} is not one character of ASCII.", ctx, parameter)
    return found


def _encoding(ctx: click.Context, parameter: click.Parameter, given: str) -> str:
    try:
        codecs.lookup(given)
    except (LookupError, ValueError):
        raise click.BadParameter(
            f"There is no encoding {given!r}: utf-8, utf-16, latin-1 and cp1252 are some.", ctx, parameter
        ) from None
    return given


def columns_options(function: F) -> F:
    """Options ``--columns`` and ``--ignore``."""
    for option in (
        click.option(
            "--ignore", metavar="COLS", callback=_names, help="Columns not to read, with commas between them."
        ),
        click.option(
            "--columns", metavar="COLS", callback=_names, help="The columns to read, beside target and weights."
        ),
    ):
        function = option(function)
    return function


OPTIONS = (
    click.option(
        "--format",
        "format_",
        type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow", "mails"]),
        help="Of the data; by name and first bytes if not given.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        callback=_character,
        help="Between the cells of CSV; found in the first rows if not given.",
    ),
    click.option("--no-header", is_flag=True, help="The first row of CSV is data."),
    click.option("--names", metavar="COLS", callback=_names, help="Names of the columns of CSV without a header."),
    click.option(
        "--quote",
        default='"',
        show_default=True,
        metavar="CHAR",
        callback=_character,
        help="Around cells of CSV.",
    ),
    click.option("--encoding", default="utf-8", show_default=True, callback=_encoding, help="Of CSV and JSON lines."),
    click.option(
        "--null", "nulls", multiple=True, metavar="TEXT", help="What stands for a missing cell of CSV; repeatable."
    ),
    click.option(
        "--type",
        "types",
        multiple=True,
        metavar="COL=TYPE",
        callback=_types,
        help=f"Read a column as {', '.join(TYPES)}; repeatable.",
    ),
    click.option(
        "--bad-rows",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="Stop at a row that cannot be read, or leave it out and count it.",
    ),
)


def reading_options(function: F) -> F:
    """Options of how files are read; the function gets them as ``reading``, arguments of `open_data`."""

    @functools.wraps(function)
    def reads(*args: Any, **given: Any) -> Any:
        reading = {
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

    made: Any = reads
    for option in reversed(OPTIONS):
        made = option(made)
    return made  # type: ignore[no-any-return]


def open_data(
    data: Sequence[str],
    reading: dict[str, Any],
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    *,
    also: Sequence[str | None] = (),
    notes: bool = True,
) -> Any:
    """The source, whose columns are the chosen ones and those in ``also``.

    What is worth knowing of their types is told, unless a model has a say in them first.
    """
    from suffice.exceptions import listed
    from suffice.sources.files import open_source

    beside = [name for name in also if name is not None]
    chosen = None if columns is None else [*dict.fromkeys([*columns, *beside])]
    lost = [name for name in ignore or () if name in beside]
    if lost:
        raise click.UsageError(f"--ignore leaves out the column {listed(lost)}, which is asked for.")
    source = open_source(data[0] if len(data) == 1 else list(data), columns=chosen, ignore=ignore or (), **reading)
    for name in beside:
        source.check_column(name)
    for sentence in source.notes if notes else ():
        note(sentence)
    return source


# ---------------------------------------------------------------------- a model and its columns


def model_columns(model: Any, source: Any, besides: Sequence[str | None] = (), kept: Sequence[str] = ()) -> list[str]:
    """The columns of a source that a model reads, in its order and as it knows them; others are nobody's business.

    A model of named columns reads those; one of documents the only column of text; one that was fitted on arrays all
    columns, in the order of the file. Those have no names to go by: ``besides`` are not for the model, and ``kept`` may
    be there for another reason.
    """
    read = _read_columns(model, source, besides, kept)
    expect(model, source, read)
    return read


def _read_columns(model: Any, source: Any, besides: Sequence[str | None], kept: Sequence[str]) -> list[str]:
    from suffice import TextNaiveBayes
    from suffice.exceptions import InputError, listed

    there = [name for name in source.names if name not in besides]
    known = getattr(model, "feature_names_in_", None)
    if isinstance(model, TextNaiveBayes) and (known is None or known[0] not in there):
        return [_column_of_text([name for name in there if name not in kept], source)]
    if known is not None:
        needed = [str(name) for name in known]
        missing = [name for name in needed if name not in there and name not in model._left_out()]
        other = [name for name in missing if name in besides]
        if other:
            raise InputError(
                f"The model reads column {listed(other)} as a feature, which cannot be the target or the weights as "
                "well. Give another."
            )
        if missing:
            raise InputError(
                f"{source.name} has no column {listed(missing)}, which the model was fitted with. Its columns are "
                f"{listed(source.names)}."
            )
        return [name for name in needed if name in there]
    if len(there) != model.n_features_in_:
        there = [name for name in there if name not in kept]
    if len(there) != model.n_features_in_:
        raise InputError(
            f"{source.name} has {len(there)} columns, {listed(there)}, and the model, which knows no names, reads "
            f"{model.n_features_in_} in the order in which they come. Choose them by --columns or --ignore."
        )
    return there


def _column_of_text(there: list[str], source: Any) -> str:
    from suffice.exceptions import InputError, listed

    texts = [name for name in there if source.types.get(name) in ("text", "category")]
    for choice in (there, texts, [name for name in there if name == "text"]):
        if len(choice) == 1:
            return choice[0]
    raise InputError(
        f"{source.name} has the columns {listed(there)}, and the model reads one of texts. Name it by --columns."
    )


def of_rows(model: Any, source: Any, batch: Any, read: Sequence[str], use: Callable[[Any, Any], T]) -> T | None:
    """What ``use`` makes of the good rows of a batch: of all their columns, and of those that the model reads.

    None if there are no good rows. Bad ones are an error with their place, or counted by the source.
    """
    from suffice.learning.good_rows import of_good_rows

    def used(rows: Any) -> T:
        return use(rows, model._rows_of_source(rows.select(list(read))))

    return of_good_rows(batch, type(model).__name__, source.skip_or_raise, used)


def label_of(model: Any, text: str | None) -> Any:
    """The class that a text of the shell means."""
    if text is None:
        return None
    labels = model.classes_.tolist()
    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return label
    from suffice.exceptions import ClassError, listed

    raise ClassError(f"There is no class {text!r} in the model. Its classes are {listed(labels)}.")
