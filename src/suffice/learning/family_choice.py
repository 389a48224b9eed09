"""The family of each column: chosen by its type, named, or given as an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from suffice.exceptions import InputError, listed
from suffice.families import Family, family_named, family_names
from suffice.model import Block
from suffice.sources.tables import columns_of
from suffice.tables.table import Kind, Schema

__all__ = ["POLICIES", "Families", "chosen_blocks", "family_of"]

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
POLICIES = {"missing": ("ignore", "category"), "unseen": ("ignore", "share", "error")}


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
    made: Any = family_named(given)
    defaults = {each.name: each.default for each in fields(made)} if is_dataclass(made) else {}
    # A policy is a string; a field of the same name with another type is something else.
    takes = {name for name, default in defaults.items() if name not in POLICIES or isinstance(default, str)}
    family: Family = replace(made, **{name: value for name, value in settings.items() if name in takes})
    return family


def chosen_blocks(families: Families, schema: Schema, settings: Mapping[str, object]) -> list[Block]:
    """The blocks of a model of these columns; independent columns of equal families are one block."""
    names = list(schema.names)
    if isinstance(families, Mapping):
        return _mapped_blocks(families, schema, settings)
    if isinstance(families, str) and families == "auto":
        made = {kind: family_of(AUTO[kind], settings) for kind in dict.fromkeys(schema.kinds)}
        return _grouped([([j], made[kind]) for j, kind in enumerate(schema.kinds)], names)
    family = family_of(families, settings)
    if family.reads == "documents":  # each column of documents is a block of its own
        return _grouped([([j], family) for j in range(len(names))], names)
    return [Block(family, slice(None), names)]


def _mapped_blocks(families: Mapping[Any, Any], schema: Schema, settings: Mapping[str, object]) -> list[Block]:
    names = list(schema.names)
    chosen: list[tuple[list[int], Family]] = []
    taken: set[int] = set()
    position = {name: j for j, name in enumerate(names)}
    for key, given in families.items():
        columns = columns_of(key, names)
        unknown = [name for name in columns if name not in position]
        if given is None and unknown == columns:
            continue  # an ignored column may be absent
        if unknown or not columns:
            raise InputError(
                f"families names the column {listed(unknown)}, which does not exist. The columns are {listed(names)}.",
                argument="families",
                column=(unknown or [None])[0],
            )
        at = [position[name] for name in columns]
        for j in at:
            if j in taken or at.count(j) > 1:
                raise InputError(
                    f"families names the column {names[j]!r} more than once.", argument="families", column=names[j]
                )
        taken.update(at)
        chosen += _families_at(given, at, schema, settings)
    rest = [j for j in range(len(names)) if j not in taken]
    chosen += _families_at("auto", rest, schema, settings)
    if not chosen:
        raise InputError("families ignores every column, so there is nothing to learn from.", argument="families")
    return _grouped(sorted(chosen, key=lambda each: each[0][0]), names)


def _families_at(
    given: object, at: Sequence[int], schema: Schema, settings: Mapping[str, object]
) -> list[tuple[list[int], Family]]:
    """The families of the columns at these positions; None ignores them."""
    if given is None:
        return []
    if isinstance(given, str) and given == "auto":
        return [([j], family_of(AUTO[schema.kinds[j]], settings)) for j in at]
    family = family_of(given, settings)
    return [([j], family) for j in at] if family.reads == "documents" else [(list(at), family)]


def _grouped(chosen: list[tuple[list[int], Family]], names: list[object]) -> list[Block]:
    groups: list[tuple[list[int], Family]] = []
    for at, family in chosen:
        same = next((group for group in groups if group[1] is family or group[1] == family), None)
        if same is not None and family.independent:
            same[0].extend(at)
        else:
            groups.append((list(at), family))
    if len(groups) == 1 and groups[0][0] == list(range(len(names))):
        return [Block(groups[0][1], slice(None), names)]
    return [Block(family, at, [names[j] for j in at]) for at, family in groups]
