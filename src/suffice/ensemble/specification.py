"""How `GenerativeEnsemble` learns: blocks of several members over the same columns, and a weight for each part.

    p(y | x) ∝ p(y) exp(b_y + Σ_j w_j log p(x_j | y) + Σ_m w_m log p_m(x | y)),    w ≥ 0

The first sum is naive Bayes, a part for each column; the second has a part for each other member. All members are
blocks of one model, so their statistics add, and `suffice.learning.column_weights` fits the weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from suffice import bayes
from suffice.averaged_dependence.specification import check_same_bins, given_bins, given_parents
from suffice.ensemble.gaussian_member import GaussianMember
from suffice.exceptions import Choices, Estimator, InputError, SingularCovarianceWarning
from suffice.families import AveragedDependence, Text
from suffice.learning.best_families import LARGEST_SQUARED
from suffice.learning.calibration import Calibration, fit_temperature, has_evidence
from suffice.learning.column_weights import fit_column_weights, some_rows
from suffice.learning.family_choice import BEST, CHOSEN_KINDS, Families
from suffice.learning.fitted import Fitted
from suffice.learning.hold_out import HoldOut
from suffice.learning.specification import HeldOutPosterior, Solution, specification_named
from suffice.learning.tunable import Calibrate, with_data_prior
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate, Model
from suffice.model.parts import part_names, parts_of_blocks
from suffice.naive_bayes.specification import NaiveBayesSpecification
from suffice.numerics.types import Array, Codes, Float, Index
from suffice.sources.tables import columns_of
from suffice.statistics import Membership, PairCounts
from suffice.statistics.classes import present_rows
from suffice.tables import Table
from suffice.tables.table import Schema

__all__ = ["EnsembleSpecification", "averaged_dependence_of"]

MOST_OWN, MOST_SHARED = 128, 2000  # columns of a covariance matrix of each class, and of all classes
MOST_BY_SUBTRACTION = 100  # rows and parts, if parts without a closed form hold out rows one by one
FEWEST_CELLS = 256  # log-likelihoods that a row counts as, at least: weights are fitted to 2¹³ rows at most
WEIGHTED_WORDS = Text(
    smoothing=0.03,
    max_words=None,
    idf=True,
    min_length=1,
    ngram_range=(1, 2),
    punctuation=True,
    characters=(4, 4),
    weighting="unit",
)
TEXT_MEMBERS = {
    "weighted words": WEIGHTED_WORDS,
    "complement words": replace(WEIGHTED_WORDS, event="normalised_complement"),
    "present words": Text("bernoulli", smoothing=0.1, max_words=None, min_length=1, punctuation=True),
}
N_FOLDS = 3  # of held-out rows that are scored
RIDGE = 3.0  # penalty of Σ w²: few rows do not justify the evidence of several members


def _has_huge_cut(cuts: Mapping[Any, Any] | None, name: object) -> bool:
    """Whether the given cuts of a column show that its squares overflow."""
    given = cuts.get(name) if isinstance(cuts, Mapping) else None
    return isinstance(given, tuple | list) and any(abs(cut) > LARGEST_SQUARED for cut in given)


class _HeldOut(NamedTuple):
    """Parts of rows under models without them (1 + J, n, K), with the positions, classes and weights of the rows."""

    rows: Index
    parts: Float
    codes: Codes
    weights: Float | None
    rule: str

    def take(self, at: Index) -> _HeldOut:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[at]
        return _HeldOut(self.rows[at], self.parts[:, at], self.codes[at], weights, self.rule)


@dataclass(frozen=True, eq=False)
class Combination:
    """The parameters of all members. The density of rows is that of naive Bayes.

    Attributes
    ----------
    combined : Estimate
        All blocks.
    estimate : Estimate
        The blocks of naive Bayes.
    """

    combined: Estimate
    estimate: Estimate

    @classmethod
    def of(cls, combined: Estimate) -> Combination:
        """The combination of all blocks."""
        pairs = zip(combined.blocks, combined.parameters, strict=True)
        own = [(block, parameters) for block, parameters in pairs if not block.member]
        blocks, parameters = (tuple(each[i] for each in own) for i in (0, 1))
        return cls(combined, replace(combined, blocks=blocks, parameters=parameters))

    def joint(self, x: Table) -> Float:
        """log p(x, y) of each row and class (n, K), by naive Bayes."""
        return self.estimate.joint(x)

    def relative_joint(self, x: Table) -> Float:
        """log p(x, y) of each row and class (n, K), by naive Bayes, up to a term that all classes share."""
        return self.estimate.relative_joint(x)

    def write_posterior(self, x: Table, method: str, out: Array | None = None) -> Array | None:
        """None: the scores of the members are weighted first."""
        return None


def averaged_dependence_of(model: Model) -> tuple[tuple[object, ...], PairCounts] | None:
    """Columns and statistic of averaged dependence; None if the model has fewer than two columns of cells."""
    for block, statistic in zip(model.blocks, model.statistics, strict=True):
        if block.member and isinstance(statistic, PairCounts):
            return tuple(block.names), statistic
    return None


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleSpecification(NaiveBayesSpecification):
    """The parameters of `GenerativeEnsemble`."""

    estimator: ClassVar[str] = "GenerativeEnsemble"
    begins_with_fit: ClassVar[bool] = True
    choices: ClassVar[Choices] = Choices("like", ("families", "cuts", "parents"))
    calibrate: ClassVar[Calibrate] = "columns"  # type: ignore[misc]
    blocks: ClassVar[str | None] = None  # type: ignore[misc]
    estimation: ClassVar[str | None] = "map"  # type: ignore[misc]
    smoothing: ClassVar[float | str | None] = None  # type: ignore[misc]

    families: Families = "best"
    n_bins: int = 5
    max_parents: int = 8
    cuts: Mapping[Any, Any] | None = None
    parents: Sequence[Any] | None = None

    def families_of(self, schema: Schema, *, chosen: bool = True) -> Families:
        """The families of these columns; the data choose that of a column that a mapping does not name.

        After the choice, a column without a score has the family of its type, as in files of earlier versions.
        """
        if not isinstance(self.families, Mapping):
            return self.families
        names, scores = list(schema.names), schema.scores
        named = {name for key in self.families for name in columns_of(key, names)}
        rest = [(j, name) for j, name in enumerate(names) if name not in named]
        tried = {name for j, name in rest if scores is not None and not np.isnan(scores.log_loss[j]).all()}
        return {**self.families, **{name: BEST if name in tried or not chosen else "auto" for _, name in rest}}

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """The blocks of naive Bayes, then those of the other members, which read the same columns."""
        own = super().blocks_of(schema, tuning)
        read = {j: block for block in own for j in block.positions(len(schema)) if block.family.reads != "documents"}
        cells, numbers = sorted(read), self._numbers(schema, read)
        blocks = list(own)
        if len(cells) > 1:
            blocks.append(self._averaged(schema, cells))
        for covariance, most in (("own", MOST_OWN), ("shared", MOST_SHARED)):
            if 1 < len(numbers) <= most:
                family = GaussianMember(covariance, shrinkage="oas")  # type: ignore[arg-type]
                names = [schema.names[j] for j in numbers]
                blocks.append(Block(family, numbers, names, chosen=True, member=f"{covariance} covariance"))
        for block in own:
            if block.family.reads == "documents":
                for what, words in TEXT_MEMBERS.items():
                    blocks.append(Block(words, block.columns, block.names, member=f"{what} of {block.names[0]}"))
        return tuple(blocks)

    def _averaged(self, schema: Schema, cells: list[int]) -> Block:
        """Averaged dependence of the columns at these positions."""
        names = [schema.names[j] for j in cells]
        family = AveragedDependence(
            n_bins=self.n_bins,
            max_parents=self.max_parents,
            bins=given_bins(self.cuts, names),
            parents=given_parents(self.parents, names),
            keep_ends=False,  # samples are those of naive Bayes
        )
        return Block(family, cells, names, member="averaged dependence")

    def _numbers(self, schema: Schema, read: Mapping[int, Block]) -> list[int]:
        """Columns of numbers with finite squares, by the scores of their families or by given cuts."""
        scores = schema.scores
        refused = np.zeros(len(schema), dtype=bool)
        if scores is not None and "gaussian" in scores.names:
            tried = ~np.isnan(scores.log_loss).all(axis=1)
            refused = tried & np.isnan(scores.log_loss[:, scores.names.index("gaussian")])
        return [
            j
            for j in sorted(read)
            if schema.kinds[j] in CHOSEN_KINDS and not refused[j] and not _has_huge_cut(self.cuts, schema.names[j])
        ]

    # ------------------------------------------------------------------ weights

    def fit_calibration(self, fitted: Fitted, table: Table, members: Membership, *, folds: bool) -> Calibration:
        """Fit the weights of all parts to held-out rows: some of them if there are many."""
        found = self._held_out(with_data_prior(fitted), table, members)
        return replace(self._weights(fitted, found), rule=found.rule)

    def held_out_posterior(self, fitted: Fitted, table: Table, members: Membership) -> HeldOutPosterior:
        """p(y | x) of held-out rows, with weights that were fitted to other rows: those of two of three folds."""
        found = self._held_out(with_data_prior(fitted), table, members)
        estimate = fitted.estimate
        out = np.tile(estimate.prior / estimate.prior.sum(), (len(found.rows), 1))
        folds = np.empty(len(found.rows), dtype=np.int64)
        folds[np.argsort(found.codes, kind="stable")] = np.arange(len(found.rows)) % N_FOLDS
        shift = estimate.log_prior - bayes.log_prior(fitted.model.class_prior())
        for fold in range(N_FOLDS):
            test = np.flatnonzero(folds == fold)
            learned = self._weights(fitted, found.take(np.flatnonzero(folds != fold)))
            parts = found.parts[:, test]
            with np.errstate(invalid="ignore"):
                scores = parts[0] + sum(w * part for w, part in zip(learned.weights, parts[1:], strict=True) if w > 0)
            known = np.isfinite(scores).any(axis=1)
            mapped = learned.applied(scores[known] + shift, fitted.classes, estimate.prior)
            out[test[known]] = bayes.posterior(mapped)
        return HeldOutPosterior(found.rows, out, found.rule)

    def _held_out(self, fitted: Fitted, table: Table, members: Membership) -> _HeldOut:
        """The parts of rows under models without them; of evenly spaced rows if there are many."""
        names = part_names(fitted.blocks)
        here = present_rows(members.codes, members.weights)
        rows = np.arange(len(members)) if here is None else np.flatnonzero(here)
        rows = some_rows(rows, max(len(names) * len(fitted.classes), FEWEST_CELLS))
        table, members = table.take(rows), members.take(rows)
        few = len(names) <= MOST_BY_SUBTRACTION  # otherwise each row takes as long as a fold
        hold_out = HoldOut(fitted.model, table, members, MOST_BY_SUBTRACTION if few else 0)
        used = np.setdiff1d(np.arange(len(rows)), hold_out.only_rows())
        parts = hold_out.parts(fitted, used, choose_again=True)
        usable = np.isfinite(parts.sum(axis=0)).any(axis=1)
        used, part = used[usable], members.take(used[usable])
        assert part.codes is not None
        weights = part.weights
        if weights is not None and 0 < weights.sum() < len(weights):
            weights = weights * (len(weights) / weights.sum())  # their scale must not weaken the evidence of the rows
        return _HeldOut(rows[used], parts[:, usable], part.codes, weights, hold_out.name)

    def _weights(self, fitted: Fitted, found: _HeldOut) -> Calibration:
        """Weights that are fitted to held-out rows with evidence; without such rows, those of naive Bayes alone."""
        model, names = fitted.model, part_names(fitted.blocks)
        found = found.take(np.flatnonzero(has_evidence(found.parts.sum(axis=0), found.parts[0])))
        if not len(found.rows):
            alone = np.zeros(len(names))
            for block, at in zip(fitted.blocks, parts_of_blocks(fitted.blocks), strict=True):
                alone[at] = 0.0 if block.member else 1.0
            none = np.zeros(len(model.classes))
            identity = Calibration(model.classes, model.class_prior(), 1.0, none, keeps_prior=True)
            return replace(identity, columns=names, weights=alone)
        posterior = bayes.log_posterior(found.parts.sum(axis=0))
        temperature = fit_temperature(posterior, found.codes, found.weights, model.classes, model.class_prior())
        return fit_column_weights(
            found.parts,
            found.codes,
            found.weights,
            temperature,
            names,
            offsets=self.offset_precision,
            ridge=RIDGE,
        )

    # ------------------------------------------------------------------ the contract

    def check_density(self, verb: str) -> None:
        """Raise for unlabelled rows: the weights are fitted to held-out rows of the labelled ones."""
        if verb == "learning from unlabelled rows":
            raise InputError(
                f"{self.estimator} does not learn from unlabelled rows: its weights need labels. Use ",
                Estimator("NaiveBayes"),
                ".",
                argument="unlabelled",
            )

    def check_update(self, fitted: Fitted | None) -> None:
        """The first batch is fitted, so it needs nothing before it."""
        if fitted is not None:
            super().check_update(fitted)

    def check_merge(self, mine: Fitted, theirs: Fitted) -> None:
        """Raise if naive Bayes cannot be merged, or if averaged dependence has different bins or parents."""
        super().check_merge(mine, theirs)
        first, second = averaged_dependence_of(mine.model), averaged_dependence_of(theirs.model)
        if first is not None and second is not None:
            check_same_bins(*first, *second, self.choices, mine.layout.schema.times)

    def solve(self, fitted: Fitted) -> Solution:
        """Parameters of all members."""
        self.check_chosen(fitted.tuning)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SingularCovarianceWarning)  # other members use the column
            return Combination.of(fitted.current_model.estimate(self.prior))

    def combined(self, fitted: Fitted) -> Estimate:
        """Parameters of all members."""
        solution = fitted.solution
        assert isinstance(solution, Combination)
        return solution.combined
