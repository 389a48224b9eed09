"""The classes of parameters or aggregates that a user gives, and numbers of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from suffice import bayes
from suffice.exceptions import InputError, listed
from suffice.families.given import GivenTable
from suffice.learning.given.labelled import aligned, labels_of
from suffice.learning.given.times import with_seconds
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis
from suffice.tables.listing import Listing

__all__ = ["Classes", "as_numbers", "class_labels", "distinct_labels", "given_classes", "named_columns"]

LEAST = 1e-6  # weight of a class of probability zero among others


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of given parameters, and their prior.

    Attributes
    ----------
    axis : ClassAxis
    written : list
        The labels in the order in which they were given, which arrays follow.
    prior : array of shape (K,)
        In the order of the axis.
    """

    axis: ClassAxis
    written: list[Any]
    prior: Float

    def numbers(
        self, given: object, what: str, column: object = None, columns: Sequence[object] | None = None
    ) -> Float:
        """Numbers of each class, in the order of the axis (K, ...), from an object with labels or an array.

        ``columns`` are those of further axes, whose labels are put in this order.
        """
        given = aligned(given, (self.written, columns, columns), what, column)
        values = as_numbers(given, what, "numbers of each class", column)
        if values.ndim == 0 or len(values) != len(self.written):
            raise InputError(
                f"{what} has shape {values.shape}; expected one entry for each of the {len(self.written)} classes "
                f"{listed(self.written)}.",
                column=column,
            )
        order = [self.written.index(label) for label in self.axis.labels.tolist()]
        return np.ascontiguousarray(values[order])

    def table(self, name: object, parameters: Mapping[str, Any]) -> GivenTable:
        """The parameters of a column, whose classes are pooled by their prior."""
        return GivenTable(self.axis, name, parameters, np.maximum(self.prior, LEAST))


def as_numbers(given: object, what: str, expected: str, column: object = None, argument: str | None = None) -> Float:
    """An array of numbers, or `InputError`: ``what`` must be what is ``expected``."""
    try:
        values = with_seconds(np.asarray(given))
        if values.dtype.kind != "c":
            return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    got = " ".join(repr(given).split())
    raise InputError(f"{what} must be {expected}; got {got:.80}.", column=column, argument=argument)


def distinct_labels(classes: Any) -> list[Any]:
    """The labels of classes in their order; raises `InputError` unless they are distinct."""
    try:
        written = list(classes)
        distinct = len(set(written))
    except TypeError:
        raise InputError(f"classes must be a list of labels; got {classes!r:.80}.", argument="classes") from None
    if not written:
        raise InputError("There are no classes; name at least one.", argument="classes")
    if len({isinstance(label, str) for label in written}) > 1:
        raise InputError(
            f"Class labels must be of one type, all numbers or all strings; got {listed(written, 4)}.",
            argument="classes",
        )
    if distinct < len(written):
        raise InputError(f"classes must be distinct labels; got {listed(written)}.", argument="classes")
    return written


def class_labels(classes: Any, *given: Any) -> list[Any]:
    """The labels of classes in their order: those that are named, or those of the first object that has labels."""
    if classes is not None:
        return distinct_labels(classes)
    found = [labels_of(each) for each in given] + [labels_of(each, counted=True) for each in given]
    labels = next((each for each in found if each is not None), None)
    if labels is None:
        raise InputError(
            "The classes are not named. Give a mapping by class, such as {'no': 0.6, 'yes': 0.4}, or name the classes "
            "with classes=[...].",
            argument="classes",
        )
    return distinct_labels(labels)


def given_classes(prior: Any, classes: Any = None) -> Classes:
    """The classes and their prior, from a mapping of labels to probabilities, or from an array and ``classes``."""
    if prior is None:
        uniform = "" if classes is None else " or 'uniform'"
        raise InputError(f"The prior is missing. Give prior={{label: probability, ...}}{uniform}.", argument="prior")
    written = class_labels(classes, prior)
    axis = ClassAxis.of(written)
    if not isinstance(prior, Mapping | str):
        own = labels_of(prior)
        values = np.asarray(prior).tolist()
        named = written if own is None else distinct_labels(own)
        prior = dict(zip(named, values, strict=True)) if np.shape(values) == (len(named),) else values
    shares = bayes.class_prior(prior, np.ones(len(axis)), axis.labels.tolist())
    return Classes(axis, axis.labels[axis.positions(np.array(written))].tolist(), shares)


def named_columns(given: Any) -> dict[Any, list[Any]] | None:
    """The columns of a listing or a frame as lists; None for anything else."""
    if isinstance(given, Listing):
        return {name: list(values) for name, values in given.items()}
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {name: values.to_list() for name, values in zip(frame.columns, frame.iter_columns(), strict=True)}
    return None
