"""Which family each column has: chosen by its type, named, or given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from suffice.exceptions import InputError, listed
from suffice.families import Family, family_named, family_names
from suffice.model import Block
from suffice.tables.table import Kind, Schema

__all__ = ["POLICIES", "chosen_blocks", "columns_of", "family_of", "reads_documents"]

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


def family_of(given: Any, settings: Mapping[str, Any]) -> Family:
    """A family by its name, with the model's settings as far as it has them; a family object as it is."""
    if not isinstance(given, str):
        if not isinstance(given, Family):
            raise InputError(
                f"{given!r} is not a family. Give a name ({listed(family_names(), 20)}) or an object of a class that "
                "inherits suffice.families.Family."
            )
        return given
    made: Any = family_named(given)
    has = {each.name: each.default for each in fields(made)} if is_dataclass(made) else {}
    # A policy is a word; other fields of that name are other things.
    takes = {name for name, default in has.items() if name not in POLICIES or isinstance(default, str)}
    found: Family = replace(made, **{name: each for name, each in settings.items() if name in takes})
    return found


def chosen_blocks(families: Any, schema: Schema, settings: Mapping[str, Any]) -> list[Block]:
    """The blocks of a model of these columns.

    Independent columns of equal families are one block, which is summed in one pass.
    """
    names = list(schema.names)
    if not isinstance(families, Mapping):
        if families == "auto":
            made = {kind: family_of(AUTO[kind], settings) for kind in dict.fromkeys(schema.kinds)}
            return _grouped([([j], made[kind]) for j, kind in enumerate(schema.kinds)], names)
        family = family_of(families, settings)
        if reads_documents(family):
            return _grouped([([j], family) for j in range(len(names))], names)
        return [Block(family, slice(None), names)]
    chosen: list[tuple[list[int], Family]] = []
    taken: dict[int, Any] = {}
    place = {name: j for j, name in enumerate(names)}
    for key, given in families.items():
        columns = columns_of(key, names)
        unknown = [name for name in columns if name not in place]
        if given is None and unknown == columns:
            continue  # it is left out, and it is not there
        if unknown or not columns:
            raise InputError(
                f"families names the column {listed(unknown)}, which is not there. The columns are {listed(names)}."
            )
        at = [place[name] for name in columns]
        for j in at:
            if j in taken or at.count(j) > 1:
                raise InputError(f"families names the column {names[j]!r} more than once.")
            taken[j] = key
        if given is None:
            continue
        if given == "auto":
            chosen += [([j], family_of(AUTO[schema.kinds[j]], settings)) for j in at]
        else:
            family = family_of(given, settings)
            chosen += [([j], family) for j in at] if reads_documents(family) else [(at, family)]
    rest = [j for j in range(len(names)) if j not in taken]
    chosen += [([j], family_of(AUTO[schema.kinds[j]], settings)) for j in rest]
    if not chosen:
        raise InputError("families leaves out every column; there is nothing to learn from.")
    return _grouped(sorted(chosen, key=lambda each: each[0][0]), names)


def columns_of(key: Any, names: Collection[Any]) -> list[Any]:
    """The columns that a key of a mapping means: one, or those of a tuple, unless a column has a tuple for its name."""
    return list(key) if isinstance(key, tuple) and key not in names else [key]


def reads_documents(family: Family) -> bool:
    """Whether it takes one column of texts, so that each column is a block of its own."""
    return family.reads == "documents"


def _grouped(chosen: list[tuple[list[int], Family]], names: list[Any]) -> list[Block]:
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
