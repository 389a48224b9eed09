"""``suffice report``: write a report of a model as one HTML file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from suffice.cli.command import command as _command
from suffice.cli.command import mark_written, note, note_skipped_rows, section
from suffice.cli.output import Page, cell_text, json_option, print_json, size
from suffice.cli.progress import reading_progress
from suffice.cli.reading import (
    ReadingOptions,
    columns_options,
    known_target_option,
    model_argument,
    model_columns,
    open_data,
    optional_data_argument,
    reading_options,
    weights_option,
)
from suffice.cli.writing import check_not_an_input, check_writable

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.learning.row_predictions import HeldOutSetting
    from suffice.sources.files import Source

__all__ = ["command"]

EXAMPLES = """
suffice report flowers.suffice -o report.html
suffice report flowers.suffice train.csv --target species -o report.html
suffice report flowers.suffice test.csv --target species --new \\
    --title 'Flowers in May' -o report.html
suffice report spam.suffice --json
"""

output_option = click.option("-o", "--output", type=click.Path(), metavar="FILE", help="HTML file to write.")
title_option = click.option("--title", metavar="TEXT", help="Title of the report.")
new_option = click.option(
    "--new/--learned",
    "are_new",
    default=None,
    help="Whether the rows of DATA are new, or the model has learned them; learned rows are scored by models of the "
    "other rows. Default: recognised by the statistics of the rows.",
)


@_command("report", "Write a report of a model as one HTML file.", EXAMPLES)
@model_argument
@optional_data_argument
@section("Data", known_target_option, new_option, columns_options, weights_option)
@reading_options
@section("Output", output_option, title_option, json_option)
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    are_new: bool | None,
    weights: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
    output: str | None,
    title: str | None,
    as_json: bool,
) -> None:
    """Write a report of MODEL: densities, parameters, words, settings, and a form that predicts rows in the page.

    With DATA, the report also shows missing and unseen cells. If the rows have labels, it shows held-out scores, the
    calibration, the confusion matrix, and tests of the assumptions. If there are more than 100,000 rows, a uniform
    sample is used.

    The file loads nothing from the network.
    """
    if output == "-":
        raise click.UsageError("-o names an HTML file; a report is not written to the standard output.")
    if output is None and not as_json:
        raise click.UsageError("Give the HTML file to write with -o, or --json for the content of the report.")
    if output is not None:
        check_writable(output)
        check_not_an_input(output, model, *data)
    from suffice.cli.saved_model import load
    from suffice.report.reporting import report_of

    loaded = load(model)
    if data:
        source = open_data(data, reading, columns, ignore, target=target, weights=weights, notes=False)
        held_out: HeldOutSetting = "auto" if are_new is None else not are_new
        column = _label_column(loaded, source, target)
        with reading_progress(source, "Reading"):
            model_columns(loaded, source, [column, weights])  # notes columns that are absent
            made = report_of(loaded, source, column, weights, held_out=held_out, title=title, model_file=model)
        note_skipped_rows(source)
    else:
        if target is not None or weights is not None or are_new is not None:
            raise click.UsageError("--target, --weights, --new and --learned describe DATA, which is missing.")
        made = report_of(loaded, title=title, model_file=model)
    if output is not None:
        made.save(output)
        mark_written(f"{output} was written")
    if as_json:
        print_json({"output": output, **made.to_dict()})
    elif output is not None:
        Page().line(f"saved  {cell_text(output)}, {size(os.path.getsize(output))}")


def _label_column(model: GenerativeClassifier, source: Source, target: str | None) -> str | None:
    """The column of labels: the one that is given, or the one that the model was fitted with; None without one."""
    column = model.fitted_.target if target is None else target
    if column is not None and column in source.names:
        return column
    note("The rows have no labels, so the report has no scores. Name the column of labels with --target.")
    return None
