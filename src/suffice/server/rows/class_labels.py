"""Labels in requests: the classes of a model as clients write them, in JSON, in addresses and in tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from suffice.exceptions import ClassError, InputError, did_you_mean, listed, short
from suffice.statistics import ClassAxis

__all__ = ["class_named", "class_to_learn", "classes_by_text", "classes_of_rows", "written_classes"]

EXACT = 2**53  # integers below this are exact in float64
MOST = 2**63  # integers from here on have no type that the log holds


class _Written(str):
    """A value of JSON, which messages show without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def class_named(classes: ClassAxis, text: str | None, argument: str = "label") -> Hashable:
    """The class that a text of an address names; None for None.

    Raises `ClassError` if there is none.

    >>> class_named(ClassAxis.of([False, True]), "true"), class_named(ClassAxis.of([1.0, 2.0]), "1")
    (True, 1.0)
    """
    if text is None:
        return None
    known = classes_by_text(classes)
    for each in (text, text.lower() if _is_boolean(classes) else text):
        if each in known:
            return known[each]
    hint = did_you_mean(text, known)
    raise ClassError(
        f"The model has no class {short(text)}.{hint} Its classes are {written_classes(classes)}.", argument=argument
    )


def written_classes(classes: ClassAxis) -> str:
    """The classes for a message, as a client writes them in JSON.

    >>> written_classes(ClassAxis.of([False, True])), written_classes(ClassAxis.of(["a", "b"]))
    ('false, true', "'a', 'b'")
    """
    return listed([_written(label) for label in classes.labels.tolist()])


def classes_of_rows(classes: ClassAxis, labels: Sequence[Any], *, new_classes: bool = False) -> list[Hashable]:
    """The class of each row, of the type of the classes; raises unless each label is one, or may be new.

    >>> classes_of_rows(ClassAxis.of([1, 2]), [2.0, 1])
    [2, 1]
    """
    for wrong, problem in (
        ([i for i, each in enumerate(labels) if each is None or each != each], "has no label."),
        (
            [i for i, each in enumerate(labels) if isinstance(each, list | dict)],
            "has a list or an object as its label.",
        ),
    ):
        if wrong:
            raise InputError.in_row(problem, rows=wrong)
    known: Mapping[Hashable, Hashable] = {each: each for each in classes.labels.tolist()}
    kinds = {type(each) for each in known}
    by_text = classes_by_text(classes) if classes.labels.dtype.kind in "mM" else {}
    found: list[Any] = []
    unknown: list[int] = []
    for i, each in enumerate(labels):
        label = _known(known, by_text, each)
        if label is None:
            unknown.append(i)
            label = _new(kinds, each) if new_classes else None
        found.append(label)
    if unknown and not new_classes:
        raise _unknown(classes, labels[unknown[0]], unknown, by_text or known)
    refused = [i for i in unknown if found[i] is None]
    if refused:
        raise ClassError(
            f"Row {refused[0]} has the label {_shown(labels[refused[0]])}, which cannot be a class of this model. "
            f"{_expected(kinds, classes)}",
            rows=refused,
        )
    return found


def class_to_learn(classes: ClassAxis, text: str, *, new_classes: bool = False) -> Hashable:
    """The class that a text of the address names for rows to learn; it may be new if the classes are texts or dates."""
    try:
        return class_named(classes, text)
    except ClassError:
        label: Hashable = _new({type(each) for each in classes.labels.tolist()}, text) if new_classes else None
        if label is None:
            raise
        return label


def _known(known: Mapping[Hashable, Hashable], by_text: Mapping[str, Hashable], value: Any) -> Hashable:
    """The class that a value is; None if it is none."""
    label = known.get(value)
    if label is not None:
        rounded = isinstance(value, float) != isinstance(label, float) and abs(value) >= EXACT
        return None if rounded or isinstance(value, bool) != isinstance(label, bool) else label
    if by_text:
        return by_text.get(value.isoformat() if isinstance(value, date) else str(value))
    return known.get(value.isoformat()) if type(value) is date else None  # CSV: texts that look like dates


def _new(kinds: set[type], value: Any) -> Any:
    """A value as a new class beside classes of these types; None if it cannot be one."""
    (kind,) = kinds if len(kinds) == 1 else (type(None),)
    if isinstance(value, str) and issubclass(kind, date):
        try:
            value = kind.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return None
    if kind is float and type(value) in (int, float) and -EXACT <= value <= EXACT:
        value = float(value)
    if kind is int and isinstance(value, float) and value.is_integer() and -EXACT < value < EXACT:
        value = int(value)
    fits = type(value) is kind
    if kind is float:
        fits = fits and value.is_integer() and abs(value) <= EXACT
    if kind is int:
        fits = fits and -MOST <= value < MOST
    return value if fits else None


def _unknown(classes: ClassAxis, value: Any, rows: list[int], known: Iterable[Hashable]) -> ClassError:
    """The error for a label that is not a class."""
    start = f"Row {rows[0]} has the label {_shown(value)}, which is not a class of the model."
    if _is_boolean(classes):
        return ClassError(f"{start} Labels are true or false here.", rows=rows)
    return ClassError(
        f"{start}{did_you_mean(value, known)} Its classes are {written_classes(classes)}; the option --new-classes of "
        "suffice serve allows others.",
        rows=rows,
    )


def _expected(kinds: set[type], classes: ClassAxis) -> str:
    if kinds == {bool}:
        return "Labels are true or false here."
    what = {int: "whole numbers", float: "whole numbers", str: "texts", date: "dates", datetime: "points in time"}
    names = {what[each] for each in kinds if each in what}
    kind = f"Labels are {names.pop()} here" if len(names) == 1 else "Labels have the type of the classes"
    return f"{kind}; the classes are {written_classes(classes)}."


def _is_boolean(classes: ClassAxis) -> bool:
    return classes.labels.dtype.kind == "b"


def classes_by_text(classes: ClassAxis) -> dict[str, Hashable]:
    """The classes by all texts that name them; the texts of answers come first."""
    labels = classes.labels.tolist()
    found: dict[str, Hashable] = {str(_written(label)): label for label in labels}
    for label, exact in zip(labels, classes.labels, strict=True):
        for text in _further_texts(label):
            found.setdefault(text, label)
        if isinstance(label, int) and isinstance(exact, np.datetime64):  # nanoseconds, for which Python has no type
            found.setdefault(str(exact), label)
            micro = exact.astype("M8[us]")
            for text in _further_texts(micro.item()) if micro == exact else ():
                found.setdefault(text.replace(" ", "T"), label)
    return found


def _further_texts(label: Hashable) -> Iterable[str]:
    yield str(label)
    if isinstance(label, date):
        yield label.isoformat()
    if isinstance(label, datetime) and label.time() == time():
        yield label.date().isoformat()
    if isinstance(label, date) and not isinstance(label, datetime):
        yield f"{label.isoformat()}T00:00:00"
    if isinstance(label, float) and label.is_integer():
        yield f"{label:.0f}"  # as JavaScript writes it
    if isinstance(label, timedelta):
        yield repr(label.total_seconds())


def _written(label: Any) -> Any:
    """A label as JSON has it: texts stay texts."""
    if isinstance(label, bool):
        return _Written(str(label).lower())
    if isinstance(label, date):
        return label.isoformat()
    return str(label) if isinstance(label, timedelta) else label


def _shown(value: Any) -> str:
    """A label of a request for a message."""
    return short(_written(value))
