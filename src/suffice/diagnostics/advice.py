"""The setting that would act on a finding, for the estimator that was checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from suffice.diagnostics.columns import Column
from suffice.exceptions import Argument, Estimator, Sentence, short
from suffice.families import MultivariateGaussian
from suffice.learning.fitted import Fitted

__all__ = [
    "OwnCovariance",
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
MOST_BLOCK = 8  # columns of a block that is advised by name
WEIGHTS, OWN = Argument("calibrate", "columns"), Argument("covariance", "own")
DISCOUNTED = "The weights of ", WEIGHTS, " already discount it."


class OwnCovariance(Argument):
    """Blocks of columns whose classes have their own covariances; the command can only search for them.

    >>> str(OwnCovariance("families", {("a", "b"): MultivariateGaussian("own")}))
    "families={('a', 'b'): MultivariateGaussian(covariance='own')} (from suffice.families)"
    """

    def __str__(self) -> str:
        return f"{super().__str__()} (from suffice.families)"


def advice_for_duplicate(fitted: Fitted, column: Column) -> Sentence:
    """Ignore a column that repeats another."""
    if fitted.specification.estimator in TABLES and not column.joint:
        return "Ignore it with ", Argument("families", {column.name: None}), "."
    return (f"Remove column {short(column.name)} from the rows.",)


def advice_for_dependence(
    fitted: Fitted, columns: Sequence[Column], *, costs: bool, unequal: bool = False, curved: bool = False
) -> Sentence:
    """Model the dependence of columns, or discount it.

    Parameters
    ----------
    columns : sequence of Column
    costs : bool
        Whether double counting costs log-loss, or may do so.
    unequal : bool
        Whether the classes have different correlations.
    curved : bool
        Whether correlations do not show the dependence.
    """
    specification = fitted.specification
    estimator, given = specification.estimator, specification.parameters()
    if estimator == "GaussianDiscriminant":
        own = (" and ", OWN) if unequal and given["covariance"] == "shared" else ()
        return "Model it with ", Argument("shape", "full"), *own, "."
    if estimator in DROP_INS:
        return _instead_of(DROP_INS[estimator], costs=costs, unequal=unequal)
    options = _block_options(columns, estimator, given, unequal=unequal, curved=curved)
    if given.get("calibrate") == "columns":
        return ("Model it with ", *_alternatives(options), ".") if options else (*DISCOUNTED,)
    discounts = [WEIGHTS] if costs else []
    if options:
        return "Model it with ", *_alternatives([*options, *discounts]), "."
    return ("Discount it with ", WEIGHTS, ".") if costs else ("It costs no log-loss, so the model can stay as it is.",)


def _instead_of(family: str, *, costs: bool, unequal: bool) -> Sentence:
    """Other estimators than one of scikit-learn's names."""
    joint: Sentence = (Estimator("AveragedDependence"), ", which models pairs of columns")
    if family == "gaussian":
        joint = (Estimator("GaussianDiscriminant"), *((" with ", OWN) if unequal else ()))
    if not costs:
        return "Use ", *joint, "."
    weighted = Estimator("NaiveBayes"), " with ", Argument("families", family), " and ", WEIGHTS
    return ("Use ", *joint, ", or ", *weighted, ".") if family == "gaussian" else ("Use ", *weighted, ".")


def _block_options(
    columns: Sequence[Column], estimator: str, given: Mapping[str, object], *, unequal: bool, curved: bool
) -> list[Argument]:
    """Settings that put the columns into one block; the search for blocks first where it can do better."""
    if any(column.joint for column in columns):
        return []
    names = tuple(column.name for column in columns)
    numbers = all(column.family == "gaussian" for column in columns) and not curved
    levels = all(column.family in LEVELS for column in columns)
    tables = given.get("missing", "ignore") == "ignore" and given.get("unseen") != "share"
    search = [Argument("blocks", "auto")] if given.get("blocks") is None and estimator == "NaiveBayes" else []
    if numbers and unequal:
        return [*search, OwnCovariance("families", {names: MultivariateGaussian("own")})]
    if numbers or (levels and tables and len(columns) == 2):
        block = Argument("families", {names: "multivariate_gaussian" if numbers else "joint_table"})
        return [*search, block] if len(columns) > MOST_BLOCK else [block, *search]
    search = search if levels and tables else []
    whole = [Argument("families", {names: "averaged_dependence"})] if len(columns) <= MOST_BLOCK else []
    return [*search, *whole]


def _alternatives(options: list[Argument]) -> Sentence:
    out: list[str | Argument] = [options[0]]
    for option in options[1:]:
        out += [" or ", option]
    return tuple(out)


def advice_for_covariances(fitted: Fitted, names: tuple[object, ...], *, diagonal: bool) -> Sentence:
    """Own covariances for each class, or a mix with the shared one that held-out rows choose."""
    specification = fitted.specification
    own, mixed = OWN, Argument("mix", "auto")
    if specification.estimator == "GaussianDiscriminant":
        given = specification.parameters()
        if given["covariance"] == "shared" and given["estimation"] in ("map", "bayes"):  # a prior does what a mix does
            return "Give each class its own covariance with ", own, "."
        if given["covariance"] == "shared":
            return "Choose between own covariances and a shared one on held-out rows, with ", own, " and ", mixed, "."
        if given["mix"] == "auto":
            return (
                "A shared covariance has the lowest held-out log-loss, so own covariances would not predict better.",
            )
        return "Choose between own covariances and a shared one on held-out rows, with ", mixed, "."
    if specification.estimator == "LinearDiscriminantAnalysis":
        return "Use ", Estimator("GaussianDiscriminant"), " with ", own, " and ", mixed, "."
    if diagonal:
        return "Give each class its own variances with ", Argument("families", dict.fromkeys(names, "gaussian")), "."
    own_block = OwnCovariance("families", {names: MultivariateGaussian("own")})
    return "Give each class its own covariance with ", own_block, "."


def advice_for_shape(fitted: Fitted, column: Column, better: str | None) -> Sentence:
    """Another family, or probabilities that are calibrated."""
    estimator = fitted.specification.estimator
    if estimator in TABLES and not column.joint:
        if better is not None:
            return "It fits better with ", Argument("families", {column.name: better}), "."
        return (
            "No other family fits held-out rows better; ",
            Argument("families", {column.name: "histogram"}),
            " fits any shape, given enough rows.",
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
