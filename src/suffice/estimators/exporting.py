"""`Exporting`: a fitted model for other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from suffice.estimators.inference import Inference

__all__ = ["Exporting"]


class Exporting(Inference):
    """Conversions of a fitted model: SQL, ONNX, scikit-learn and JSON."""

    def to_sql(
        self,
        table: str,
        dialect: str = "duckdb",
        *,
        keep: Sequence[str] | None = None,
        columns: Mapping[Any, str] | Sequence[str] | None = None,
        prefix: str = "",
        complete: bool = False,
    ) -> str:
        """Write the model as one SELECT statement that scores each row of a table."""
        from suffice.export.sql import to_sql

        return to_sql(self.fitted_, table, dialect, keep=keep, columns=columns, prefix=prefix, complete=complete)

    def to_onnx(self, precision: Literal["double", "float"] = "double", *, missing: str = "") -> Any:
        """Write the model as a graph of ONNX, which computes the label and the probabilities of each row."""
        from suffice.export.onnx import to_onnx

        return to_onnx(self.fitted_, precision, missing=missing)

    def to_sklearn(self) -> Any:
        """Return an equal fitted model of scikit-learn."""
        from suffice.export.scikit_learn import to_sklearn

        return to_sklearn(self)

    def to_json(self) -> str:
        """Write the formulas by which any program can compute the probabilities, as JSON."""
        from suffice.export.json_rule import json_rule

        return json_rule(self.fitted_)
