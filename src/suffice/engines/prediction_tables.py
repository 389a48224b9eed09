"""Tables of predicted labels and probabilities, as `suffice predict` and the server write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice import bayes
from suffice.numerics.types import Float
from suffice.sources.engine_types import ArrowArray, ArrowTable

__all__ = ["LOG_DENSITY", "predicted_labels", "prediction_names", "prediction_table"]

LOG_DENSITY = "log p(x)"


def prediction_names(labels: Sequence[object], *, density: bool = False) -> list[str]:
    """Names of the columns: the label, the probability of each class, and perhaps the log-density.

    >>> prediction_names(["ham", "spam"])
    ['label', 'p(ham)', 'p(spam)']
    """
    return ["label", *(f"p({label})" for label in labels), *([LOG_DENSITY] if density else [])]


def predicted_labels(model: Any, rows: Any, probabilities: Float) -> ArrowArray:
    """The labels that ``model.predict(rows)`` returns; it is called only for batches with ties."""
    import pyarrow as pa

    codes, ties = bayes.decide_by_posterior(probabilities)
    if len(ties):
        codes[ties] = np.searchsorted(model.classes_, model.predict(rows)[ties])
    return pa.array(model.classes_).take(pa.array(codes))


def prediction_table(
    names: Sequence[str],
    labels: ArrowArray,
    probabilities: Float,
    density: Float | None = None,
    kept: ArrowTable | None = None,
) -> ArrowTable:
    """Kept columns, labels, probabilities (n, K) and log-densities as one table.

    A row whose probabilities are NaN has no label; see the parameter ``impossible`` of the estimators.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    unknown = np.isnan(probabilities[:, 0])  # all probabilities of such a row are NaN
    labels = pc.if_else(pa.array(unknown), None, labels) if unknown.any() else labels
    columns = [labels, *(pa.array(probabilities[:, k], from_pandas=True) for k in range(probabilities.shape[1]))]
    if density is not None:
        columns.append(pa.array(density))
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    before = pa.schema([]).empty_table() if kept is None else kept
    return pa.Table.from_arrays([*before.columns, *columns], schema=pa.schema([*before.schema, *fields]))
