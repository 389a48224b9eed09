"""The family of each column: chosen by its type, named, or given as an object."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from suffice.exceptions import Argument, InputError, did_you_mean, listed
from suffice.families import Family, MultivariateGaussian, family_names
from suffice.families.contract import family_type
from suffice.model import Block
from suffice.sources.tables import columns_of
from suffice.tables.column_blocks import ColumnBlocks
from suffice.tables.table import Kind, Schema

__all__ = [
    "BEST",
    "CHOSEN_KINDS",
    "POLICIES",
    "Families",
    "block_family",
    "chosen_blocks",
    "chosen_family",
    "family_of",
]

Families = str | Family | Mapping[Any, Any]

AUTO: dict[Kind, str] = {
    "number": "gaussian",
    "bool": "bernoulli",
    "time": "gaussian",
    "duration": "gaussian",
    "category": "categorical",
    "text": "categorical",
    "empty": "categorical",
}
BEST = "best"
CHOSEN_KINDS: tuple[Kind, ...] = ("number", "time", "duration")
"""Kinds of columns whose family the data choose if it is "best"."""
POLICIES = {"missing": ("ignore", "category"), "unseen": ("ignore", "share", "error")}


class Chosen(NamedTuple):
    """Columns, by position, and their family; and whether the data have chosen it."""

    at: list[int]
    family: Family
    by_data: bool = False


def family_of(given: object, settings: Mapping[str, object]) -> Family:
    """A family by its name, with those settings of the model that it has; a family object unchanged."""
    if not isinstance(given, str):
        if not isinstance(given, Family):
            raise InputError(
                f"{given!r} is not a family. Give a name ({listed(family_names(), 20)}) or an object of a class that "
                "inherits suffice.families.Family.",
                argument="families",
            )
        return given
    names = family_names()
    if given not in names:
        known = ["auto", BEST, *names]
        raise InputError(
            f"There is no family {given!r:.80}.{did_you_mean(given, known)} The families are "
            f"{listed(known, len(known))}.",
            argument="families",
        )
    return _with_settings(family_type(given), settings)


def _with_settings(kind: type[Family], settings: Mapping[str, Any]) -> Family:
    """A family with those of the settings that it has; one object for equal settings."""
    try:
        return _made(kind, **settings)
    except TypeError:  # a setting that cannot be hashed
        return _made.__wrapped__(kind, **settings)


@lru_cache(maxsize=256, typed=True)
def _made(kind: type[Family], **settings: Hashable) -> Family:
    defaults: dict[str, object] = {each.name: each.default for each in fields(kind)} if is_dataclass(kind) else {}
    # A field with the name of a policy is another setting unless its default is a value of the policy.
    takes = {name for name, default in defaults.items() if name not in POLICIES or default in POLICIES[name]}
    return kind(**{name: value for name, value in settings.items() if name in takes})


def block_family(name: str, covariance: str, shrinkage: str, *, settings: Mapping[str, object]) -> Family:
    """The family of a block that was found in the data; shrinkage takes the place of a prior."""
    family = family_of(name, settings)
    if not isinstance(family, MultivariateGaussian):
        return family
    family = replace(family, covariance=covariance)  # type: ignore[arg-type]
    return replace(family, shrinkage=shrinkage, estimation="mle") if shrinkage else family  # type: ignore[arg-type]


def chosen_blocks(
    families: Families, schema: Schema, settings: Mapping[str, object], found: ColumnBlocks | None = None
) -> list[Block]:
    """The blocks of a model of these columns; independent columns of equal families are one block.

    ``found`` are blocks of dependent columns, which take the place of the families of these columns.
    """
    names = list(schema.names)
    if isinstance(families, Mapping):
        chosen = _mapped_families(families, schema, settings)
    elif isinstance(families, str) and families in ("auto", BEST):
        chosen = _families_at(families, range(len(names)), schema, settings)
    else:
        family = family_of(families, settings)
        at = list(range(len(names)))
        # Each column of documents is a block of its own.
        chosen = [Chosen([j], family) for j in at] if family.reads == "documents" else [Chosen(at, family)]
    if found is not None:
        chosen = _with_found(chosen, found, settings)
    return _grouped(chosen, names)


def _with_found(chosen: Sequence[Chosen], found: ColumnBlocks, settings: Mapping[str, object]) -> list[Chosen]:
    """The families of columns with those of blocks that were found in the data."""
    taken = found.taken
    rest = [each._replace(at=[j for j in each.at if j not in taken]) for each in chosen]
    kinds = zip(found.groups, found.families, found.covariances, found.shrinkages, strict=True)
    blocks = [Chosen(list(group), block_family(*kind, settings=settings)) for group, *kind in kinds]
    return sorted([each for each in (*rest, *blocks) if each.at], key=lambda each: each.at[0])


def _mapped_families(families: Mapping[Any, Any], schema: Schema, settings: Mapping[str, object]) -> list[Chosen]:
    names = list(schema.names)
    chosen: list[Chosen] = []
    taken: set[int] = set()
    position = {name: j for j, name in enumerate(names)}
    for key, given in families.items():
        columns = columns_of(key, names)
        unknown = [name for name in columns if name not in position]
        if given is None and unknown == columns:
            continue  # an ignored column may be absent
        if unknown or not columns:
            hint = did_you_mean(unknown[0], names) if unknown else ""
            raise InputError(
                Argument("families"),
                f" names the column {listed(unknown)}, which does not exist.{hint} The columns are {listed(names)}.",
                argument="families",
                column=(unknown or [None])[0],
            )
        at = [position[name] for name in columns]
        for j in at:
            if j in taken or at.count(j) > 1:
                raise InputError(
                    Argument("families"),
                    f" names the column {names[j]!r} more than once.",
                    argument="families",
                    column=names[j],
                )
        taken.update(at)
        chosen += _families_at(given, at, schema, settings)
    rest = [j for j in range(len(names)) if j not in taken]
    chosen += _families_at("auto", rest, schema, settings)
    if not chosen:
        raise InputError(
            Argument("families"), " ignores every column, so there is nothing to learn from.", argument="families"
        )
    return sorted(chosen, key=lambda each: each.at[0])


def _families_at(given: object, at: Sequence[int], schema: Schema, settings: Mapping[str, object]) -> list[Chosen]:
    """The families of the columns at these positions; None ignores them."""
    if given is None:
        return []
    if isinstance(given, str) and given == BEST:
        return [Chosen([j], _with_settings(family_type(_best_name(j, schema)), settings), True) for j in at]
    if isinstance(given, str) and given == "auto":
        kinds = list(map(schema.kinds.__getitem__, at))
        types = {kind: family_type(AUTO[kind]) for kind in dict.fromkeys(kinds)}
        made = {kind: _with_settings(family, settings) for kind, family in types.items()}
        return [Chosen([j], made[kind]) for j, kind in zip(at, kinds, strict=True)]
    family = family_of(given, settings)
    return [Chosen([j], family) for j in at] if family.reads == "documents" else [Chosen(list(at), family)]


def chosen_family(schema: Schema, j: int) -> str | None:
    """The name of the family that the data have chosen for a column; None if they have chosen none.

    A column of strings is categorical unless it was tried as documents.
    """
    chosen = None if schema.scores is None else schema.scores.chosen(j)
    return chosen or (AUTO["text"] if schema.kinds[j] == "text" else None)


def _best_name(j: int, schema: Schema) -> str:
    """The family that was chosen by the data for a column of numbers or strings; by its type for any other column."""
    if schema.scores is None and schema.kinds[j] in CHOSEN_KINDS:
        raise InputError(
            Argument("families", BEST),
            " was set after the fit, so no families have been chosen yet. Call fit again.",
            argument="families",
        )
    return chosen_family(schema, j) or AUTO[schema.kinds[j]]


def _grouped(chosen: list[Chosen], names: list[object]) -> list[Block]:
    groups: list[Chosen] = []
    for at, family, by_data in chosen:
        same = [each for each in groups if family.independent and (each.family, each.by_data) == (family, by_data)]
        if same:
            same[0].at.extend(at)
        else:
            groups.append(Chosen(list(at), family, by_data))
    if len(groups) == 1 and groups[0].at == list(range(len(names))):
        return [Block(groups[0].family, slice(None), names, groups[0].by_data)]
    return [Block(family, at, list(map(names.__getitem__, at)), by_data) for at, family, by_data in groups]
