"""The result of an explanation, and the choice of the two classes that it compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from suffice.exceptions import Argument, InputError
from suffice.numerics.types import Array, Float, Index
from suffice.tables.cell_values import value_text
from suffice.tables.listing import FrameBackend, Listing
from suffice.tables.part_cells import PartCells

__all__ = ["PRIOR", "REST", "Explanation", "check_comparable", "compared_classes"]

PRIOR = "(prior)"  # name of the part that the class priors have
REST = {"bernoulli": "(absent words)", "multinomial": "(length)"}  # names of parts that no word of a text has
WIDEST_VALUE = 24  # characters of a value that are printed
SHOWN_ROWS = 5  # of an explanation in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Explanation of predictions: the parts of the log-odds of one class against another, row by row.

    A part belongs to a column, or in documents to a word, or to the class prior.

    Attributes
    ----------
    names : list, or list of lists of str
        Names of the parts: ``"(prior)"``, then columns or tuples of columns. For documents there is a list for each
        document: ``"(prior)"``, its known words, each once, and for Bernoulli words ``"(absent words)"``, which is the
        sum of the known words that the document lacks.
    parts : array of shape (n, len(names)), or list of arrays
        What each part adds to the log-odds. The part of a word counts all its occurrences.
    labels, against : array of shape (n,)
        The classes that are compared.
    counts : list of arrays, or None
        How often each word occurs in each document, and 1 for other parts. None for columns.
    unknown : list of lists of str, or None
        Words of each document that the model does not use. None for columns.
    members : list of str, or None
        The member of an ensemble that each part belongs to; empty for the prior. None for other models.
    cells : PartCells or None
        The cells of the parts; see `values`. None for words.
    measure : {"log-odds", "log-odds before calibration", "weighted log-odds"}
        What the parts sum to. Weighted log-odds are those of a calibration by columns.
    """

    names: list[Any]
    parts: Any
    labels: Array
    against: Array
    counts: list[Float] | None = None
    unknown: list[list[str]] | None = None
    members: list[str] | None = None
    cells: PartCells | None = None
    measure: str = "log-odds"

    @property
    def log_odds(self) -> Float:
        """Sum of the parts of each row (n,): log p(label | x) − log p(against | x), unless ``measure`` is different."""
        if isinstance(self.parts, np.ndarray):
            return np.asarray(self.parts.sum(axis=1))
        return np.array([float(each.sum()) for each in self.parts])

    def __len__(self) -> int:
        return len(self.parts)

    def values(self, row: int) -> list[Any]:
        """List the values of the parts of one row: the cells of the columns, or the counts of the words.

        The value is None for a missing cell, for the prior, and for other parts without cells. A part of several
        columns has a tuple. The explanation holds copies of the cells, so rows may be changed afterwards.
        """
        row = range(len(self))[row]
        if self.counts is not None:
            named = zip(self.names[row], self.counts[row].tolist(), strict=True)
            return [None if name in (PRIOR, *REST.values()) else int(count) for name, count in named]
        if self.cells is None:
            return [None] * len(self.names)
        return self.cells.values([row] * len(self.names), range(len(self.names)))

    def strongest(self, row: int | None = None, n: int | None = None) -> Listing:
        """List the parts of one row, or of all rows in turn, the largest first.

        Parameters
        ----------
        row : int, optional
            The row. By default all rows.
        n : int, optional
            Largest number of parts of each row. By default all parts.

        Returns
        -------
        Listing
            ``row``, ``label``, ``against``, ``column`` (or ``word``), ``value`` (or ``count`` of a word) and ``part``.
            The value of a part of several columns is a text.
        """
        rows = range(len(self)) if row is None else [range(len(self))[row]]
        order = [(i, j) for i in rows for j in np.argsort(-np.abs(self.parts[i]), kind="stable").tolist()[:n]]
        named: dict[str, list[Any]]
        if self.counts is None:
            named = {"column": [_column_name(self.names[j]) for _, j in order]}
            if self.cells is not None:
                values = self.cells.values([i for i, _ in order], [j for _, j in order])
                named["value"] = [value_text(each) if isinstance(each, tuple) else each for each in values]
            if self.members is not None:
                named = {"member": [self.members[j] for _, j in order], **named}
        else:
            named = {
                "word": [self.names[i][j] for i, j in order],
                "count": [int(self.counts[i][j]) for i, j in order],
            }
        return Listing(
            {
                "row": [i for i, _ in order],
                "label": [self.labels[i] for i, _ in order],
                "against": [self.against[i] for i, _ in order],
                **named,
                "part": [float(self.parts[i][j]) for i, j in order],
            }
        )

    def by_column(self) -> Explanation:
        """Add up the parts of the members of an ensemble: the result has one part for each column."""
        if self.members is None:
            return self
        names = list(dict.fromkeys(self.names))
        at = np.array([names.index(name) for name in self.names])
        parts = np.zeros((len(self), len(names)))
        np.add.at(parts.T, at, self.parts.T)
        cells = self.cells
        if cells is not None:
            cells = replace(cells, columns=tuple(cells.columns[self.names.index(name)] for name in names))
        return replace(self, names=names, parts=parts, members=None, cells=cells)

    def to_frame(self, row: int | str | ModuleType | None = None, backend: FrameBackend | None = None) -> Any:
        """Return the parts as a data frame, the largest first.

        Parameters
        ----------
        row : int, optional
            The row. By default all rows. The backend may come first: ``to_frame("polars")``.
        backend : {"pandas", "polars", "pyarrow"} or module, optional
            The library of the frame; pandas by default.

        Returns
        -------
        DataFrame
            The columns of `strongest`.
        """
        if isinstance(row, str | ModuleType):
            if backend is not None:
                raise InputError(f"row must be the number of a row; got {row!r:.80}.", argument="row")
            return self.strongest().to_frame(row)  # type: ignore[arg-type]  # checked there
        return self.strongest(row).to_frame(backend)

    def __repr__(self) -> str:
        if len(self) == 1:
            return repr(_with_short_values(self.strongest(0)))
        if self.counts is not None:
            return f"Explanation of {len(self)} documents in {sum(map(len, self.names))} parts; see strongest(row)."
        return f"Explanation of {len(self)} rows in {len(self.names)} parts: {', '.join(map(_column_name, self.names))}"

    def _repr_html_(self) -> str:
        shown = _with_short_values(self._first_rows(SHOWN_ROWS).strongest()).to_html()
        what = "rows" if self.counts is None else "documents"
        return shown + (f"<p>… of {len(self)} {what}</p>" if len(self) > SHOWN_ROWS else "")

    def _first_rows(self, n: int) -> Explanation:
        if self.counts is None:
            return replace(self, parts=self.parts[:n], labels=self.labels[:n], against=self.against[:n])
        unknown = None if self.unknown is None else self.unknown[:n]
        parts = self.names[:n], self.parts[:n], self.labels[:n], self.against[:n]
        return Explanation(*parts, counts=self.counts[:n], unknown=unknown)


def _column_name(name: str | Sequence[object]) -> str:
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _with_short_values(listing: Listing) -> Listing:
    """The listing with long texts cut in its values."""
    if "value" not in listing:
        return listing
    values = listing["value"]
    short = [f"{each[: WIDEST_VALUE - 1]}…" if _is_long(each) else each for each in values]
    return Listing({**listing, "value": short})


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > WIDEST_VALUE


def compared_classes(joint: Float, label: int | None, against: int | None) -> tuple[Index, Index]:
    """Positions of the two classes to compare in each row (n,), by log p(x, y) (n, K).

    They are the given classes. Without any, they are the second class against the first if there are two, otherwise the
    most likely class against the next.
    """
    n, k = joint.shape
    if label is None and against is None and k == 2:
        label, against = 1, 0
    order = np.argsort(-joint, axis=1, kind="stable")
    likeliest, runner_up = order[:, 0], order[:, min(1, k - 1)]
    if label is not None:
        first = np.full(n, label)
    else:
        first = likeliest if against is None else np.where(likeliest == against, runner_up, likeliest)
    second = np.where(likeliest == first, runner_up, likeliest) if against is None else np.full(n, against)
    return first, second


def check_comparable(joint: Float, first: Index, second: Index, first_row: int = 0) -> None:
    """Raise `InputError` if a row has probability zero under both classes; ``first_row`` is the number of row 0."""
    rows = np.arange(len(joint))
    impossible = np.isneginf(joint[rows, first]) & np.isneginf(joint[rows, second])
    if impossible.any():
        raise InputError.in_row(
            "is impossible under both classes, so there are no odds between them. Set ",
            Argument("smoothing"),
            " above 0, or compare other classes.",
            rows=first_row + np.flatnonzero(impossible),
        )
