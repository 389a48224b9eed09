"""``suffice report``: write a report of a model as one HTML file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

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
    rows_for_model,
    use_good_rows,
    weights_option,
)
from suffice.cli.writing import check_writable

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.estimators.base import GenerativeClassifier
    from suffice.learning.fitted import Fitted
    from suffice.learning.labels import KnownLabelReader
    from suffice.numerics.types import Codes, Float
    from suffice.report.rows import Provided
    from suffice.sources.files import Source
    from suffice.statistics import ClassAxis

__all__ = ["command"]

EXAMPLES = """
suffice report flowers.suffice -o report.html
suffice report flowers.suffice train.csv --target species -o report.html
suffice report flowers.suffice test.csv --target species --new --title 'Flowers in May' -o report.html
suffice report spam.suffice --json
"""

output_option = click.option("-o", "--output", type=click.Path(), metavar="FILE", help="HTML file to write.")
title_option = click.option("--title", metavar="TEXT", help="Title of the report.")
new_option = click.option(
    "--new/--learned",
    "are_new",
    default=None,
    help="Whether the model has learned the rows of DATA; learned rows are scored by models of the other rows. "
    "Default: learned if they have the statistics of the model.",
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

    With DATA, the report also has missing and unseen cells; and with labels, scores of held-out rows, calibration,
    confusion, and checks of the assumptions of the model. Of more than 100,000 rows, a uniform sample is used.

    The file loads nothing from the network.
    """
    if output == "-":
        raise click.UsageError("-o names an HTML file; a report is not written to the standard output.")
    if output is None and not as_json:
        raise click.UsageError("Give the HTML file to write with -o, or --json for the content of the report.")
    if output is not None:
        check_writable(output)
    from suffice.cli.saved_model import load
    from suffice.report.reporting import report_of

    loaded = load(model)
    if data:
        source = open_data(data, reading, columns, ignore, target=target, weights=weights, notes=False)
        rows, row_weights, provided = _read(loaded, source, target, weights)
        made = report_of(
            loaded,
            rows,
            None,
            row_weights,
            held_out="auto" if are_new is None else not are_new,
            title=title,
            model_file=model,
            provided=provided,
        )
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


def _read(
    model: GenerativeClassifier, source: Source, target: str | None, weights: str | None
) -> tuple[Any, Any, Provided]:
    """Rows of a source in the form that the model reads, their weights, and where they came from.

    Without a target that is given, the labels are those of the column that the model was fitted with, if there is one.
    """
    from suffice.exceptions import InputError
    from suffice.learning.good_rows import weights_of
    from suffice.learning.labels import KnownLabelReader, check_labels

    fitted = model.fitted_
    column = fitted.target if target is None else target
    if column is None or column not in source.names:
        column = None
        note("The rows have no labels, so the report has no scores. Name the column of labels with --target.")
    elif target is None:
        source.read_as_written(column)
    read = model_columns(model, source, [column, weights])
    labels = KnownLabelReader(fitted.classes.labels.tolist())
    sample = _Sample(fitted, labels)

    def add(rows: pa.Table, model_rows: Any) -> None:
        codes = None
        if column is not None:
            codes, missing = labels.read(rows[column])
            check_labels(column, missing, as_text=source.is_text)
        sample.add(rows.select(read), model_rows, codes, None if weights is None else weights_of(rows, weights))

    others = [name for name in (column, weights) if name is not None]
    with reading_progress(source, "Reading"):
        for batch in source.batches(list(dict.fromkeys([*read, *others])), coded=others[:1] if column else ()):
            use_good_rows(model, source, batch, read, add)
    if not sample.kept.n_seen:
        raise InputError(f"{source.name} has no rows for the report. For a report of the model alone, give no data.")
    rows, row_weights, provided = sample.finished(source, labelled=column is not None)
    return rows_for_model(model, rows, read), row_weights, provided


class _Sample:
    """A uniform sample of rows that the model can read, with their labels and weights."""

    def __init__(self, fitted: Fitted, labels: KnownLabelReader) -> None:
        import numpy as np

        from suffice.learning.kept_rows import KeptRows

        self.fitted, self.labels, self.kept = fitted, labels, KeptRows()
        self.class_weight = np.zeros(len(fitted.classes))

    def add(self, rows: pa.Table, model_rows: Any, codes: Codes | None, weights: Float | None) -> None:
        """Add rows; raises `InputError` for rows that the model cannot predict."""
        import numpy as np

        from suffice.learning.prediction import joint
        from suffice.statistics import Membership

        joint(self.fitted, self.fitted.reader.rows(model_rows, self.fitted.layout))
        known = np.zeros(rows.num_rows, dtype=np.int64) if codes is None else codes
        size = len(self.class_weight)
        self.class_weight += np.bincount(known, weights, minlength=size)[:size]
        self.kept.add(rows, Membership(self._axis(), codes=known, weights=weights))

    def finished(self, source: Source, *, labelled: bool) -> tuple[pa.Table, Float | None, Provided]:
        """The sampled rows, their weights, and where they came from."""
        from suffice.report.rows import Provided

        rows, members = self.kept.rows(self._axis())
        codes, labels = (members.codes, tuple(self.labels.labels)) if labelled else (None, ())
        weight = self.class_weight if labelled else None
        return (
            rows,
            members.weights,
            Provided(source.name, source.skipped, self.kept.n_seen, weight, codes, labels),
        )

    def _axis(self) -> ClassAxis:
        """Positions of the labels that were read so far."""
        import numpy as np

        from suffice.statistics import ClassAxis

        return ClassAxis.of(np.arange(len(self.labels.labels)))
