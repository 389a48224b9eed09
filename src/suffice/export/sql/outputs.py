"""Names of the computed columns of a result, and labels as SQL."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from sqlglot import exp

from suffice.exceptions import InputError
from suffice.export.sql.engine import Engine
from suffice.export.sql.expressions import cast, number, text, whole
from suffice.export.sql.query import PAGE
from suffice.numerics.types import Array

__all__ = ["label_literals", "output_names"]

NUMBERED = 4  # bytes for a number, such as " 102", after a name that another column has
LARGEST_INTEGER = 2**63 - 1


def output_names(
    labels: Array, known: Iterable[str], prefix: str, engine: Engine
) -> tuple[str, list[str], list[str], str]:
    """Names of the label, the posteriors, the log-joints and the row number, different from those of known columns.

    Engines do not distinguish names by upper and lower case. A name that another column has gets a number, and a label
    that is too long for the engine is replaced by its position. Raises `InputError` if the prefix is too long for this.
    """
    taken = {each.casefold() for each in known}
    most = math.inf if engine.longest_name is None else engine.longest_name - NUMBERED

    def unique(own: str, short: str) -> str:
        name = prefix + own
        if _size(name) > most:
            name = prefix + short
            _check_size(name, most, prefix, engine)
        found, i = name, 1
        while found.casefold() in taken:
            i += 1
            found = f"{name} {i}"
        taken.add(found.casefold())
        return found

    texts = [_nameable(str(label)) for label in labels.tolist()]
    label = unique("predicted_label", "predicted_label")
    both = [
        [unique(f"{kind}_{each}", f"{kind}_class_{k}") for k, each in enumerate(texts)]
        for kind in ("probability", "log_joint")
    ]
    return label, both[0], both[1], unique("row_number", "row_number")


def _nameable(label: str) -> str:
    """A label as a part of a name, without characters that a statement cannot have."""
    return label.replace("\0", " ").replace("${", "$ {").encode("utf-8", "replace").decode()


def _check_size(name: str, most: float, prefix: str, engine: Engine) -> None:
    """Raise `InputError` if even the short name of a column is too long with a prefix."""
    if _size(name) > most:
        raise InputError(
            f"prefix can have at most {most - _size(name) + _size(prefix):.0f} bytes, because names of columns in "
            f"{engine.title} have at most {engine.longest_name}, and one is {name!r}; got {_size(prefix)} bytes.",
            argument="prefix",
            page=PAGE,
        )


def _size(name: str) -> int:
    """Bytes of a name."""
    return len(name.encode())


def label_literals(labels: Array, engine: Engine) -> list[exp.Expression]:
    """The labels as SQL, with their type: texts, numbers, booleans or times."""
    if labels.dtype.kind != "M":
        return [_literal(label, engine) for label in labels.tolist()]
    has_days = np.datetime_data(labels.dtype)[0] in ("D", "W", "M", "Y")
    labels, kind = (labels.astype("M8[D]"), "DATE") if has_days else (labels, "TIMESTAMP")
    written = [text(str(label).replace("T", " ")) for label in labels]
    return written if engine.dialect == "sqlite" else [cast(each, kind) for each in written]


def _literal(label: Any, engine: Engine) -> exp.Expression:
    if isinstance(label, bool):
        return exp.true() if label else exp.false()
    if isinstance(label, int) and (abs(label) <= LARGEST_INTEGER or engine.dialect != "sqlite"):
        kind = "BIGINT" if abs(label) <= LARGEST_INTEGER else "DECIMAL(38, 0)"
        return cast(whole(label), kind)
    if isinstance(label, float):
        return cast(number(label))
    if isinstance(label, str) and engine.can_hold(label):
        return text(label)
    raise InputError(
        f"The label {label!r:.80} cannot be written in {engine.title}. Fit with other labels.",
        argument="fitted",
        page=PAGE,
    )
