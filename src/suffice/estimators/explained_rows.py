"""Explanations of single predictions in plain values, as the command and the server write them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from suffice.exceptions import InputError
from suffice.tables.cell_values import value_text

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.model.explanation_result import Explanation

__all__ = ["ClassProbability", "ExplainedRow", "Part", "explained_rows"]


class ClassProbability(TypedDict):
    """A class and its probability."""

    label: object
    p: float


class Part(TypedDict):
    """The part of a column or word in the log-odds."""

    part: float
    column: NotRequired[str]
    value: NotRequired[object]
    member: NotRequired[str]
    word: NotRequired[str]
    count: NotRequired[float]


class ExplainedRow(TypedDict):
    """The prediction for a row, and the parts of its log-odds, largest first; the command says where the row is."""

    row: NotRequired[int]
    place: NotRequired[str]
    predicted: object
    probabilities: list[ClassProbability]
    label: object
    against: object
    log_odds: float
    calibrated: bool
    weighted: bool
    parts: list[Part]


def explained_rows(
    model: GenerativeClassifier,
    rows: Any,
    label: Hashable = None,
    against: Hashable = None,
    *,
    members: bool = False,
    options: Mapping[str, bool] | None = None,
) -> list[ExplainedRow]:
    """Explain the prediction of each row.

    Parameters
    ----------
    rows : array-like or table
        As the prediction methods take them.
    label, against : object, optional
        The classes to compare; by default the predicted class and the next most probable one.
    members : bool
        Whether the members of an ensemble have parts of their own.
    options : mapping, optional
        Further arguments of the method `explain`.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> found = explained_rows(model, [[2.0]])[0]
    >>> found["predicted"], found["against"], [each["column"] for each in found["parts"]]
    ('a', 'b', ['0', '(prior)'])
    """
    classes: list[Hashable] = model.classes_.tolist()
    if len(classes) < 2:
        raise InputError("The model has only one class, so there are no odds to explain.")
    found = model.explain(rows, label, against, **(options or {}))
    probabilities = model.predict_proba(rows).tolist()
    predicted = model.predict(rows).tolist()
    labels = found.labels.tolist()

    def of(explanation: Explanation) -> Explanation:
        return explanation if members else explanation.by_column()

    explained, out = of(found), []
    others: dict[Hashable, Explanation] = {}
    for i, (own, p) in enumerate(zip(predicted, probabilities, strict=True)):
        explanation = explained
        if label is None and own not in (against, labels[i]):  # calibration changed the order of the classes
            if own not in others:
                others[own] = of(model.explain(rows, own, against, **(options or {})))
            explanation = others[own]
        out.append(
            ExplainedRow(
                predicted=own,
                probabilities=[ClassProbability(label=c, p=each) for c, each in zip(classes, p, strict=True)],
                label=explanation.labels.tolist()[i],
                against=explanation.against.tolist()[i],
                log_odds=float(explanation.log_odds[i]),
                calibrated=model.fitted_.calibration is not None,
                weighted=model.fitted_.weighted is not None,
                parts=_parts(explanation.strongest(i)),
            )
        )
    return out


def _parts(listing: Mapping[str, Sequence[Any]]) -> list[Part]:
    """Turn a listing of columns or words into plain values."""
    parts: Sequence[float] = listing["part"]
    if "word" in listing:
        words = zip(listing["word"], parts, listing["count"], strict=True)
        return [{"word": word, "part": part, "count": count} for word, part, count in words]
    values = map(_json_cell, listing["value"])
    columns: list[Part] = [
        {"column": column, "value": value, "part": part}
        for column, value, part in zip(listing["column"], values, parts, strict=True)
    ]
    if "member" in listing:
        return [{"member": member, **each} for member, each in zip(listing["member"], columns, strict=True)]
    return columns


def _json_cell(value: object) -> object:
    """A cell as JSON has it: numbers, truth values and null as they are, dates and others as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else value_text(value)
