"""The columns of predictions, and how a model reads the columns of a table that it predicts for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice import bayes
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.learning.training_rows import read_as_known
from suffice.model.explanation import Explanation
from suffice.numerics.types import Float
from suffice.sources.engine_tables import EngineTable
from suffice.sources.engine_types import ArrowSchema, ArrowTable
from suffice.sources.files import Source, open_source
from suffice.tables import Table
from suffice.tables.cell_values import value_text

__all__ = ["PREFIX", "Opened", "answer_columns", "answer_schema", "opened"]

PREFIX = {"predict_proba": "p_", "predict_log_proba": "log_p_", "predict_joint_log_proba": "log_joint_"}


@dataclass(frozen=True)
class Opened:
    """A table whose columns a model reads.

    Attributes
    ----------
    fitted : Fitted
    source : Source
    columns : list of str
        Those of the source that the model reads.
    """

    fitted: Fitted
    source: Source
    columns: list[str]

    def batches(self) -> Iterator[ArrowTable]:
        """The columns of the model, batch by batch."""
        for batch in self.source.batches(self.columns):
            yield self._complete(batch.rows)

    def no_rows(self) -> ArrowTable:
        """The columns of the model without rows."""
        return self._complete(self.source.no_rows(self.columns))

    def _complete(self, rows: ArrowTable) -> ArrowTable:
        return self.fitted.reader.with_absent_columns(rows, self.columns, self.fitted.layout)


def opened(fitted: Fitted, table: EngineTable | Source | ArrowTable) -> Opened:
    """Open a table or a source for predictions; it must have all columns of the model, as a frame in memory."""
    source, reader, layout = open_source(table), fitted.reader, fitted.layout
    columns = reader.prediction_columns(source, [fitted.target], (), layout)
    read_as_known(source, columns, reader, layout)
    return Opened(fitted, source, columns)


# ---------------------------------------------------------------------- columns of answers


def answer_schema(fitted: Fitted, method: str) -> ArrowSchema:
    """Names and types of the columns of an answer."""
    import pyarrow as pa

    kind = pa.array(fitted.classes.labels).type
    if method == "predict":
        return pa.schema([("prediction", kind)])
    if method == "score_samples":
        return pa.schema([("log_density", pa.float64())])
    if method == "explain":
        part = pa.struct([("name", pa.string()), ("value", pa.string()), ("part", pa.float64())])
        return pa.schema(
            [("compared_label", kind), ("against", kind), ("log_odds", pa.float64()), ("parts", pa.list_(part))]
        )
    labels = fitted.classes.labels.tolist()
    return pa.schema([(f"{PREFIX[method]}{label}", pa.float64()) for label in labels])


def answer_columns(fitted: Fitted, table: Table, method: str, **options: Any) -> ArrowTable:
    """The answer to a prediction method for the rows of a table."""
    import pyarrow as pa

    schema = answer_schema(fitted, method)
    if not len(table):
        return schema.empty_table()
    if method == "explain":
        return _explained(prediction.explained(fitted, table, **options), schema)
    if method == "predict":
        columns = [prediction.answer(fitted, table, method)]
    elif method == "score_samples":
        columns = [bayes.log_evidence(prediction.joint(fitted, table, relative=False))]
    else:
        columns = list(_probabilities(fitted, table, method, **options).T)
    return pa.Table.from_arrays([pa.array(each) for each in columns], schema=schema)


def _probabilities(fitted: Fitted, table: Table, method: str, *, relative: bool = False) -> Float:
    if method == "predict_joint_log_proba":
        return prediction.joint(fitted, table, relative=relative)
    return np.asarray(prediction.answer(fitted, table, method), dtype=np.float64)


def _explained(explanation: Explanation, schema: ArrowSchema) -> ArrowTable:
    """The classes that are compared, and the parts of each row, the largest first."""
    import pyarrow as pa

    parts: list[list[dict[str, object]]] = [[] for _ in range(len(explanation))]
    found = explanation.strongest()
    names, values = (
        found[next(each for each in pair if each in found)] for pair in (("column", "word"), ("value", "count"))
    )
    for row, name, value, part in zip(found["row"], names, values, found["part"], strict=True):
        text = None if value is None else value_text(value)
        parts[int(row)].append({"name": str(name), "value": text, "part": float(part)})
    columns = [explanation.labels, explanation.against, explanation.log_odds, parts]
    return pa.Table.from_arrays(
        [pa.array(each, field.type) for each, field in zip(columns, schema, strict=True)], schema=schema
    )
