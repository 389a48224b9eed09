"""A model from a file, without the estimators: scikit-learn takes longer to import than a model to read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from suffice.estimators.predictor import Predictor
from suffice.learning.fitted import Fitted

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.learning.specification import Specification

__all__ = ["SavedModel", "load"]


def load(path: str) -> GenerativeClassifier:
    """Read a model that `suffice fit` or an estimator has saved; a `SavedModel` stands in for the estimator."""
    from suffice.model_file import read_model

    return cast("GenerativeClassifier", SavedModel(read_model(path, _specification)))


def _specification(name: str) -> type[Specification] | None:
    """The specification of an estimator. Those of scikit-learn's classes are imported with the classes."""
    import suffice.averaged_dependence.specification
    import suffice.discriminant_analysis.specification
    import suffice.naive_bayes.specification
    import suffice.naive_bayes.text_specification
    from suffice.learning.specification import SPECIFICATIONS

    if name == "GenerativeEnsemble":  # its modules take longer to import
        import suffice.ensemble.specification
    if name not in SPECIFICATIONS:
        import suffice.api  # noqa: F401
    return SPECIFICATIONS.get(name)


class SavedModel(Predictor):
    """A loaded model that can predict; ``estimator`` has all other methods."""

    def __init__(self, fitted: Fitted) -> None:
        self._fitted = fitted

    @property
    def fitted_(self) -> Fitted:
        """The fitted model, as one immutable value."""
        return self._fitted

    def with_fitted(self, fitted: Fitted) -> SavedModel:
        """The same model with something else learned."""
        return SavedModel(fitted)

    @cached_property
    def estimator(self) -> GenerativeClassifier:
        """The estimator that was saved."""
        import suffice.api  # noqa: F401  (registers the estimators)
        from suffice.estimators import ESTIMATORS

        return ESTIMATORS[self.fitted_.specification.estimator].from_fitted(self.fitted_)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.estimator, name)
