"""The family of each column: chosen by its type, named, or given as an object."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from suffice.exceptions import Argument, InputError, did_you_mean, listed
from suffice.families import Family, family_names
from suffice.families.contract import family_type
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


def chosen_blocks(families: Families, schema: Schema, settings: Mapping[str, object]) -> list[Block]:
    """The blocks of a model of these columns; independent columns of equal families are one block."""
    names = list(schema.names)
    if isinstance(families, Mapping):
        return _mapped_blocks(families, schema, settings)
    if isinstance(families, str) and families == "auto":
        return _grouped(_families_at("auto", range(len(names)), schema, settings), names)
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
    return _grouped(sorted(chosen, key=lambda each: each[0][0]), names)


def _families_at(
    given: object, at: Sequence[int], schema: Schema, settings: Mapping[str, object]
) -> list[tuple[list[int], Family]]:
    """The families of the columns at these positions; None ignores them."""
    if given is None:
        return []
    if isinstance(given, str) and given == "auto":
        kinds = list(map(schema.kinds.__getitem__, at))
        types = {kind: family_type(AUTO[kind]) for kind in dict.fromkeys(kinds)}
        made = {kind: _with_settings(family, settings) for kind, family in types.items()}
        return [([j], made[kind]) for j, kind in zip(at, kinds, strict=True)]
    family = family_of(given, settings)
    return [([j], family) for j in at] if family.reads == "documents" else [(list(at), family)]


def _grouped(chosen: list[tuple[list[int], Family]], names: list[object]) -> list[Block]:
    families: list[Family] = []
    columns: list[list[int]] = []
    for at, family in chosen:
        if family.independent and family in families:
            columns[families.index(family)].extend(at)
        else:
            families.append(family)
            columns.append(list(at))
    if len(families) == 1 and columns[0] == list(range(len(names))):
        return [Block(families[0], slice(None), names)]
    return [Block(family, at, list(map(names.__getitem__, at))) for family, at in zip(families, columns, strict=True)]
