"""A model from a file, without the estimators: scikit-learn takes longer to import than a model to read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.learning.fitted import Fitted
    from suffice.learning.specification import Specification
    from suffice.numerics.types import Array, Float

__all__ = ["SavedModel", "load"]


def load(path: str) -> GenerativeClassifier:
    """Read a model that `suffice fit` or an estimator has saved; a `SavedModel` stands in for the estimator."""
    from suffice.model_file import read_model

    return cast("GenerativeClassifier", SavedModel(read_model(path, _specification)))


def _specification(name: str) -> type[Specification] | None:
    """The specification of an estimator. Those of scikit-learn's classes are imported with the classes."""
    import suffice.discriminant_analysis.specification
    import suffice.naive_bayes.specification
    import suffice.naive_bayes.text_specification
    from suffice.learning.specification import SPECIFICATIONS

    if name not in SPECIFICATIONS:
        import suffice.api  # noqa: F401
    return SPECIFICATIONS.get(name)


class SavedModel:
    """What was learned, and the predictions that follow from it; ``estimator`` has all other methods."""

    def __init__(self, fitted: Fitted) -> None:
        self.fitted_ = fitted

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

    def with_fitted(self, fitted: Fitted) -> SavedModel:
        """The same model with something else learned."""
        return SavedModel(fitted)

    def with_prior(self, prior: object) -> SavedModel:
        """The model with another class prior."""
        from suffice.learning import updating

        return SavedModel(updating.with_prior(self.fitted_, prior))

    @property
    def classes_(self) -> Array:
        """The class labels (K,)."""
        return self.fitted_.classes.labels

    def predict(self, X: object) -> Array:
        """The most probable class of each row (n,)."""
        return self._answer(X, "predict")

    def predict_proba(self, X: object) -> Float:
        """p(y | x) of each row and class (n, K)."""
        return self._answer(X, "predict_proba")

    def score_samples(self, X: object) -> Float:
        """log p(x) of each row (n,)."""
        from suffice import bayes
        from suffice.learning import prediction

        fitted = self.fitted_
        fitted.specification.check_density("score_samples")
        table = fitted.specification.reader.rows(X, fitted.layout)
        return bayes.log_evidence(prediction.joint(fitted, table, relative=False))

    def _answer(self, X: object, method: str) -> Array:
        from suffice.learning import prediction

        fitted = self.fitted_
        return prediction.answer(fitted, fitted.specification.reader.rows(X, fitted.layout), method)
