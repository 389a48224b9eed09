"""A fitted model as an equal model of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.exceptions import Argument, Estimator, InputError, listed
from suffice.export.scikit_learn.columns import COLUMNS
from suffice.export.scikit_learn.discriminants import discriminant_model
from suffice.export.scikit_learn.drop_ins import DROP_INS, drop_in_model
from suffice.export.scikit_learn.reasons import PAGE, no_class, start_of_reason
from suffice.export.scikit_learn.texts import text_pipeline
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import ScoringRule

__all__ = ["scikit_learn_model"]


def scikit_learn_model(model: Any) -> Any:
    """An equal fitted model of scikit-learn; see `GenerativeClassifier.to_sklearn`."""
    fitted: Fitted = model.fitted_
    out = drop_in_model(model) if fitted.specification.estimator in DROP_INS else _of_family(fitted)
    if hasattr(out, "steps"):
        return out
    out.classes_ = np.array(fitted.classes.labels)
    out.n_features_in_ = fitted.layout.n_columns
    if fitted.layout.feature_names is not None:
        out.feature_names_in_ = np.array(fitted.layout.feature_names, dtype=object)
    return out


def _of_family(fitted: Fitted) -> Any:
    """The model of the only family of all columns."""
    blocks = fitted.combined.blocks
    families = list(dict.fromkeys(block.family.name for block in blocks))
    if len(blocks) > 1:
        what = f"its columns have the families {listed(families)}" if len(families) > 1 else "it has several blocks"
        raise no_class(fitted, f"{what}; scikit-learn's classes have one for all columns.")
    family = families[0]
    if family not in ("text", "multivariate_gaussian", *COLUMNS):
        raise no_class(fitted, f"scikit-learn has no class for the family {family!r}.")
    if fitted.specification.calibrates:
        raise no_class(fitted, "its probabilities are calibrated. Fit with ", Argument("calibrate", False), ".")
    try:
        rule = ScoringRule.of(fitted)
    except InputError as error:  # no other program can score rows either
        raise error.restated(start_of_reason(fitted), *error.sentence, page=PAGE) from None
    if [column.position for column in rule.columns] != list(range(fitted.layout.n_columns)):
        raise no_class(fitted, "it ignores a column. Fit the model without this column.")
    if family == "text":
        if fitted.specification.estimator != "TextNaiveBayes":
            advice = " to the texts alone."
            raise no_class(
                fitted, "it reads texts from a column of a table. Fit a ", Estimator("TextNaiveBayes"), advice
            )
        return text_pipeline(fitted, rule)
    if family == "multivariate_gaussian":
        return discriminant_model(fitted)
    return COLUMNS[family](fitted)
