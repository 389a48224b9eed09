"""What clients ask about rows: predictions, densities and explanations, as JSON and as tables."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice import bayes
from suffice.engines.prediction_tables import LOG_DENSITY, predicted_labels, prediction_names, prediction_table
from suffice.estimators import GenerativeClassifier
from suffice.sources.engine_types import ArrowTable
from suffice.tables.cell_values import json_value, value_text

if TYPE_CHECKING:
    from suffice.estimators.explained_rows import Part

__all__ = ["Explain", "Operation", "Predict", "Score", "json_predictions"]


@dataclass(frozen=True, eq=False)
class Operation(ABC):
    """A question about rows, to one state of a model.

    Attributes
    ----------
    model : estimator
        It must not change while rows are answered.
    most_rows : int, optional
        Of one request.
    answered : callable, optional
        Is called with rows that were answered, in the form that the methods of the model take, and their number.
    """

    member: ClassVar[str]  # of a JSON answer, that has a value for each row
    quick: ClassVar[bool] = True  # whether a few rows take no more time than a thread does
    model: GenerativeClassifier
    most_rows: int | None = None
    answered: Callable[[Any, int], None] | None = None

    @property
    def head(self) -> dict[str, Any]:
        """Members of a JSON answer before the rows."""
        return {}

    @abstractmethod
    def values(self, rows: Any) -> list[str]:
        """The answer for each row as JSON; ``rows`` come in the form that the methods of the model take."""

    @property
    def keeps(self) -> bool:
        """Whether an answer that is a table begins with the columns of the table that was sent."""
        return False

    @abstractmethod
    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """The answer for rows as a table; ``first`` is the number of the first row."""

    @abstractmethod
    def no_rows(self) -> ArrowTable:
        """The table of an answer about no rows."""


@dataclass(frozen=True, eq=False)
class Predict(Operation):
    """The posterior and the label of each row.

    Attributes
    ----------
    keep : bool
        Whether a table is answered by a table that begins with its columns.
    """

    member = "predictions"
    keep: bool = False

    @property
    def head(self) -> dict[str, Any]:
        """The classes, in the order of the probabilities."""
        return {"classes": json_value(self.model.classes_)}

    @cached_property
    def label_texts(self) -> list[str]:
        """The classes as JSON."""
        return [json.dumps(json_value(label)) for label in self.model.classes_.tolist()]

    def values(self, rows: Any) -> list[str]:
        """Label and probabilities."""
        probabilities = self.model.predict_proba(rows)
        codes, ties = bayes.decide_by_posterior(probabilities)
        if len(ties):
            codes[ties] = np.searchsorted(self.model.classes_, self.model.predict(rows)[ties])
        return json_predictions(self.label_texts, codes.tolist(), probabilities.tolist())

    @property
    def keeps(self) -> bool:
        """Whether the columns of a table are kept."""
        return self.keep

    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """The columns that `suffice predict` writes, without the log-density."""
        probabilities = self.model.predict_proba(rows)
        taken = set() if kept is None else set(kept.column_names)
        names = [
            f"predicted {name}" if name in taken else name for name in prediction_names(self.model.classes_.tolist())
        ]
        labels = predicted_labels(self.model, rows, probabilities)
        return prediction_table(names, labels, probabilities, kept=kept)

    def no_rows(self) -> ArrowTable:
        """The columns without rows."""
        import pyarrow as pa

        classes = self.model.classes_
        return prediction_table(prediction_names(classes.tolist()), pa.array(classes[:0]), np.empty((0, len(classes))))


def json_predictions(labels: Sequence[str], codes: Sequence[int], probabilities: Sequence[list[float]]) -> list[str]:
    """Labels and probabilities as JSON; null for a row whose probabilities are NaN.

    >>> json_predictions(['"a"', '"b"'], [1], [[0.25, 0.75]])
    ['{"label": "b", "probabilities": [0.25, 0.75]}']
    """
    out = []
    for code, row in zip(codes, probabilities, strict=True):
        if row[0] != row[0]:
            out.append(f'{{"label": null, "probabilities": {json.dumps([None] * len(row))}}}')
        else:
            out.append(f'{{"label": {labels[code]}, "probabilities": {row!r}}}')
    return out


@dataclass(frozen=True, eq=False)
class Score(Operation):
    """log p(x) of each row."""

    member = "scores"

    def values(self, rows: Any) -> list[str]:
        """The log-density; null for a row with density zero."""
        return [json.dumps(json_value(each)) for each in self.model.score_samples(rows).tolist()]

    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """The column of log-densities that `suffice predict` writes."""
        import pyarrow as pa

        return pa.table({LOG_DENSITY: pa.array(self.model.score_samples(rows))})

    def no_rows(self) -> ArrowTable:
        """The column without rows."""
        import pyarrow as pa

        return pa.table({LOG_DENSITY: pa.array([], pa.float64())})


@dataclass(frozen=True, eq=False)
class Explain(Operation):
    """The parts of the log-odds of one class against another."""

    member = "explanations"
    quick = False
    label: Hashable = None
    against: Hashable = None

    def values(self, rows: Any) -> list[str]:
        """The prediction, and the parts of its log-odds, largest first."""
        return [json.dumps(json_value(each)) for each in self._explained(rows)]

    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """One line for each part of each row."""
        lines = [
            (i, each["label"], each["against"], _part_name(part), _part_value(part), part["part"])
            for i, each in enumerate(self._explained(rows), start=first)
            for part in each["parts"]
        ]
        return self._lines(lines)

    def no_rows(self) -> ArrowTable:
        """The columns without lines."""
        return self._lines([])

    def _lines(self, lines: Sequence[Sequence[Any]]) -> ArrowTable:
        import pyarrow as pa

        kind = pa.array(self.model.classes_).type
        fields = {"row": pa.int64(), "label": kind, "against": kind, "of": pa.string(), "value": pa.string()}
        fields["part"] = pa.float64()
        columns = [pa.array([line[j] for line in lines], each) for j, each in enumerate(fields.values())]
        return pa.table(columns, names=list(fields))

    def _explained(self, rows: Any) -> list[Any]:
        from suffice.estimators.explained_rows import explained_rows

        return explained_rows(self.model, rows, self.label, self.against)


def _part_name(part: Part) -> str:
    return str(part["column"] if "column" in part else part["word"])


def _part_value(part: Part) -> str | None:
    """The cell of a column, or the count of a word, as text; None for a missing cell."""
    return value_text(part["value"] if "column" in part else part["count"]) or None
