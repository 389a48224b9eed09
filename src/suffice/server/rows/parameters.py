"""JSON documents that are not rows: what to draw, and a class prior."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from suffice.estimators import GenerativeClassifier
from suffice.estimators.drawn_rows import drawn_tables
from suffice.exceptions import did_you_mean, listed, short
from suffice.families import Text
from suffice.families.text.parameters import TextParameters
from suffice.learning.fitted import Fitted
from suffice.server.problems import Problem
from suffice.server.rows.class_labels import class_named, classes_by_text, written_classes
from suffice.server.rows.row_plans import described, plan_of
from suffice.server.settings import Limits
from suffice.sources.engine_types import ArrowTable
from suffice.statistics import ClassAxis

__all__ = ["SampleRequest", "given_prior"]

PRIORS = ("data", "uniform")
LARGEST = 1 << 32
LARGEST_DRAW = 1_000_000  # cells and words


@dataclass(frozen=True)
class SampleRequest:
    """Rows to draw.

    Attributes
    ----------
    rows : int
    label : object, optional
        Their class, as text, number or truth value; by default classes are drawn from the prior.
    seed : int, optional
    length : int, optional
        Words of each text.
    """

    rows: int
    label: Any = None
    seed: int | None = None
    length: int | None = None

    @classmethod
    def of(cls, document: Any, limits: Limits, fitted: Fitted) -> Self:
        """Check a document such as ``{"rows": 2, "class": "a", "seed": 0}``, for a model."""
        members = _members(document, ("rows", "class", "seed", "length"), '{"rows": 10}')
        if "rows" not in members:
            raise Problem(400, 'The document has no member "rows", the number of rows to draw.')
        rows = _whole(members["rows"], "rows", 1, limits.sampled)
        seed = None if members.get("seed") is None else _whole(members["seed"], "seed", 0, LARGEST)
        length = None if members.get("length") is None else _whole(members["length"], "length", 0, 10_000)
        most = LARGEST_DRAW // _size_of_row(fitted, length)
        if rows > max(most, 1):
            raise Problem(413, f"{rows:,} rows of this size are too many. Draw at most {most:,} at a time.", limit=most)
        return cls(rows, members.get("class"), seed, length)

    def drawn(self, model: GenerativeClassifier) -> ArrowTable:
        """Draw the rows, with the names of columns that rows to predict have."""
        import pyarrow as pa

        fitted = model.fitted_
        label = None if self.label is None else _class(fitted, self.label)
        table = pa.concat_tables(drawn_tables(model, self.rows, label, self.length, self.seed))
        plan = plan_of(fitted)
        if plan.named or plan.documents:
            return table
        return table.rename_columns([*map(str, fitted.layout.names), table.column_names[-1]])


def given_prior(document: Any, fitted: Fitted) -> str | dict[Hashable, float]:
    """The class prior of a document such as ``{"prior": {"a": 0.3, "b": 0.7}}`` or ``{"prior": "uniform"}``.

    Raises `Problem` if classes are missing or unknown, or if the probabilities are not numbers; the model checks their
    sum.
    """
    members = _members(document, ("prior",), '{"prior": "uniform"}')
    prior = members.get("prior")
    if isinstance(prior, str) and prior in PRIORS:
        return prior
    if not isinstance(prior, Mapping):
        raise Problem(
            422, f'"prior" is {described(prior)}; expected {listed(list(PRIORS))} or a number for each class.'
        )
    known = classes_by_text(fitted.classes)
    found: dict[Hashable, float] = {}
    for name, value in prior.items():
        label = known[name] if name in known else class_named(fitted.classes, name, "prior")
        found[label] = _probability(value, name)
    missing = [label for label in fitted.classes.labels.tolist() if label not in found]
    if missing:
        names = written_classes(ClassAxis.of(missing))
        raise Problem(422, f"The prior has no probability for {names}. Give one for each class.")
    if len(found) < len(prior):
        raise Problem(422, "The prior names a class twice. Give one probability for each class.")
    return found


def _members(document: Any, known: Iterable[str], example: str) -> Mapping[str, Any]:
    """The members of an object; raises `Problem` for another document, or a member without a meaning."""
    if not isinstance(document, dict):
        raise Problem(400, f"The body is {described(document)}; expected an object such as {example}.")
    known = list(known)
    for name in document:
        if name not in known:
            raise Problem(
                400,
                f"The document has an unknown member {short(name)}.{did_you_mean(name, known)} "
                f"The members are {listed(known)}.",
            )
    return document


def _whole(value: Any, name: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        shown = str(value) if type(value) in (int, float) else described(value)
        status = 413 if name == "rows" and type(value) is int and value > most else 422
        raise Problem(
            status, f'"{name}" is {shown:.40}; expected a whole number from {least} to {most:,}.', argument=name
        )
    return value


def _size_of_row(fitted: Fitted, length: int | None) -> int:
    """Cells of a drawn row, and words of its texts; Bernoulli texts draw each word that the model knows."""
    size = max(fitted.layout.n_columns, 1)
    for block, parameters in zip(fitted.estimate.blocks, fitted.estimate.parameters, strict=True):
        if isinstance(block.family, Text) and isinstance(parameters, TextParameters):
            if block.family.event == "bernoulli":
                size += len(parameters.words)
            else:
                size += math.ceil(parameters.length.max(initial=0)) if length is None else length
    return size


def _probability(value: Any, name: str) -> float:
    if type(value) not in (int, float) or not (0 <= value <= 1 and math.isfinite(value)):
        shown = str(value) if type(value) in (int, float) else described(value)
        raise Problem(
            422, f"The prior of {short(name)} is {shown:.40}; expected a number from 0 to 1.", argument="prior"
        )
    return float(value)


def _class(fitted: Fitted, label: Any) -> Hashable:
    """The class of a JSON value."""
    labels = fitted.classes.labels.tolist()
    if isinstance(label, list | dict):
        names = written_classes(fitted.classes)
        raise Problem(422, f'"class" is {described(label)}; expected one of {names}.', argument="class")
    found = next((each for each in labels if each == label and isinstance(each, bool) == isinstance(label, bool)), None)
    return class_named(fitted.classes, str(label), "class") if found is None else found
