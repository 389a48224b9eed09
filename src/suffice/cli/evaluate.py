"""``suffice evaluate``: score a model on labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.cli.command import command as _command
from suffice.cli.command import note, note_skipped_rows, section
from suffice.cli.description import MAX_CLASSES, accuracy_line, log_loss_line
from suffice.cli.impossible import ImpossibleRows, impossible_option
from suffice.cli.output import Page, cell_text, json_option, more_line, number, percent, print_json, row_count
from suffice.cli.progress import reading_progress
from suffice.cli.reading import (
    ReadingOptions,
    columns_options,
    data_argument,
    known_target,
    known_target_option,
    model_argument,
    model_columns,
    open_data,
    reading_options,
    use_good_rows,
    weights_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from suffice.learning.evaluation import Evaluation
    from suffice.sources.files import Source

__all__ = ["command"]

EXAMPLES = """
suffice evaluate flowers.suffice test.csv --target species
suffice evaluate flowers.suffice 'parts/*.parquet' --target species --json
"""
MAX_CONFUSION = 20  # labels of a confusion matrix that is printed; --json has all
MAX_ERRORS = 10  # most frequent errors that are printed instead


@_command("evaluate", "Score a model on labelled rows.", EXAMPLES)
@model_argument
@data_argument
@section("Data", known_target_option, columns_options, weights_option)
@section("Model", impossible_option(["error", "prior"]))
@reading_options
@section("Output", json_option)
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weights: str | None,
    impossible: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Score MODEL on the labelled rows of DATA.

    Prints accuracy, balanced accuracy, log-loss, Brier score, expected calibration error, the area under the ROC curve
    (with more than two classes, the mean of each class against the rest), scores by class, and the confusion matrix.
    """
    import suffice
    from suffice.exceptions import Argument, ClassError, InputError, listed
    from suffice.learning.evaluation import Evaluation
    from suffice.learning.good_rows import weights_of
    from suffice.learning.labels import MAIL_LABELS, KnownLabelReader, check_labels, labels_of_mails

    loaded = suffice.load(model)
    if impossible is None and loaded.fitted_.specification.impossible == "nan":
        impossible = "prior"  # a row without probabilities has no log-loss
    impossible_rows = ImpossibleRows(loaded, impossible)
    loaded = impossible_rows.model
    target = known_target(loaded, target)
    source = open_data(data, reading, columns, ignore, target=target, weights=weights, notes=False)
    read = model_columns(loaded, source, [target, weights])
    classes = loaded.classes_.tolist()
    labels, evaluation = KnownLabelReader(classes), Evaluation(classes)

    def add(rows: pa.Table, model_rows: Any) -> None:
        codes, missing = labels.read(rows[target])
        check_labels(target, missing, as_text=source.is_text)
        row_weights = None if weights is None else weights_of(rows, weights)
        evaluation.add(codes, loaded.predict_log_proba(model_rows), row_weights)

    names = list(dict.fromkeys([*read, target, *([weights] if weights else [])]))
    with reading_progress(source, "Evaluating"):
        for batch in source.batches(names, coded=[target]):
            with impossible_rows.counted():
                use_good_rows(loaded, source, batch, read, add)
    if not evaluation.n_rows:
        raise InputError(f"{source.name} has no rows to score the model on.")
    unknown = labels.unknown
    of_mails = labels_of_mails(source, target)
    if not evaluation.n_known_rows:
        raise ClassError(
            f"No label in column {target!r} is a class of the model: the column holds {listed(unknown, 4)}; the "
            f"classes are {listed(classes)}. ",
            *((MAIL_LABELS,) if of_mails else ("Choose the column of labels with ", Argument("target"), ".")),
            column=target,
        )
    if unknown:
        note(
            f"Column {target!r} contains labels that are not classes of the model: {listed(unknown)}. Rows with these "
            f"labels count as errors and are not part of the log-loss.{f' {MAIL_LABELS}' if of_mails else ''}"
        )
    note_skipped_rows(source)
    impossible_rows.note()
    if as_json:
        print_json(
            {
                "model": model,
                "data": {"source": source.name, "rows": evaluation.n_rows, "skipped": source.skipped},
                **evaluation.scores(),
                "classes": evaluation.by_class(),
                "unknown_labels": unknown,
                "confusion": {
                    "labels": labels.labels,
                    "predicted": classes,
                    "rows": evaluation.confusion(len(labels.labels)),
                },
            }
        )
    else:
        _show(source, evaluation, labels.labels)


def _show(source: Source, evaluation: Evaluation, labels: Sequence[object]) -> None:
    page = Page()
    page.line(f"{cell_text(source.name)}: {row_count(evaluation.n_rows)}")
    page.line()
    scores = evaluation.scores()
    auc_error = f" ± {scores['auc_error']:.1g}" if scores["auc_error"] > 0 else ""
    page.facts(
        {
            "accuracy": accuracy_line(scores["accuracy"], scores["accuracy_error"], scores["majority"]),
            "balanced accuracy": percent(scores["balanced_accuracy"]),
            "log-loss": log_loss_line(scores["log_loss"], scores["log_loss_error"], scores["baseline_log_loss"]),
            "Brier score": number(scores["brier"]),
            "calibration error": percent(scores["calibration_error"]),
            "AUC": f"{number(scores['auc'])}{auc_error}",
        }
    )
    page.heading("Classes")
    by_class = evaluation.by_class()
    page.table(
        ["class", "rows", "precision", "recall", "F1", "AUC"],
        [
            [
                str(each["label"]),
                each["rows"],
                *(_score(value) for value in (each["precision"], each["recall"], each["f1"], each["auc"])),
            ]
            for each in by_class[:MAX_CLASSES]
        ],
    )
    if len(by_class) > MAX_CLASSES:
        page.line(more_line(len(by_class) - MAX_CLASSES, "class", "classes"))
    _show_confusion(page, evaluation, labels)


def _show_confusion(page: Page, evaluation: Evaluation, labels: Sequence[object]) -> None:
    predicted, confusion = list(map(str, evaluation.labels)), evaluation.confusion(len(labels))
    if len(labels) <= MAX_CONFUSION:
        page.heading("Confusion matrix (rows: labels, columns: predictions)")
        page.table(["", *predicted], [[str(label), *row] for label, row in zip(labels, confusion, strict=True)])
        return
    wrong = ((-rows, i, j) for i, row in enumerate(confusion) for j, rows in enumerate(row) if i != j and rows > 0)
    errors = [[str(labels[i]), predicted[j], -rows] for rows, i, j in sorted(wrong)[:MAX_ERRORS]]
    if not errors:
        page.heading(f"No errors ({len(labels)} labels)")
        return
    page.heading(f"Most frequent errors ({len(labels)} labels; --json has the whole confusion matrix)")
    page.table(["label", "prediction", "rows"], errors, left=2)


def _score(value: float) -> str | None:
    return f"{value:.4f}" if value == value else None  # None if it is not defined
