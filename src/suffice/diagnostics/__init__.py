"""Do the assumptions of a model hold? Checks of dependence, shapes, covariances and missing cells.

`diagnose` reads labelled rows once and tests what a fitted model assumes about them. Every p-value is valid for any
parameters of the model, and all of them together are corrected: on rows that keep the assumptions, the probability of
any significant finding is at most ``level``.
"""

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.diagnostics.diagnosing import diagnose
    from suffice.diagnostics.result import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]

__getattr__, __dir__ = lazy_names(__name__, {"Diagnosis": "result", "Finding": "result", "diagnose": "diagnosing"})
