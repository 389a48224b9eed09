"""How `NaiveBayes` learns: one family for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from suffice.exceptions import Argument, Choices, InputError, SufficeWarning, did_you_mean, listed, warn_user
from suffice.families import Family
from suffice.learning.best_families import best_columns, check_same_choice, family_scores, names_best
from suffice.learning.column_checks import (
    check_levels,
    check_merge,
    warn_about_empty,
    warn_about_levels,
    warn_about_words,
)
from suffice.learning.family_choice import BEST, POLICIES, Families, chosen_blocks, family_of
from suffice.learning.fitted import Fitted
from suffice.learning.found_blocks import check_same_blocks, found_blocks
from suffice.learning.specification import specification_named
from suffice.learning.tunable import SMOOTHING_PATH, TunableSpecification
from suffice.learning.tuning_result import Tuning, is_auto
from suffice.model import Block, Model
from suffice.sources.row_reader import RowLayout
from suffice.sources.tables import TableReader
from suffice.statistics import Membership
from suffice.tables import Table
from suffice.tables.table import Schema

__all__ = ["NaiveBayesSpecification"]


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class NaiveBayesSpecification(TunableSpecification):
    """The parameters of `NaiveBayes`."""

    estimator: ClassVar[str] = "NaiveBayes"
    aggregates: ClassVar[tuple[str, ...]] = ("from_counts", "from_moments")
    stored: ClassVar[tuple[str, ...]] = ("tuning", "calibration", "form")
    choices: ClassVar[Choices] = Choices("like", ("families",))

    families: Families = "auto"
    estimation: str | None = "map"
    smoothing: float | str | None = None
    missing: str = "ignore"
    unseen: str = "ignore"
    blocks: str | None = None

    @cached_property
    def reader(self) -> TableReader:
        """Rows are tables with columns of any type."""
        return TableReader(self.estimator, self.families)

    def families_of(self, schema: Schema, *, chosen: bool = True) -> Families:
        """The families of these columns; a column that a mapping does not name has that of its type.

        ``chosen`` tells whether the data have chosen the families that they choose.
        """
        return self.families

    @property
    def accepts_missing(self) -> bool:
        """Whether the family of all columns accepts missing cells."""
        if isinstance(self.families, str) and self.families not in ("auto", BEST):
            return family_of(self.families, self.family_settings(None)).accepts_missing
        return not isinstance(self.families, Family) or self.families.accepts_missing

    def paths(self) -> dict[str, Sequence[float]]:
        """Weights of the prior to choose from, if ``smoothing`` is "auto"."""
        return {"smoothing": SMOOTHING_PATH} if is_auto(self.smoothing) else {}

    def family_settings(self, tuning: Tuning | None) -> dict[str, Any]:
        """The settings of families that are not given as objects."""
        given = {"estimation": self.estimation, "smoothing": self.setting("smoothing", 1.0, tuning)}
        policies = {"missing": self.missing, "unseen": self.unseen}
        for name, value in policies.items():
            if value not in POLICIES[name]:
                hint = did_you_mean(value, POLICIES[name])
                raise InputError(f"{name} must be one of {listed(POLICIES[name])}; got {value!r}.{hint}", argument=name)
        return {name: value for name, value in given.items() if value is not None} | policies

    @property
    def is_additive(self) -> bool:
        """Whether nothing is chosen or calibrated on held-out rows."""
        return self.blocks is None and not names_best(self.families) and super().is_additive

    def check(self) -> None:
        """Raise for an invalid value of a setting."""
        if not (self.blocks is None or (isinstance(self.blocks, str) and self.blocks == "auto")):
            raise InputError(
                f"blocks must be None or 'auto'; got {self.blocks!r}.{did_you_mean(self.blocks, ('auto',))} To name "
                "blocks of columns, give families={('a', 'b'): 'multivariate_gaussian'}.",
                argument="blocks",
            )
        super().check()

    def chosen_layout(self, layout: RowLayout, table: Table, members: Membership, *, all_rows: bool) -> RowLayout:
        """The layout with the blocks of dependent columns, and the family of each other column that is "best"."""
        schema, settings = layout.schema, self.family_settings(None)
        if self.blocks is not None:
            schema = replace(schema, found=found_blocks(self.families, schema, table, members, settings))
        at = best_columns(self.families_of(schema, chosen=False), schema)
        if at:
            taken = frozenset() if schema.found is None else schema.found.taken
            apart = [j for j in at if j not in taken]
            scores = family_scores(apart, schema, table, members, settings, all_rows=all_rows)
            schema = replace(schema, scores=scores)
        return layout if schema is layout.schema else replace(layout, schema=schema)

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """Independent columns of equal families are one block, and so are dependent columns that were found."""
        if self.blocks is not None and schema.found is None:
            raise InputError(
                Argument("blocks", self.blocks),
                " was set after the fit, so no blocks have been found yet. Call fit again.",
                argument="blocks",
            )
        found = None if self.blocks is None else schema.found
        return tuple(chosen_blocks(self.families_of(schema), schema, self.family_settings(tuning), found))

    def warn_about_settings(self) -> None:
        """Warn about ``smoothing`` or ``estimation`` that have no effect on families given by name."""
        given = self.families.values() if isinstance(self.families, Mapping) else [self.families]
        named = {each for each in given if isinstance(each, str) and each not in ("auto", BEST)}
        settings = {name: vars(family_of(name, self.family_settings(None))) for name in sorted(named)}
        changed = {"smoothing": self.smoothing is not None, "estimation": self.estimation not in (None, "map")}
        for name, has in settings.items():
            for setting in (setting for setting, is_changed in changed.items() if is_changed and setting not in has):
                warn_user(
                    SufficeWarning(
                        Argument(setting, getattr(self, setting)),
                        f" has no effect on {name} columns, whose settings are {listed(list(has), 9)}.",
                        argument=setting,
                    )
                )
        estimated = (
            "auto" in given
            or BEST in given
            or any({"smoothing", "estimation"} <= set(has) for has in settings.values())
        )
        if estimated and self.estimation == "mle" and self.smoothing not in (None, 0):
            self.warn_about_smoothing(self.smoothing)

    def check_batch(self, fitted: Fitted, model: Model, table: Table) -> None:
        """Raise if a column of strings brings numbers, or the other way round."""
        check_levels(fitted.model, model, table)

    def check_merge(self, mine: Fitted, theirs: Fitted) -> None:
        """Raise if a column has different kinds, a different best family, or different blocks in the two models."""
        check_same_blocks(mine.layout.schema, theirs.layout.schema, self.choices)
        check_same_choice(mine.layout.schema, theirs.layout.schema, self.choices)
        check_merge(mine.layout.schema, mine.model, theirs.layout.schema, theirs.model)

    def warn_about_columns(self, model: Model, table: Table, layout: RowLayout) -> None:
        """Warn about columns without values, stop words, and text that is read as a category."""
        warn_about_empty(model, table)
        warn_about_words(model)
        self.warn_about_first_batch(model, layout)

    def warn_about_first_batch(self, model: Model, layout: RowLayout) -> None:
        """Warn about text that is read as a category."""
        schema, given = layout.schema, set(self.reader.with_given_family(layout))
        if schema.scores is not None:
            given |= {name for j, name in enumerate(schema.names) if schema.scores.chosen(j) is not None}
        warn_about_levels(model, schema, given)
