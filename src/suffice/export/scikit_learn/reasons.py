"""The error for a model that scikit-learn has no class for."""

from __future__ import annotations

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted

__all__ = ["no_class"]


def no_class(fitted: Fitted, reason: str) -> InputError:
    """The error for a model without an equal class; the reason is a sentence."""
    return InputError(
        f"scikit-learn has no class that predicts as this {fitted.specification.estimator}: {reason} To score rows "
        "elsewhere, use to_onnx or to_sql; to keep the model, use save.",
        page="docs/export.md",
    )
