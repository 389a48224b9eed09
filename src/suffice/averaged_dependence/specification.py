"""How `AveragedDependence` learns: one block of all columns, in bins."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from suffice.exceptions import Choices, InputError, MergeError, SufficeWarning, did_you_mean, listed, warn_user
from suffice.families import AveragedDependence as Family
from suffice.learning.column_checks import check_merge, warn_about_empty
from suffice.learning.fitted import Fitted
from suffice.learning.specification import specification_named
from suffice.learning.tunable import SMOOTHING_PATH, TunableSpecification
from suffice.learning.tuning_result import Tuning, is_auto
from suffice.model import Block, Model
from suffice.sources.row_reader import RowLayout
from suffice.sources.tables import TableReader
from suffice.statistics import PairCounts
from suffice.statistics.bins import Bins
from suffice.tables import Table
from suffice.tables.table import Schema
from suffice.tables.times import time_text

__all__ = ["AveragedDependenceSpecification", "check_same_bins", "given_bins", "given_parents", "pair_counts"]

FEW_ROWS = 20  # for each bin: quantiles of fewer rows are uncertain


def pair_counts(model: Model) -> PairCounts:
    """The statistic of the only block."""
    statistic = model.statistics[0]
    assert isinstance(statistic, PairCounts)
    return statistic


class CellReader(TableReader):
    """Reads rows with columns of any type; a column that is empty at first may hold anything later."""

    def given_numbers(self, names: Sequence[str]) -> list[str]:
        """Columns that have cuts."""
        cuts = self.families if isinstance(self.families, Mapping) else {}
        return [name for name in names if not isinstance(cuts.get(name), str | dict | None)]

    def ignored(self, layout: RowLayout | None) -> list[object]:
        """No column is ignored."""
        return []

    def _check_empty(self, table: Table, layout: RowLayout) -> None:
        """All values of a column without values in the first batch share a bin."""


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class AveragedDependenceSpecification(TunableSpecification):
    """The parameters of `AveragedDependence`."""

    estimator: ClassVar[str] = "AveragedDependence"
    stored: ClassVar[tuple[str, ...]] = ("tuning", "calibration", "form")
    choices: ClassVar[Choices] = Choices("like", ("cuts", "parents"))

    n_bins: int = 5
    smoothing: float | str = 5.0
    max_parents: int = 50
    max_levels: int = 100
    cuts: Mapping[Any, Any] | None = None
    parents: Sequence[Any] | None = None

    @cached_property
    def reader(self) -> TableReader:
        """Rows are tables with columns of any type."""
        return CellReader(self.estimator, self.cuts)

    @property
    def accepts_missing(self) -> bool:
        """A missing cell is in a bin of its own."""
        return True

    def paths(self) -> dict[str, Sequence[float]]:
        """Pseudo-rows to choose from, if ``smoothing`` is "auto"."""
        return {"smoothing": SMOOTHING_PATH} if is_auto(self.smoothing) else {}

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block of all columns."""
        names = list(schema.names)
        family = Family(
            n_bins=self.n_bins,
            smoothing=self.setting("smoothing", 5.0, tuning),
            max_parents=self.max_parents,
            max_levels=self.max_levels,
            bins=given_bins(self.cuts, names),
            parents=given_parents(self.parents, names),
        )
        return (Block(family, slice(None), schema.names),)

    def check_update(self, fitted: Fitted | None) -> None:
        """Raise if a parameter that chooses bins or parents was changed after the first rows chose them."""
        super().check_update(fitted)
        if fitted is None or not pair_counts(fitted.model).bins:
            return
        before = fitted.model.blocks[0].family  # that of the first rows
        for name in ("n_bins", "max_parents", "max_levels"):
            if getattr(before, name) != getattr(self, name):
                raise InputError(
                    f"{name} was {getattr(before, name)} when bins and parents were chosen; now it is "
                    f"{getattr(self, name)!r:.80}. Chosen bins and parents stay: set it back, or call fit.",
                    argument=name,
                )

    def check_merge(self, mine: Fitted, theirs: Fitted) -> None:
        """Raise if a column has different kinds or bins in the two models."""
        check_merge(mine.layout.schema, mine.model, theirs.layout.schema, theirs.model)
        mine_pairs, their_pairs = pair_counts(mine.model), pair_counts(theirs.model)
        names, times = mine.layout.names, mine.layout.schema.times
        check_same_bins(names, mine_pairs, theirs.layout.names, their_pairs, self.choices, times)

    def warn_about_columns(self, model: Model, table: Table, layout: RowLayout) -> None:
        """Warn about columns without values."""
        warn_about_empty(model, table)

    def warn_about_first_batch(self, model: Model, layout: RowLayout) -> None:
        """Warn if the cuts were chosen by few rows."""
        statistic, given = pair_counts(model), self.cuts or {}
        n_rows = float(statistic.weight.sum())
        chosen = [
            name
            for name, bins in zip(layout.names, statistic.bins, strict=False)
            if bins.cuts is not None and given.get(name) is None
        ]
        if chosen and n_rows < FEW_ROWS * self.n_bins:
            warn_user(
                SufficeWarning(
                    f"The cuts of {listed(chosen)} were chosen by the first batch of {n_rows:.6g} rows and will not "
                    f"change. Start with a batch of at least {FEW_ROWS * self.n_bins} rows that are like later ones, "
                    "or set the cuts: ",
                    self.choices,
                    ".",
                    column=chosen[0],
                )
            )


def check_same_bins(
    names: Sequence[object],
    mine: PairCounts,
    other_names: Sequence[object],
    theirs: PairCounts,
    choices: Choices,
    times: Collection[object] = (),
) -> None:
    """Raise `MergeError` if a column has different bins in two models, or the parents differ.

    The error shows the cuts of columns among ``times`` as times.
    """
    names, others = list(names), list(other_names)
    there = dict(zip(others, theirs.bins, strict=False))
    for name, bins in zip(names, mine.bins, strict=False):
        if there.get(name, bins) != bins:
            first, second = (_shown(each, times=name in times) for each in (bins, there[name]))
            raise MergeError(
                f"Column {name!r} is divided at {first} in the first model and at {second} in the second, and counts "
                "of different bins cannot be added. Fit the second model with the cuts of the first: ",
                choices,
                ".",
                column=name,
                argument="cuts",
            )
    parents, other_parents = {names[i] for i in mine.parents}, {others[i] for i in theirs.parents}
    if mine.bins and theirs.bins and parents != other_parents and set(names) == set(others):
        only = sorted(parents ^ other_parents, key=names.index)
        raise MergeError(
            f"Only one of the two models counts pairs with {listed(only)}. Fit the second model with the parents "
            "of the first: ",
            choices,
            ".",
            argument="parents",
        )


def given_bins(cuts: Mapping[Any, Any] | None, names: Sequence[object]) -> tuple[Bins | None, ...] | None:
    """The bins that a parameter ``cuts`` gives to some columns; None without any."""
    if cuts is None:
        return None
    if not isinstance(cuts, Mapping):
        raise InputError(
            f"cuts must be a mapping of columns to their cuts, such as the cuts_ of a fitted model; got {cuts!r:.80}.",
            argument="cuts",
        )
    _check_known(list(cuts), names, "cuts")
    given = {name: None if each is None else Bins.of_setting(each, name) for name, each in cuts.items()}
    return tuple(given.get(name) for name in names)


def given_parents(parents: Sequence[Any] | None, names: Sequence[object]) -> tuple[int, ...] | None:
    """The positions of the columns that a parameter ``parents`` names; None without any."""
    if parents is None:
        return None
    chosen = list(parents) if not isinstance(parents, str) else [parents]
    _check_known(chosen, names, "parents")
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError(
            f"parents must name at least one column, and each once; got {listed(chosen) or 'none'}.", argument="parents"
        )
    return tuple(sorted(list(names).index(name) for name in chosen))


def _check_known(given: Sequence[object], names: Sequence[object], argument: str) -> None:
    unknown = [name for name in given if name not in names]
    if unknown:
        hint = did_you_mean(unknown[0], names)
        raise InputError(
            f"{argument} names the column {listed(unknown)}, which has no bins here.{hint} The columns in bins are "
            f"{listed(names)}.",
            argument=argument,
            column=unknown[0],
        )


def _shown(bins: Bins, *, times: bool) -> str:
    if bins.cuts is not None and times:
        return ", ".join(map(time_text, bins.cuts[:6])) + (", …" if len(bins.cuts) > 6 else "")
    if bins.cuts is not None:
        return listed([float(f"{cut:.6g}") for cut in bins.cuts], 6)
    return "its levels" if bins.kept is None else f"{len(bins.kept)} levels and all others"
