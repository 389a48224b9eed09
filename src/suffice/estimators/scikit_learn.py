"""The base classes of scikit-learn, with types.

scikit-learn has no type information, so a type checker would accept every attribute of a subclass, for example
``model.predict_prob``. It reads these declarations instead; at run time the classes are those of scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClassifierMixin", "TransformerMixin"]

if TYPE_CHECKING:
    from typing import Self

    from suffice.numerics.types import Array

    class BaseEstimator:
        """Parameters, display, and metadata routing."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters by name."""

        def set_params(self, **params: Any) -> Self:
            """Set parameters."""

        def get_metadata_routing(self) -> Any:
            """The metadata routing of the estimator."""

        def set_fit_request(self, **requests: bool | str | None) -> Self:
            """Request metadata for ``fit``."""

        def set_partial_fit_request(self, **requests: bool | str | None) -> Self:
            """Request metadata for ``partial_fit``."""

        def set_score_request(self, **requests: bool | str | None) -> Self:
            """Request metadata for ``score``."""

        def _validate_params(self) -> None: ...

        def __sklearn_tags__(self) -> Any: ...

        def __getstate__(self) -> dict[str, Any]: ...

        def __setstate__(self, state: dict[str, Any]) -> None: ...

        def __repr__(self, N_CHAR_MAX: int = 700) -> str: ...

        def _html_repr(self) -> str: ...

    class ClassifierMixin:
        """Accuracy as the score."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Accuracy on rows with labels."""

    class TransformerMixin:
        """Fit and transform."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """Fit to the rows, then transform them."""

        def set_output(self, *, transform: Any = None) -> Self:
            """Choose the form of the result of ``transform``."""

    class ClassNamePrefixFeaturesOutMixin:
        """Names of the columns of the result of ``transform``."""

        def get_feature_names_out(self, input_features: Any = None) -> Array:
            """The lower-case name of the class with the number of each column."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
