"""`GivenBlock`: a family, and the tables of its columns; and the family that the names of parameters identify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from suffice.exceptions import InputError, did_you_mean, listed
from suffice.families import Family, family_named, family_names
from suffice.families.contract import family_type
from suffice.families.given import GivenTable, LevelValues
from suffice.families.given_priors import without_prior
from suffice.learning.given.names import known_names, parameter_hint, parameter_kind
from suffice.tables.table import Kind

__all__ = ["GivenBlock", "family_for", "inferred_family"]


@dataclass(frozen=True, eq=False)
class GivenBlock:
    """A family, the columns of its block, and their tables.

    Attributes
    ----------
    key : object
        The column, or a tuple of columns.
    family : Family
        Reads the tables.
    setting : str or Family
        What a new fit uses: the name of the family, or the family if the user has given one. It has no conjugate
        prior, because given parameters have none.
    kinds : tuple of Kind or None
        Kinds of the columns that are known, in their order; empty if they follow from the parameters.
    tables : sequence of GivenTable
    places : tuple of int
        Places of the columns among those of all blocks; empty if blocks come in their order.
    """

    key: Any
    family: Family
    setting: str | Family
    kinds: tuple[Kind | None, ...]
    tables: Sequence[GivenTable] = ()
    places: tuple[int, ...] = ()

    @classmethod
    def of(cls, key: Any, family: Any, kinds: Sequence[Kind | None] = ()) -> Self:
        """The block of a family or its name; raises `InputError` for a name that does not exist."""
        if isinstance(family, Family):
            family = without_prior(family)
        elif not isinstance(family, str) or family not in family_names():
            raise InputError(
                f"Column {key!r}: there is no family {family!r:.80}.{did_you_mean(family, family_names())} The "
                f"families are {listed(family_names(), 50)}.",
                column=key,
            )
        reading = family_named(family) if isinstance(family, str) else family
        if isinstance(key, tuple) and reading.by_column:
            raise InputError(
                f"Columns {key!r}: the family {reading.name} has independent columns. Give the parameters of each "
                "column apart.",
                column=key,
            )
        return cls(key, reading, family, tuple(kinds))

    def with_tables(self, tables: Sequence[GivenTable]) -> Self:
        """The block with these tables; raises `InputError` for parameters that its family does not have."""
        for table in tables:
            known = sorted(self.family.parameter_names)
            unknown = [name for name in table.parameters if not self.family.takes_parameter(name)]
            if unknown:
                raise InputError(
                    f"Column {table.name!r}: the family {self.family.name} has no parameter {unknown[0]!r}."
                    f"{parameter_hint(unknown[0], known)} Its parameters are {listed(known)}.",
                    column=table.name,
                )
        return replace(self, tables=tables)

    @property
    def columns(self) -> list[object]:
        """Names of all columns."""
        return list(self.key) if isinstance(self.key, tuple) else [self.key]


def family_for(families: Any, key: object) -> Any:
    """The family that the argument ``families`` has for a column or a tuple of columns; None without one."""
    return families.get(key) if isinstance(families, Mapping) else families


def inferred_family(key: object, parameters: Mapping[str, Any]) -> str:
    """The only family that these parameters identify."""
    names = {parameter_kind(name) for name in parameters}
    if any(isinstance(values, LevelValues) for values in parameters.values()) and "probability" in names:
        if isinstance(key, tuple):
            return "joint_table"
        return "binned" if "cut" in names else "categorical"
    if "covariance" in names or "correlation" in names:
        return "multivariate_gaussian"
    found = [each for each in map(family_type, family_names()) if each.identified_by and each.identified_by <= names]
    found = [each for each in found if names <= each.parameter_names]
    most = max((len(each.identified_by) for each in found), default=0)
    fitting = [each.name for each in found if len(each.identified_by) == most]
    if len(fitting) == 1:
        return fitting[0]
    unknown = sorted(names - known_names(None))
    if unknown:
        hint = parameter_hint(unknown[0], known_names(None))
        raise InputError(f"Column {key!r}: there is no parameter {unknown[0]!r:.80}.{hint}", column=key)
    raise InputError(
        f"The family of column {key!r} does not follow from its parameters {listed(sorted(names))}. Name it, such as "
        f"{{'family': {(fitting or ['gaussian'])[0]!r}, ...}}: {' or '.join(fitting or family_names())}.",
        column=key,
    )
