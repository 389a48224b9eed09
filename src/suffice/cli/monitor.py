"""``suffice monitor``: compare new rows with those that a model has learned."""

from __future__ import annotations

import glob
import os
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from suffice.cli.command import command as _command
from suffice.cli.command import mark_written, note_skipped_rows, section
from suffice.cli.output import Page, json_option, more_line, number, percent, print_json, row_count
from suffice.cli.progress import reading_progress
from suffice.cli.reading import (
    ReadingOptions,
    columns_to_predict_options,
    data_argument,
    model_argument,
    model_columns,
    reading_options,
    weights_option,
)
from suffice.cli.texts import open_rows
from suffice.cli.writing import LOCK_SECONDS, check_writable, open_output
from suffice.formats import printable

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.monitoring import Drift, Finding, Monitor, Window
    from suffice.sources.files import Source

__all__ = ["command"]

DRIFT = 3  # exit code
DEFAULT_LEVEL = 0.05
EXAMPLES = """
suffice monitor flowers.suffice test.csv
suffice monitor flowers.suffice monday.csv -t species --html drift.html
suffice monitor flowers.suffice monday.csv --window monday.window
suffice monitor flowers.suffice monday.window tuesday.csv --json
suffice monitor flowers.suffice monday.csv --history flowers.history
"""
MOST_FINDINGS = 20  # that are printed
MOST_QUIET = 3  # tests that are printed if none is significant
MOST_CLASSES = 12
MOST_REASONS = 3
WIDTH, MARK = 80, "  · "
COMMAND = re.compile(r"suffice [a-z]+( --[a-z-]+)?")  # stays on one line


@_command("monitor", "Compare new rows with the rows that a model has learned.", EXAMPLES)
@model_argument
@data_argument
@section(
    "Data",
    click.option(
        "-t",
        "--target",
        metavar="COL",
        help="Column with labels, which may be missing in some rows; default: the target of the model, if DATA has it.",
    ),
    columns_to_predict_options,
    weights_option,
)
@section(
    "Monitoring",
    click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="P",
        help="Probability of a false alarm: of one run, or of all runs with one history; default: 0.05, or the level "
        "of the history.",
    ),
    click.option(
        "--minimum-effect",
        type=click.FloatRange(0),
        default=0.0,
        show_default=True,
        metavar="EFFECT",
        help="Report no smaller changes, in standard deviations or as a difference of shares, however many rows show "
        "them.",
    ),
    click.option(
        "--history",
        type=click.Path(),
        metavar="FILE",
        help="File that keeps the statistics of earlier runs. Each run with it is the next window in time, and all "
        "runs together give a false alarm with probability P at most.",
    ),
)
@reading_options
@section(
    "Output",
    click.option(
        "--window",
        "save",
        type=click.Path(),
        metavar="FILE",
        help="File to save the statistics of these rows to. It can be DATA of another run.",
    ),
    click.option("--html", type=click.Path(), metavar="FILE", help="HTML file to write the result to."),
    json_option,
)
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weights: str | None,
    level: float | None,
    minimum_effect: float,
    history: str | None,
    save: str | None,
    html: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Compare the rows of DATA with the rows that MODEL has learned, which need not be kept.

    Tests each column, missing cells and new values, the class shares, log p(x), and, if rows have labels, the
    predictions. DATA may also be windows that --window has saved: they are merged with each other and with the rows, so
    hours add up to days.

    Exit codes: 0 without drift or rows, 3 if something has changed, 1 for bad data, 2 for wrong usage.
    """
    outputs = [each for each in (history, save, html) if each is not None]
    _check_outputs(outputs, model, data)
    from suffice.cli.saved_model import load
    from suffice.monitoring.history_file import next_look
    from suffice.monitoring.rendering import render
    from suffice.monitoring.window_file import write_window

    loaded = load(model)
    monitor = _monitor_of(loaded, level, history, minimum_effect)
    saved, rows = _windows_and_rows(data)
    window, names = _merged(monitor, saved), list(saved)
    if rows:
        source = open_rows(loaded, rows, (), reading, columns, ignore, also=[*filter(None, (target, weights))])
        window = window.merge(_window_of(loaded, monitor, source, target, weights))
        names.append(source.name)
    name = ", ".join(names)
    if save is not None:
        write_window(save, window)
        mark_written(f"{save} was written")
    if history is None:
        drift = monitor.check(window)
    else:
        drift = next_look(history, monitor, window, LOCK_SECONDS)
        if window.n_rows:
            mark_written(f"the rows are part of {history}")
    if html is not None:
        with open_output(html) as file:
            file.write(render(drift, title=f"Drift of {model}", source=name).encode("utf-8", "replace"))
    if as_json:
        print_json({"model": model, "data": name, "history": history, **drift.to_dict()})
    else:
        _show(Page(), drift)
    if drift.alarm:
        raise click.exceptions.Exit(DRIFT)


def _check_outputs(outputs: Sequence[str], model: str, data: Sequence[str]) -> None:
    """Raise if a file cannot be written, would replace an input, or is named twice."""
    from suffice.model_file.lock import is_same_file

    for at, output in enumerate(outputs):
        if output == "-":
            raise click.UsageError("--history, --window and --html name files. Nothing goes to standard output.")
        if any(is_same_file(output, other) for other in outputs[:at]):
            raise click.UsageError(f"Two options name the file {output}. Name another file.")
        if any(is_same_file(output, other) for other in (model, *data)):
            raise click.UsageError(f"The file {output} is an input, which would be replaced. Name another file.")
        check_writable(output)


# ---------------------------------------------------------------------- rows and windows


def _monitor_of(model: GenerativeClassifier, level: float | None, history: str | None, effect: float) -> Monitor:
    """The monitor of a model. Without a given level, a history has its own."""
    from suffice.monitoring import Monitor
    from suffice.monitoring.history_file import level_of_history

    if level is None and history is not None:
        level = level_of_history(history)
    return Monitor(model, level=DEFAULT_LEVEL if level is None else level, minimum_effect=effect)


def _windows_and_rows(data: Sequence[str]) -> tuple[list[str], list[str]]:
    """The items of DATA that are windows, and the others; a glob of windows is expanded."""
    from suffice.exceptions import InputError
    from suffice.monitoring.history_file import is_history
    from suffice.monitoring.window_file import PAGE, is_window_file

    windows, rows = [], []
    for path in data:
        found = [path] if os.path.lexists(path) or not glob.has_magic(path) else sorted(glob.glob(path, recursive=True))
        saved = [each for each in found if is_window_file(each)]
        windows += saved
        rows += [each for each in found if each not in saved] if saved else [path]
        if is_history(path):
            raise InputError(f"{path!r} is a history, not rows or a window. Give it with --history.", page=PAGE)
    return windows, rows


def _merged(monitor: Monitor, paths: Sequence[str]) -> Window:
    """The merged windows of some files."""
    from suffice.exceptions import MergeError
    from suffice.monitoring import Window
    from suffice.monitoring.window_file import PAGE, read_window

    window = Window.zero(monitor.layout)
    for path in paths:
        try:
            window = window.merge(read_window(path))
        except MergeError:
            raise MergeError(
                f"The window {path!r} was made with another model, or with this model before it learned other rows. "
                "Make it again with this model.",
                file=path,
                page=PAGE,
            ) from None
    return window


def _window_of(
    model: GenerativeClassifier, monitor: Monitor, source: Source, target: str | None, weights: str | None
) -> Window:
    """The window of the rows of a source, which is read batch by batch."""
    label = _target_in(model, source) if target is None else target
    if label is not None:
        source.read_as_written(label)
    with reading_progress(source, "Reading"):
        model_columns(model, source, [each for each in (label, weights) if each is not None])  # notes absent columns
        window = monitor.window(source, label, weights)
    note_skipped_rows(source)
    return window


def _target_in(model: GenerativeClassifier, source: Source) -> str | None:
    """The target that the model was fitted with, if the rows have it."""
    column = model.fitted_.target
    return column if column is not None and column in source.names else None


# ---------------------------------------------------------------------- printing


def _show(page: Page, drift: Drift) -> None:
    from suffice.monitoring.wording import advice, effort_line, headline, withheld_reasons

    page.line(printable(headline(drift)))
    if not drift.n_rows:
        return
    for each in advice(drift):
        _show_item(page, each)
    found = drift.significant
    if found:
        page.heading("What has changed")
        _show_tests(page, found[:MOST_FINDINGS])
        if len(found) > MOST_FINDINGS:
            page.line(more_line(len(found) - MOST_FINDINGS, "finding"))
    else:
        strongest = [each for each in drift.findings if not each.withheld][:MOST_QUIET]
        if strongest:
            page.heading("Strongest evidence, not significant")
            _show_tests(page, strongest)
    _show_shares(page, drift)
    _show_scores(page, drift)
    page.line()
    page.line(effort_line(drift))
    reasons = withheld_reasons(drift)
    for each in reasons[:MOST_REASONS]:
        _show_item(page, each)
    if len(reasons) > MOST_REASONS:
        page.line(more_line(len(reasons) - MOST_REASONS, "test not made", "tests not made"))


def _show_item(page: Page, text: str) -> None:
    """Print a sentence as an item of at most `WIDTH` characters a line, also if it does not go to a terminal."""
    whole = COMMAND.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), printable(text))
    lines = textwrap.wrap(whole, WIDTH - len(MARK), break_long_words=False, break_on_hyphens=False)
    for i, each in enumerate(lines):
        page.item(" " * len(MARK) if i else MARK, each.replace("\N{NO-BREAK SPACE}", " "))


def _show_tests(page: Page, findings: Sequence[Finding]) -> None:
    from suffice.monitoring.wording import column_text, figure_text, measure_text, p_value_text

    page.table(
        ["column", "figure", "training", "now", "p-value"],
        [
            [
                column_text(each),
                measure_text(each),
                figure_text(each, each.reference),
                figure_text(each, each.observed),
                p_value_text(each.p_value),
            ]
            for each in findings
        ],
        left=2,
    )


def _show_shares(page: Page, drift: Drift) -> None:
    found = drift.class_shares
    if found is None:
        return
    page.heading("Class shares, estimated without labels")
    page.table(
        ["class", "training", "now", "error"],
        [
            [str(label), percent(trained), percent(share), f"± {percent(error)}"]
            for label, trained, share, error in list(
                zip(found.classes, found.trained, found.share, found.standard_error, strict=True)
            )[:MOST_CLASSES]
        ],
    )
    if len(found.classes) > MOST_CLASSES:
        page.line(more_line(len(found.classes) - MOST_CLASSES, "class", "classes"))
    if any(each.test == "class shares" for each in drift.significant):
        page.line("Mean p(class) is another figure: it assumes the shares in training.")


def _show_scores(page: Page, drift: Drift) -> None:
    """Quantiles of log p(x), and scores of labelled rows."""
    from suffice.monitoring.wording import few_quantiles

    if drift.log_density:
        page.heading("Rows at or below a quantile of log p(x)")
        page.table(["training", "now"], [[percent(each) for each in both] for both in few_quantiles(drift)], left=0)
    labels = drift.labels
    if labels is None:
        return
    trained = "" if labels.trained_accuracy is None else f" (held-out training rows {percent(labels.trained_accuracy)})"
    page.heading(f"Predictions of {row_count(labels.n_rows)} with labels")
    page.facts(
        {
            "accuracy": f"{percent(labels.accuracy)} ± {percent(labels.accuracy_error)}{trained}",
            "log-loss": f"{number(labels.log_loss)} ± {labels.log_loss_error:.2g}",
            "calibration error": percent(labels.calibration_error),
        }
    )
