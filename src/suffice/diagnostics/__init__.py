"""Tests of the assumptions of a model: dependence, shapes, covariances and missing cells.

`diagnose` reads labelled rows once and tests what a fitted model assumes about them. The tests are valid whatever the
parameters of the model are, and their p-values are corrected for the number of tests: if the rows meet the assumptions,
the probability of any significant finding is at most ``level``.
"""

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.diagnostics.diagnosing import diagnose
    from suffice.diagnostics.result import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]

__getattr__, __dir__ = lazy_names(__name__, {"Diagnosis": "result", "Finding": "result", "diagnose": "diagnosing"})
