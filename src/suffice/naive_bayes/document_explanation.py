"""Why a document is judged as it is: what each of its words adds to the log-odds.

log p(a | x) − log p(b | x) = log p(a)/p(b) + Σ_words part of the word + rest

The rest is what no word of the document says: that it has none of the others (Bernoulli words), or what normalises the
draws of words that come in bursts (``estimation="bayes"``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError
from suffice.families import Text
from suffice.families.text.informative_words import Spoken, spoken
from suffice.model import Estimate
from suffice.model.explanation import PRIOR, compared
from suffice.tables.listing import Listing
from suffice.text.texts import Texts

__all__ = ["DocumentExplanation", "explain_documents"]

Float = NDArray[np.float64]

REST = {"bernoulli": "(words that are not there)", "multinomial": "(length)"}
SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class DocumentExplanation:
    """The parts of the log-odds of one class against another, document by document and word by word.

    Attributes
    ----------
    names : list of lists of str
        Of each document ``"(prior)"``, then the known words that it has, each once, then what the others say.
    counts : list of arrays
        How often the document has each of them; 1 for what is not a word.
    parts : list of arrays
        What each adds to the log-odds, all its occurrences together.
    labels, against : array of shape (n,)
        The classes that are compared.
    unknown : list of lists of str
        Words of each document that say nothing: they are not among those that the model uses.
    """

    names: list[list[str]]
    counts: list[Float]
    parts: list[Float]
    labels: NDArray[Any]
    against: NDArray[Any]
    unknown: list[list[str]]

    @property
    def log_odds(self) -> Float:
        """log p(label | x) − log p(against | x) of each document (n,)."""
        return np.array([float(each.sum()) for each in self.parts])

    def __len__(self) -> int:
        return len(self.parts)

    def strongest(self, row: int | None = None, n: int | None = None) -> Listing:
        """Parts by strength, the strongest first, of one document or of each in turn; the first ``n`` of each."""
        rows = range(len(self)) if row is None else [range(len(self))[row]]
        order = [(i, j) for i in rows for j in np.argsort(-np.abs(self.parts[i]), kind="stable").tolist()[:n]]
        return Listing(
            {
                "row": [i for i, _ in order],
                "label": [self.labels[i] for i, _ in order],
                "against": [self.against[i] for i, _ in order],
                "word": [self.names[i][j] for i, j in order],
                "count": [int(self.counts[i][j]) for i, j in order],
                "part": [float(self.parts[i][j]) for i, j in order],
            }
        )

    def to_frame(self, row: int | None = None, backend: Any = None) -> Any:
        """`strongest` as a data frame of pandas, or of the engine that is named."""
        return self.strongest(row).to_frame(backend)

    def __repr__(self) -> str:
        if len(self) == 1:
            return repr(self.strongest(0))
        return f"Explanation of {len(self)} documents in {sum(map(len, self.names))} parts; see strongest(row)."

    def _repr_html_(self) -> str:
        first = slice(0, SHOWN)
        parts = (self.names, self.counts, self.parts, self.labels, self.against, self.unknown)
        shown = DocumentExplanation(*(each[first] for each in parts)).strongest()  # type: ignore[arg-type]
        return shown._repr_html_() + (f"<p>… of {len(self)} documents</p>" if len(self) > SHOWN else "")


def explain_documents(
    estimate: Estimate, family: Text, texts: Texts, label: int | None, against: int | None
) -> DocumentExplanation:
    """The parts of the log-odds; of two classes the second's, of more the likeliest's against the next."""
    said = [spoken(family, estimate.parameters[0], texts, i) for i in range(len(texts))]
    sums = [each.parts.sum(axis=0) + each.rest for each in said]
    joint = bayes.joint(estimate.log_prior, np.array(sums).reshape(len(said), len(estimate.classes)))
    bayes.decide(joint)  # raises for a document that no class can explain, as a prediction does
    first, second = compared(joint, label, against)
    found = [
        _parts_of(estimate, family, each, i, int(a), int(b))
        for i, (each, a, b) in enumerate(zip(said, first, second, strict=True))
    ]
    labels = estimate.classes.labels
    return DocumentExplanation(
        [names for names, _, _ in found],
        [counts for _, counts, _ in found],
        [parts for _, _, parts in found],
        labels[first],
        labels[second],
        [each.unknown for each in said],
    )


def _parts_of(
    estimate: Estimate, family: Text, said: Spoken, row: int, first: int, second: int
) -> tuple[list[str], Float, Float]:
    """Names, counts and parts of one document."""
    whole = np.vstack([estimate.log_prior, said.parts, said.rest])
    mine, other = whole[:, first], whole[:, second]
    if np.isneginf(mine).any() and np.isneginf(other).any():
        raise InputError(
            f"Row {row} is impossible under both classes, and there are no odds between them. Set smoothing above 0, "
            "or compare other classes."
        )
    with np.errstate(invalid="ignore"):
        parts = mine - other
    parts = np.where(np.isnan(parts), 0.0, parts)
    names, counts = [PRIOR, *said.words, REST.get(family.event, "")], np.concatenate([[1.0], said.counts, [1.0]])
    if not said.rest.any():
        return names[:-1], counts[:-1], parts[:-1]
    return names, counts, parts
