"""``suffice predict``: predict the class of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.command import command as _command
from suffice.cli.command import note, note_skipped_rows, section
from suffice.cli.decisions import DecisionOptions, decision_options
from suffice.cli.impossible import ImpossibleRows, impossible_option
from suffice.cli.progress import reading_progress
from suffice.cli.reading import (
    ReadingOptions,
    columns_to_predict_options,
    model_argument,
    model_columns,
    reading_options,
    use_good_rows,
)
from suffice.cli.texts import data_or_texts, open_rows, text_option
from suffice.cli.writing import check_writable, format_of, output_option, to_option, write_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.estimators.base import GenerativeClassifier
    from suffice.learning.decisions import Costs, Thresholds
    from suffice.numerics.types import Float

__all__ = ["command"]

EXAMPLES = """
suffice predict flowers.suffice test.csv
suffice predict flowers.suffice test.csv --keep all -o answers.parquet
suffice predict flowers.suffice 'parts/*.parquet' --keep species,visits \\
    -o answers.csv.gz
cat test.csv | suffice predict flowers.suffice - --to jsonl | head -3
suffice predict spam.suffice messages.jsonl --columns body \\
    --threshold spam=0.9
suffice predict spam.suffice inbox --keep path
suffice predict spam.suffice --text 'cheap pills'
echo 'lunch at noon?' | suffice predict spam.suffice -
"""


@_command("predict", "Predict the class of each row.", EXAMPLES)
@model_argument
@data_or_texts
@section("Data", text_option, columns_to_predict_options)
@section("Decisions", decision_options, impossible_option())
@reading_options
@section(
    "Output",
    output_option,
    to_option,
    click.option(
        "--keep",
        metavar="all|none|COLS",
        default="none",
        show_default=True,
        help="Columns of DATA to copy to the output, separated by commas.",
    ),
    click.option("--no-density", is_flag=True, help="Do not write log p(x)."),
)
def command(
    model: str,
    data: tuple[str, ...],
    texts: tuple[str, ...],
    output: str,
    to: str | None,
    keep: str,
    no_density: bool,
    decision: DecisionOptions,
    impossible: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
) -> None:
    """Predict the class of each row of DATA with MODEL.

    Writes one row for each row of DATA, in the same order: the columns of --keep, `label` (the predicted class),
    `p(CLASS)` for each class, and `log p(x)`, the log-density of the row, which is low for unusual rows. Most
    text models have no density and write no `log p(x)`. Columns that the model was not fitted on are ignored.

    For a text model, DATA may also be mails (.eml, mbox, Maildir, folders of them) or plain text. Standard input and
    .txt files are read as one text per line, unless the first line contains the name of the text column; --format csv
    always reads a table, and --format mails always reads mails. --text TEXT predicts for one text.
    """
    kind = format_of(output, to)
    check_writable(output)
    from suffice.cli.saved_model import load
    from suffice.sources.files.kept_columns import KeptColumns

    loaded = decision.with_prior(load(model))
    rule = decision.rule(loaded)
    impossible_rows = ImpossibleRows(loaded, impossible)
    loaded = impossible_rows.model
    kept = [] if keep in ("all", "none") else [name for name in keep.split(",") if name]
    source = open_rows(loaded, data, texts, reading, columns, ignore, also=kept)
    read = model_columns(loaded, source, kept=[name for name in kept if name not in (columns or ())])
    names = source.names if keep == "all" else kept
    columns_kept = KeptColumns(source, names, read, typed=kind not in ("csv", "tsv"))
    predictions = Predictions(loaded, columns_kept.names, *rule, density=not no_density)
    with write_rows(output, kind) as writer, reading_progress(source, "Predicting", output):
        for batch in source.batches(read, written=columns_kept.written):
            with impossible_rows.counted():
                table = use_good_rows(
                    loaded,
                    source,
                    batch,
                    read,
                    lambda rows, model_rows: predictions.of(columns_kept.of(rows), model_rows),
                )
            if table is not None:
                writer.write(table)
        if not writer.n_rows:
            writer.write(predictions.of_no_rows(columns_kept.of_no_rows()))
    note_skipped_rows(source)
    impossible_rows.note()
    if not no_density and not predictions.density:
        note("The model has no density p(x), so log p(x) is not written.")


class Predictions:
    """Tables of kept columns, labels, probabilities and log-densities.

    Parameters
    ----------
    model : estimator
        Fitted.
    kept : sequence of str
        Columns of the data that are copied.
    costs, thresholds : mapping, optional
        As `suffice.learning.decisions.decide` takes them.
    density : bool
        Whether log p(x) is wanted.
    """

    def __init__(
        self,
        model: GenerativeClassifier,
        kept: Sequence[str],
        costs: Costs | None = None,
        thresholds: Thresholds | None = None,
        *,
        density: bool,
    ) -> None:
        from suffice.engines.prediction_tables import prediction_names
        from suffice.exceptions import InputError
        from suffice.learning.decisions import warn_about_thresholds

        self.model, self.costs, self.thresholds = model, costs, thresholds
        warn_about_thresholds(model.fitted_, thresholds)
        self.density = density and model.fitted_.has_density
        names = prediction_names(model.classes_.tolist(), density=self.density)
        clashes = [name for name in names if name in kept]
        self.names = [f"predicted {name}" if name in kept else name for name in names]
        if clashes:
            note(f"The data have a column {clashes[0]!r}; the column of predictions is {'predicted ' + clashes[0]!r}.")
        if len({*self.names, *kept}) < len(self.names) + len(kept):
            raise InputError("Two columns of the output would have the same name. Keep fewer columns with --keep.")

    def of(self, kept: pa.Table, rows: Any) -> pa.Table:
        """Kept columns and predictions of rows, which come in the form that the model reads."""
        density = self.model.score_samples(rows) if self.density else None
        probabilities = self.model.predict_proba(rows)
        return self._table(kept, self._labels(rows, probabilities), probabilities, density)

    def _labels(self, rows: Any, probabilities: Float) -> pa.Array:
        """Return the labels of ``decide`` or of ``predict``."""
        import pyarrow as pa

        from suffice.engines.prediction_tables import predicted_labels
        from suffice.learning.decisions import decide

        if self.costs is None and self.thresholds is None:
            return predicted_labels(self.model, rows, probabilities)
        codes = decide(probabilities, self.model.fitted_.classes, self.costs, self.thresholds)
        return pa.array(self.model.classes_).take(pa.array(codes))

    def of_no_rows(self, kept: pa.Table) -> pa.Table:
        """Return a table without rows."""
        import numpy as np
        import pyarrow as pa

        labels, probabilities = pa.array(self.model.classes_[:0]), np.empty((0, len(self.model.classes_)))
        return self._table(kept, labels, probabilities, np.empty(0) if self.density else None)

    def _table(self, kept: pa.Table, labels: pa.Array, probabilities: Float, density: Float | None) -> pa.Table:
        from suffice.engines.prediction_tables import prediction_table

        return prediction_table(self.names, labels, probabilities, density, kept)
