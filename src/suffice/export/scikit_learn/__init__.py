"""Fitted models as equal models of scikit-learn."""

from __future__ import annotations

from typing import Any

__all__ = ["to_sklearn"]


def to_sklearn(model: Any) -> Any:
    """Return an equal fitted model of scikit-learn; see `GenerativeClassifier.to_sklearn`."""
    from suffice.export.scikit_learn.models import scikit_learn_model

    return scikit_learn_model(model)
