"""The classes of parameters or aggregates that a user gives, and numbers of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from suffice import bayes
from suffice.exceptions import InputError, did_you_mean, listed
from suffice.families.given import GivenTable
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis
from suffice.tables.listing import Listing

__all__ = ["Classes", "as_numbers", "distinct_labels", "given_classes", "matched", "named_columns"]

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

    def numbers(self, given: object, what: str, column: object = None) -> Float:
        """Numbers of each class, in the order of the axis (K, ...), from a mapping by label or an array."""
        if isinstance(given, Mapping):
            by_label = matched(given, self.written, what, column)
            given = [by_label[label] for label in self.written]
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

    def in_written_order(self, values: Float) -> Float:
        """Numbers of each class (K, ...) in the order in which the classes were given."""
        return values[self.axis.positions(np.array(self.written))]


def as_numbers(given: object, what: str, expected: str, column: object = None, argument: str | None = None) -> Float:
    """An array of numbers, or `InputError`: ``what`` must be what is ``expected``."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be {expected}; got {given!r:.80}.", column=column, argument=argument) from None


def distinct_labels(classes: Any) -> list[Any]:
    """The labels of classes in their order; raises `InputError` unless they are distinct."""
    try:
        written = list(classes)
        distinct = len(set(written))
    except TypeError:
        raise InputError(f"classes must be a list of labels; got {classes!r:.80}.", argument="classes") from None
    if distinct < len(written) or not written:
        raise InputError(f"classes must be distinct labels; got {listed(written)}.", argument="classes")
    return written


def matched(given: Mapping[Any, Any], labels: Sequence[object], what: str, column: object) -> dict[object, Any]:
    """The values of each label; keys of a frame may be the texts of the labels."""
    texts = {str(key): value for key, value in given.items()}
    found = {label: given[label] if label in given else texts.get(str(label), _NOTHING) for label in labels}
    absent = [label for label, value in found.items() if value is _NOTHING]
    known = {str(label) for label in labels}
    unknown = [key for key in given if key not in labels and str(key) not in known]
    if unknown:
        raise InputError(
            f"{what} names the unknown class {listed(unknown[:1])}.{did_you_mean(unknown[0], labels)} The classes are "
            f"{listed(list(labels))}.",
            column=column,
        )
    if absent:
        raise InputError(f"{what} has no number for class {listed(absent)}.", column=column)
    return found


_NOTHING = object()


def given_classes(prior: Any, classes: Any = None) -> Classes:
    """The classes and their prior, from a mapping of labels to probabilities, or from an array and ``classes``."""
    if hasattr(prior, "to_dict") and not isinstance(prior, Mapping):
        prior = prior.to_dict()
    if classes is None and not isinstance(prior, Mapping):
        raise InputError(
            "The classes are not named. Give the prior as a mapping, such as prior={'no': 0.6, 'yes': 0.4}, or name "
            "the classes with classes=[...].",
            argument="classes",
        )
    written = distinct_labels(prior if classes is None else classes)
    axis = ClassAxis.of(written)
    if prior is None:
        raise InputError("The prior is missing. Give prior={label: probability, ...} or 'uniform'.", argument="prior")
    if not isinstance(prior, Mapping | str):
        prior = (
            dict(zip(written, np.asarray(prior).tolist(), strict=False)) if len(written) == np.size(prior) else prior
        )
    shares = bayes.class_prior(prior, np.ones(len(axis)), axis.labels.tolist())
    return Classes(axis, axis.labels[axis.positions(np.array(written))].tolist(), shares)


def named_columns(given: Any) -> dict[str, list[Any]] | None:
    """The columns of a listing or a frame as lists; None for anything else."""
    if isinstance(given, Listing):
        return {str(name): list(values) for name, values in given.items()}
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {str(name): frame[name].to_list() for name in frame.columns}
    return None
