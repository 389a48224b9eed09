"""The error for a model that scikit-learn has no class for."""

from __future__ import annotations

from suffice.exceptions import Argument, Export, InputError
from suffice.learning.fitted import Fitted

__all__ = ["no_class", "start_of_reason"]

PAGE = "docs/export.md"


def no_class(fitted: Fitted, *reason: str | Argument) -> InputError:
    """The error for a model without an equal class; the reason is a sentence in pieces."""
    advice = (" To score rows in other programs, use ", Export("onnx"), " or ", Export("sql"), ".")
    return InputError(start_of_reason(fitted), *reason, *advice, page=PAGE)


def start_of_reason(fitted: Fitted) -> str:
    """What the reason follows."""
    return f"scikit-learn has no class that predicts as this {fitted.specification.estimator}: "
