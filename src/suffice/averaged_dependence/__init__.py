"""Averaged dependence: each column depends on one other column, averaged over the choices of that column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.averaged_dependence.averaged_dependence import AveragedDependence

__all__ = ["AveragedDependence"]

# The class is imported when it is asked for: its specification, from which a saved model predicts, needs no
# scikit-learn.
__getattr__, __dir__ = lazy_names(__name__, {"AveragedDependence": "averaged_dependence"})
