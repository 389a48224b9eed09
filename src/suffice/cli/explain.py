"""``suffice explain``: which columns or words led to the prediction of a row."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.command import command as _command
from suffice.cli.command import section
from suffice.cli.output import Page, cell_text, json_option, more_line, print_json, row_count
from suffice.cli.progress import reading_progress
from suffice.cli.reading import (
    ReadingOptions,
    class_named,
    columns_to_predict_options,
    model_argument,
    model_columns,
    reading_options,
    use_good_rows,
)
from suffice.cli.texts import data_or_texts, open_rows, text_option

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.estimators.explained_rows import ClassProbability, ExplainedRow
    from suffice.sources.files import Source

__all__ = ["command"]

EXAMPLES = """
suffice explain flowers.suffice test.csv --row 0
suffice explain flowers.suffice test.csv --row 3 --label virginica \\
    --against setosa
suffice explain ensemble.suffice test.csv --members
suffice explain spam.suffice messages.jsonl --columns body --row 1 --json
suffice explain spam.suffice --text 'cheap pills'
"""
LONGEST_PLACE = 1_000  # characters
MAX_CLASSES = 10  # whose probabilities are printed; --json has all
LINE_WIDTH = 80  # characters; longer lists of probabilities are tables
LONGEST_VALUE = 22  # characters of a cell, so that lines fit


row_option = click.option(
    "--row",
    "rows",
    type=click.IntRange(min=0),
    multiple=True,
    metavar="N",
    help="Row to explain; the first row after the header is 0. Repeatable; default: 0, or all texts of --text.",
)


@_command("explain", "Show why a row gets its prediction.", EXAMPLES)
@model_argument
@data_or_texts
@section("Data", text_option, row_option, columns_to_predict_options)
@section(
    "Explanation",
    click.option("--label", metavar="CLASS", help="Class to explain; default: the most probable one."),
    click.option("--against", metavar="CLASS", help="Class to compare it with; default: the next most probable one."),
    click.option(
        "-n",
        "--most",
        type=click.IntRange(min=1),
        metavar="N",
        default=20,
        show_default=True,
        help="Maximum number of columns or words to list; --json lists all.",
    ),
    click.option(
        "--absent-words",
        is_flag=True,
        help="List each word that a text lacks, for models of present and absent words (--event bernoulli).",
    ),
    click.option(
        "--members",
        is_flag=True,
        help="List the part of each member of an ensemble; default: add up the parts of each column.",
    ),
    click.option(
        "--pairs",
        is_flag=True,
        help="List pairs of columns separately, for averaged-dependence and ensemble; default: add half of the part "
        "of a pair to each of its columns.",
    ),
)
@reading_options
@section("Output", json_option)
def command(
    model: str,
    data: tuple[str, ...],
    texts: tuple[str, ...],
    rows: tuple[int, ...],
    label: str | None,
    against: str | None,
    most: int,
    absent_words: bool,
    members: bool,
    pairs: bool,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Explain the predictions of MODEL for single rows of DATA.

    The log-odds of one class against another are the sum of the prior and of a part for each column or word. Positive
    parts are evidence for the class, and negative parts for the other one. Rows are counted from 0, as in Python and in
    error messages; the line of the file, or the file of a mail, is shown as well. --text TEXT explains one text.
    """
    import suffice

    loaded = suffice.load(model)
    first, second = class_named(loaded, label), class_named(loaded, against)
    if first is not None and first == second:
        raise click.UsageError("--label and --against name the same class.")
    kind = loaded.fitted_.specification.estimator
    if absent_words and not isinstance(loaded, suffice.TextNaiveBayes):
        raise click.UsageError(f"--absent-words needs a model of texts; the model is {kind}.")
    if members and not isinstance(loaded, suffice.GenerativeEnsemble):
        raise click.UsageError(f"--members needs an ensemble; the model is {kind}.")
    if pairs and not isinstance(loaded, suffice.AveragedDependence | suffice.GenerativeEnsemble):
        raise click.UsageError(f"--pairs needs averaged dependence or an ensemble; the model is {kind}.")
    options = {name: True for name, given in {"absent_words": absent_words, "pairs": pairs}.items() if given}
    source = open_rows(loaded, data, texts, reading, columns, ignore)
    read = model_columns(loaded, source)
    with reading_progress(source, "Reading"):
        chosen = rows or range(max(1, len(texts)))
        explain = functools.partial(_explained, loaded, label=first, against=second, members=members, options=options)
        explained = _explained_rows(loaded, source, read, chosen, explain)
    if as_json:
        print_json({"model": model, "source": source.name or "--text", "rows": explained})
    else:
        page = Page()
        for each in explained:
            _show(page, each, most)


def _explained_rows(
    model: GenerativeClassifier,
    source: Source,
    read: Sequence[str],
    rows: Sequence[int],
    explain_row: Callable[..., ExplainedRow],
) -> list[ExplainedRow]:
    """Explain the rows with these numbers, in the given order; reading stops after the last of them."""
    from suffice.exceptions import InputError
    from suffice.sources.files import Batch
    from suffice.sources.files.batch import SelectedLocations

    waiting, explained = set(rows), {}
    n_seen = 0
    for batch in source.batches(read):
        here = sorted(row for row in waiting if n_seen <= row < n_seen + len(batch))
        for row in here:
            place = str(batch.locations.of(row - n_seen))
            one_row = Batch(batch.rows.slice(row - n_seen, 1), SelectedLocations(batch.locations, [row - n_seen]))

            def explain(_: object, model_row: Any, row: int = row, place: str = place) -> ExplainedRow:
                return explain_row(model_row, row, place)

            result = use_good_rows(model, source, one_row, read, explain)
            if result is None:
                raise source.problems[-1]
            explained[row] = result
        waiting.difference_update(here)
        n_seen += len(batch)
        if not waiting:
            break
    if waiting:
        raise InputError(
            f"There is no row {min(waiting):,}: {source.name or '--text'} has {row_count(n_seen)}, counted from 0."
        )
    return [explained[row] for row in dict.fromkeys(rows)]


def _explained(
    model: GenerativeClassifier,
    model_row: Any,
    row: int,
    place: str,
    *,
    label: Hashable,
    against: Hashable,
    members: bool,
    options: Mapping[str, bool],
) -> ExplainedRow:
    from suffice.estimators.explained_rows import explained_rows

    found = explained_rows(model, model_row, label, against, members=members, options=options)
    return {"row": row, "place": place, **found[0]}


def _shown_value(value: object) -> str:
    """A cell of the printed table; nothing for a missing cell."""
    return "" if value is None else cell_text(value, LONGEST_VALUE)


def _show_probabilities(page: Page, probabilities: Sequence[ClassProbability]) -> None:
    """Print the probabilities in one line in the model's order, or in a table with the most probable classes first."""
    line = ", ".join(f"p({cell_text(each['label'])}) = {each['p']:.4g}" for each in probabilities)
    if len(line) <= LINE_WIDTH:
        page.line(line)
        return
    ordered = sorted(probabilities, key=lambda each: -each["p"])
    page.table(["class", "p"], [[str(each["label"]), f"{each['p']:.4g}"] for each in ordered[:MAX_CLASSES]])
    rest = [each["p"] for each in ordered[MAX_CLASSES:]]
    if rest:
        page.line(f"{more_line(len(rest), 'class', 'classes')}, {sum(rest):.4g} together")
    page.line()


def _show(page: Page, explained: ExplainedRow, most: int) -> None:
    row, place = explained["row"], cell_text(explained["place"], LONGEST_PLACE)
    where = f"Row {row:,}" if place == f"row {row}" else f"Row {row:,} ({place})"
    page.heading(f"{where}: predicted {cell_text(explained['predicted'])}")
    _show_probabilities(page, explained["probabilities"])
    before = " before calibration" if explained["calibrated"] and not explained["weighted"] else ""
    odds = "weighted log-odds" if explained["weighted"] else "log-odds"
    page.line(
        f"{odds} of {cell_text(explained['label'])} against {cell_text(explained['against'])}{before}: "
        f"{explained['log_odds']:.6g}, the sum of"
    )
    parts = explained["parts"]
    if "word" in parts[0]:
        rows = [[each["word"], each["count"], f"{each['part']:+.4f}"] for each in parts[:most]]
        page.table(["word", "count", "part"], rows)
    elif "member" in parts[0]:
        rows = [
            [each["column"], each["member"] or None, _shown_value(each["value"]), f"{each['part']:+.4f}"]
            for each in parts[:most]
        ]
        page.table(["column", "member", "value", "part"], rows, left=2)
    else:
        rows = [[each["column"], _shown_value(each["value"]), f"{each['part']:+.4f}"] for each in parts[:most]]
        page.table(["column", "value", "part"], rows)
    if len(parts) > most:
        rest = sum(each["part"] for each in parts[most:])
        page.line(f"… and {len(parts) - most:,} more, {rest:+.4f} together")
