"""The setting that would act on a finding, for the estimator that was checked."""

from __future__ import annotations

from suffice.diagnostics.columns import Column
from suffice.exceptions import Argument, Estimator, Sentence, short
from suffice.learning.fitted import Fitted

__all__ = [
    "advice_for_covariances",
    "advice_for_dependence",
    "advice_for_duplicate",
    "advice_for_missing",
    "advice_for_shape",
]

TABLES = ("NaiveBayes", "GenerativeEnsemble")  # estimators with a family for each column
DROP_INS = {
    "GaussianNB": "gaussian",
    "BernoulliNB": "bernoulli",
    "CategoricalNB": "categorical",
    "PoissonNB": "poisson",
}
LEVELS = ("categorical", "bernoulli")
WEIGHTS = Argument("calibrate", "columns")


def advice_for_duplicate(fitted: Fitted, column: Column) -> Sentence:
    """Ignore a column that repeats another."""
    if fitted.specification.estimator in TABLES and not column.joint:
        return "Ignore it with ", Argument("families", {column.name: None}), "."
    return (f"Remove column {short(column.name)} from the rows.",)


def advice_for_dependence(fitted: Fitted, first: Column, second: Column) -> Sentence:
    """Model the dependence of two columns, or discount it."""
    specification = fitted.specification
    estimator, given = specification.estimator, specification.parameters()
    if estimator == "GaussianDiscriminant":
        return "Model it with ", Argument("shape", "full"), "."
    if estimator in DROP_INS:
        family = DROP_INS[estimator]
        joint = ("Use ", Estimator("GaussianDiscriminant"), ", or ") if family == "gaussian" else ("Use ",)
        return *joint, Estimator("NaiveBayes"), " with ", Argument("families", family), " and ", WEIGHTS, "."
    weights = () if given.get("calibrate") == "columns" else (WEIGHTS,)
    block = _block_family(first, second, given)
    options: list[Argument] = [] if block is None else [Argument("families", {(first.name, second.name): block})]
    if block is not None and given.get("blocks") is None and estimator == "NaiveBayes":
        options.append(Argument("blocks", "auto"))
    options += weights
    if not options:
        return "The weights of ", WEIGHTS, " already discount it."
    return (
        ("Model it with ", *_alternatives(options), ".") if block is not None else ("Discount it with ", WEIGHTS, ".")
    )


def _block_family(first: Column, second: Column, given: dict[str, object]) -> str | None:
    """The family of a block of the two columns; None if there is none."""
    if first.joint or second.joint:
        return None
    if first.family == second.family == "gaussian":
        return "multivariate_gaussian"
    tables = given.get("missing", "ignore") == "ignore" and given.get("unseen") != "share"
    return "joint_table" if tables and first.family in LEVELS and second.family in LEVELS else None


def _alternatives(options: list[Argument]) -> Sentence:
    out: list[str | Argument] = [options[0]]
    for option in options[1:]:
        out += [" or ", option]
    return tuple(out)


def advice_for_covariances(fitted: Fitted, names: tuple[object, ...], *, diagonal: bool) -> Sentence:
    """Own covariances for each class, mixed with the shared one as far as held-out rows ask for it."""
    specification = fitted.specification
    own, mixed = Argument("covariance", "own"), Argument("mix", "auto")
    if specification.estimator == "GaussianDiscriminant":
        given = specification.parameters()
        if given["covariance"] == "shared" and given["estimation"] in ("map", "bayes"):  # a prior does what a mix does
            return "Let each class have its own with ", own, "."
        if given["covariance"] == "shared":
            return "Let held-out rows choose between own covariances and a shared one with ", own, " and ", mixed, "."
        if given["mix"] == "auto":
            return ("Held-out log-loss has chosen a shared one, so own ones would not predict better.",)
        return "Let held-out rows choose between own covariances and a shared one with ", mixed, "."
    if specification.estimator == "LinearDiscriminantAnalysis":
        return "Use ", Estimator("GaussianDiscriminant"), " with ", own, " and ", mixed, "."
    if diagonal:
        return "Let each class have its own with ", Argument("families", dict.fromkeys(names, "gaussian")), "."
    return (f"Let each class have its own with families={{{names!r}: MultivariateGaussian('own')}}.",)


def advice_for_shape(fitted: Fitted, column: Column, better: str | None) -> Sentence:
    """Another family, or probabilities that are calibrated."""
    estimator = fitted.specification.estimator
    if estimator in TABLES and not column.joint:
        if better is not None:
            return "It fits better with ", Argument("families", {column.name: better}), "."
        return (
            "No other family fits held-out rows better; ",
            Argument("families", {column.name: "histogram"}),
            " follows any shape with enough rows.",
        )
    if better is None:
        return _calibrated(fitted)
    first = "Take its logarithm, or " if better == "log_normal" else ""
    family = Argument("families", {column.name: better})
    if estimator in TABLES:
        start = f"{first}model it outside its block with "
        return start[0].upper() + start[1:], family, "."
    return (
        (f"{first}use " if first else f"{better} fits it better: use "),
        Estimator("NaiveBayes"),
        " with ",
        family,
        ".",
    )


def _calibrated(fitted: Fitted) -> Sentence:
    """Correct the probabilities; the drop-ins have no calibration."""
    estimator, start = fitted.specification.estimator, "No other family fits held-out rows better; "
    setting = Argument("calibrate", True)
    if fitted.specification.calibrates:
        return (f"{start}the model already calibrates its probabilities.",)
    if estimator in ("GaussianDiscriminant", "NaiveBayes"):
        return f"{start}correct the probabilities with ", setting, "."
    ours = "GaussianDiscriminant" if estimator.endswith("Analysis") else "NaiveBayes"
    return f"{start}correct the probabilities: ", Estimator(ours), " with ", setting, "."


def advice_for_missing(fitted: Fitted, column: Column) -> Sentence:
    """Count a missing cell as a level, or as a bin.

    ``missing="category"`` applies to all columns of a model, and joint tables do not accept it.
    """
    estimator = fitted.specification.estimator
    category = Argument("missing", "category")
    tables = any(block.family.name == "joint_table" for block in fitted.blocks)
    if estimator == "NaiveBayes" and not tables and column.family == "categorical":
        return "Count a missing cell as a level with ", category, "."
    if estimator == "NaiveBayes" and not tables and column.family == "bernoulli":
        family = Argument("families", {column.name: "categorical"})
        return "Count a missing cell as a level with ", family, " and ", category, "."
    if estimator in ("CategoricalNB", "BernoulliNB"):
        start = "Count a missing cell as a level: "
        return start, Estimator("NaiveBayes"), " with ", Argument("families", "categorical"), " and ", category, "."
    ensemble, dependence = Estimator("GenerativeEnsemble"), Estimator("AveragedDependence")
    return "Use ", ensemble, " or ", dependence, ", which count missing cells as a bin."
