"""Which optional parts a fitted model has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier

__all__ = ["feature_names", "has_density"]


def feature_names(model: GenerativeClassifier) -> list[str] | None:
    """Names of the columns that the model was fitted on, in order; None if it was fitted on arrays."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def has_density(model: GenerativeClassifier) -> bool:
    """Whether the model defines p(x). Some models only compare classes."""
    from suffice.families import Text

    if not hasattr(model, "score_samples"):
        return False
    families = [block.family for block in model._estimated().blocks]
    return all(family.is_density for family in families if isinstance(family, Text))
