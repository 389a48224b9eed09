"""Why a model answers as it does: the additive parts of the log-odds.

log p(a | x) − log p(b | x) = log p(a)/p(b) + Σ_columns log p(x_j | a)/p(x_j | b)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.bayes import decide
from suffice.exceptions import InputError
from suffice.model import Estimate
from suffice.tables.listing import Listing

__all__ = ["PRIOR", "Explanation", "compared", "explain"]

Float = NDArray[np.float64]
PRIOR = "(prior)"
BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The parts of the log-odds of one class against another, row by row.

    Attributes
    ----------
    names : list
        ``"(prior)"``, then a column or a tuple of columns for each part.
    parts : array of shape (n, len(names))
    log_odds : array of shape (n,)
        Their sums.
    labels, against : array of shape (n,)
        The classes that are compared.
    """

    names: list[Any]
    parts: Float
    labels: NDArray[Any]
    against: NDArray[Any]

    @property
    def log_odds(self) -> Float:
        """log p(label | x) − log p(against | x) of each row (n,)."""
        total: Float = self.parts.sum(axis=1)
        return total

    def __len__(self) -> int:
        return len(self.parts)

    def strongest(self, row: int | None = None) -> Listing:
        """Parts by strength, the strongest first, of one row or of each row in turn."""
        rows = range(len(self)) if row is None else [range(len(self))[row]]
        order = [(i, j) for i in rows for j in np.argsort(-np.abs(self.parts[i]), kind="stable")]
        return Listing(
            {
                "row": [i for i, _ in order],
                "label": [self.labels[i] for i, _ in order],
                "against": [self.against[i] for i, _ in order],
                "column": [_text(self.names[j]) for _, j in order],
                "part": [float(self.parts[i, j]) for i, j in order],
            }
        )

    def to_frame(self, row: int | None = None, backend: Any = None) -> Any:
        """`strongest` as a data frame of pandas, or of the engine that is named."""
        return self.strongest(row).to_frame(backend)

    def __repr__(self) -> str:
        if len(self) == 1:
            return repr(self.strongest(0))
        return f"Explanation of {len(self)} rows in {len(self.names)} parts: {', '.join(map(_text, self.names))}"

    def _repr_html_(self) -> str:
        shown = Explanation(self.names, self.parts[:5], self.labels[:5], self.against[:5]).strongest()
        return shown._repr_html_() + (f"<p>… of {len(self)} rows</p>" if len(self) > 5 else "")


def _text(name: Any) -> str:
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def explain(estimate: Estimate, table: Any, label: int | None, against: int | None) -> Explanation:
    """The parts of the log-odds; of two classes the second's, of more the likeliest's against the next."""
    # Of all classes and columns at once, for as many rows as are not too many cells.
    step = max(1, BLOCK_CELLS // max(len(estimate.classes) * estimate.n_columns, 1))
    found = [_explain_rows(estimate, table.rows(i, i + step), i, label, against) for i in range(0, len(table), step)]
    if len(found) <= 1:
        return found[0] if found else _explain_rows(estimate, table, 0, label, against)
    return Explanation(
        found[0].names,
        np.vstack([each.parts for each in found]),
        np.concatenate([each.labels for each in found]),
        np.concatenate([each.against for each in found]),
    )


def _explain_rows(
    estimate: Estimate, table: Any, first_row: int, label: int | None, against: int | None
) -> Explanation:
    terms = estimate.terms(table)
    n, k = len(table), len(estimate.classes)
    parts = np.empty((n, k, 1 + len(terms)))
    parts[:, :, 0] = estimate.log_prior
    for j, (_, part) in enumerate(terms):
        parts[:, :, 1 + j] = part
    joint = parts.sum(axis=2)
    decide(joint)  # raises for a row that no class can explain, as a prediction does
    first, second = compared(joint, label, against)
    rows = np.arange(n)
    lost = np.isneginf(joint[rows, first]) & np.isneginf(joint[rows, second])
    if lost.any():
        raise InputError(
            f"Row {first_row + int(np.argmax(lost))} is impossible under both classes, and there are no odds between "
            "them. Set smoothing above 0, or compare other classes."
        )
    with np.errstate(invalid="ignore"):
        chosen = parts[rows, first] - parts[rows, second]
    chosen = np.where(np.isnan(chosen), 0.0, chosen)  # what is impossible under both tells them not apart
    labels = estimate.classes.labels
    return Explanation([PRIOR, *(name for name, _ in terms)], chosen, labels[first], labels[second])


def compared(joint: Float, label: int | None, against: int | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The classes to compare in each row: those given; else the second of two, or the likeliest and the next."""
    n, k = joint.shape
    if label is None and against is None and k == 2:
        label, against = 1, 0
    order = np.argsort(-joint, axis=1, kind="stable")
    likeliest, next_one = order[:, 0], order[:, min(1, k - 1)]
    if label is not None:
        first = np.full(n, label)
    else:
        first = likeliest if against is None else np.where(likeliest == against, next_one, likeliest)
    second = np.where(likeliest == first, next_one, likeliest) if against is None else np.full(n, against)
    return first, second
