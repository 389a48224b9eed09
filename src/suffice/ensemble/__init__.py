"""The ensemble: a weighted combination of naive Bayes, averaged dependence and Gaussian discriminants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.ensemble.ensemble import GenerativeEnsemble

__all__ = ["GenerativeEnsemble"]

# The class is imported when it is asked for: its specification, from which a saved model predicts, needs no
# scikit-learn.
__getattr__, __dir__ = lazy_names(__name__, {"GenerativeEnsemble": "ensemble"})
