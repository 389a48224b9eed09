"""``suffice evaluate``: how good a model is on rows with labels."""

from __future__ import annotations

from typing import Any

from suffice.cli.command import command as _command
from suffice.cli.command import note, tell_faults
from suffice.cli.output import Page, json_option, number, percent, show_json, shown
from suffice.cli.progress import following
from suffice.cli.reading import (
    columns_options,
    data_argument,
    model_argument,
    model_columns,
    of_rows,
    open_data,
    reading_options,
    target_option,
    weights_option,
)

__all__ = ["command"]

EXAMPLES = """
suffice evaluate flowers.suffice test.csv --target species
suffice evaluate flowers.suffice 'parts/*.parquet' --target species --json
"""
SHOWN_CLASSES = 20  # of a confusion matrix


@_command("evaluate", "Score a model by rows with labels.", EXAMPLES)
@model_argument
@data_argument
@target_option
@weights_option
@columns_options
@reading_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    target: str,
    weights: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: dict[str, Any],
    as_json: bool,
) -> None:
    """Score MODEL by the labels of DATA.

    Accuracy, balanced accuracy, log-loss, Brier score, expected calibration error, the area under the ROC curve (of
    more than two classes the mean of each against the rest), a table by class, and the confusion matrix.
    """
    import suffice
    from suffice.cli.evaluation import Evaluation
    from suffice.cli.labels import Labels
    from suffice.exceptions import InputError, listed
    from suffice.learning.good_rows import weights_of
    from suffice.learning.labels import check_labels

    loaded = suffice.load(model)
    source = open_data(data, reading, columns, ignore, also=[target, weights], notes=False)
    read = model_columns(loaded, source, [target, weights])
    classes = loaded.classes_.tolist()
    labels, found = Labels(classes), Evaluation(classes)

    def add(rows: Any, asked: Any) -> None:
        codes = labels.codes(rows[target])
        check_labels(target, codes < 0)
        w = None if weights is None else weights_of(rows, weights)
        found.add(codes, loaded.predict_log_proba(asked), w)

    wanted = list(dict.fromkeys([*read, target, *([weights] if weights else [])]))
    with following(source, "Evaluating"):
        for batch in source.batches(wanted, coded=[target]):
            of_rows(loaded, source, batch, read, add)
    if not found.n_rows:
        raise InputError(f"{source.name} has no rows to score by.")
    unknown = labels.all[len(classes) :]
    if unknown:
        note(
            f"Column {target!r} has labels that are no classes of the model: {listed(unknown)}. Their rows count as "
            "errors, and have no part in the log-loss."
        )
    tell_faults(source)
    result = {
        "model": model,
        "data": {"source": source.name, "rows": found.n_rows, "skipped": source.skipped},
        **found.scores(),
        "classes": found.by_class(),
        "unknown_labels": unknown,
        "confusion": {"labels": labels.all, "predicted": classes, "rows": found.confusion()},
    }
    if as_json:
        show_json(result)
    else:
        _show(result)


def _show(found: dict[str, Any]) -> None:
    page = Page()
    page.line(f"{shown(found['data']['source'])}: {found['data']['rows']:,} rows")
    page.line()
    binned = f" ± {found['auc_error']:.1g}" if found["auc_error"] > 0 else ""
    page.facts(
        {
            "accuracy": f"{percent(found['accuracy'])} ± {percent(found['accuracy_error'])}",
            "balanced accuracy": percent(found["balanced_accuracy"]),
            "log-loss": f"{number(found['log_loss'])} ± {found['log_loss_error']:.2g}",
            "Brier score": number(found["brier"]),
            "calibration error": percent(found["calibration_error"]),
            "AUC": f"{number(found['auc'])}{binned}",
        }
    )
    page.heading("Classes")
    names = ["rows", "precision", "recall", "f1", "auc"]
    page.table(
        ["class", "rows", "precision", "recall", "F1", "AUC"],
        [
            [
                str(each["label"]),
                each["rows"],
                *(f"{each[name]:.4f}" if each[name] == each[name] else None for name in names[1:]),
            ]
            for each in found["classes"]
        ],
    )
    matrix = found["confusion"]
    page.heading("Confusion (labels down, predictions across)")
    if len(matrix["labels"]) > SHOWN_CLASSES:
        page.line(f"{len(matrix['labels'])} × {len(matrix['predicted'])}; see --json")
        return
    rows = [[str(label), *row] for label, row in zip(matrix["labels"], matrix["rows"], strict=True)]
    page.table(["", *map(str, matrix["predicted"])], rows)
