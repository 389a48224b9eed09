"""Notes about likely mistakes in the data of a fit, from a sample of its rows.

Each check reads a few hundred rows first, and more only for the columns that pass. A note is a sentence with its facts,
such as the column. It is not a warning, so it never stops a program that turns warnings into errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.exceptions import Argument, SufficeWarning, columns_at, listed, short
from suffice.numerics.types import Codes, Float, Index

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["likely_mistakes"]

FEWEST_ROWS = 50  # fewer rows say too little
FIRST_ROWS, ALL_ROWS = 500, 20_000  # rows on which every column, and every column that passes, is checked
RARE = 0.02  # share of a class
MANY_CLASSES, ROWS_PER_CLASS = 50, 50  # at least so many numbers with at most so many rows each are not classes
SENTINELS = frozenset(sign * (10.0**digits - 1) for digits in range(2, 10) for sign in (1, -1))
FEWEST_OTHERS = 10  # rows outside the largest class that a column must tell apart
ROWS_PER_LEVEL = 10  # that a column needs on average to predict the class from its levels


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of the sample."""

    name: str
    cells: pa.Array

    @cached_property
    def numbers(self) -> Float | None:
        """The cells as numbers (n,), with NaN where they are missing; None if they are not numbers."""
        import pyarrow as pa

        kind = self.cells.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return None
        values: Float = self.cells.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return values

    @cached_property
    def codes(self) -> Index:
        """The position of each text among the distinct ones (n,); −1 for a missing cell."""
        import pyarrow as pa

        cells = self.cells.cast(pa.large_string()) if pa.types.is_string_view(self.cells.type) else self.cells
        coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        return np.asarray(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)

    @cached_property
    def content(self) -> int:
        """A hash that equal columns share."""
        import pyarrow as pa

        numbers = self.numbers
        if numbers is not None:
            return hash(numbers.tobytes())
        kind, cells = self.cells.type, self.cells
        if pa.types.is_temporal(kind):  # Python has no nanoseconds
            cells = cells.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        return hash((str(kind), tuple(cells.to_pylist())))


def likely_mistakes(
    rows: pa.Table,
    codes: Codes,
    names: Sequence[object],
    classes: Sequence[object],
    class_weights: Float,
    *,
    as_text: bool,
) -> tuple[SufficeWarning, ...]:
    """Notes about columns and classes that are probably mistakes: constants, identifiers, sentinels, duplicates, leaks.

    Parameters
    ----------
    rows : pyarrow.Table
        A sample of the rows, with one chunk for each column.
    codes : array of shape (n,)
        Their classes.
    names : sequence
        The columns that the model uses.
    classes : sequence
        The labels of all classes.
    class_weights : array of shape (K,)
        The weights of the classes in all rows.
    as_text : bool
        Whether the cells of the source are texts, some of which can be read as missing.
    """
    notes = [*_quantity(classes, class_weights), *_rare_classes(classes, class_weights)]
    if rows.num_rows < FEWEST_ROWS:
        return ()
    used = [name for name in rows.column_names if name in set(names)]
    rows = rows.select(used)
    if rows.num_rows > ALL_ROWS:
        at = _some_rows(codes, ALL_ROWS)
        rows, codes = rows.take(at), codes[at]
    first = _some_rows(codes, FIRST_ROWS)
    some, some_codes = rows.take(first), codes[first]
    sample = {name: _column(some, name) for name in used}

    def found(check: Callable[[_Column, Codes], bool]) -> list[str]:
        """The columns that pass a check on the first rows and on all."""
        return [name for name in used if check(sample[name], some_codes) and check(_column(rows, name), codes)]

    constant = found(_is_constant)
    duplicates = _duplicates(rows, [sample[name] for name in used if name not in constant])
    copies = {copy for copy, _ in duplicates}
    leaks = [name for name in found(_predicts) if name not in copies]
    identifiers = [name for name in found(_is_identifier) if name not in leaks and name not in copies]
    sentinels = [name for name in found(_has_sentinel) if name not in copies]
    if constant:
        one = len(constant) == 1
        notes.append(
            _note(
                f"{_columns(constant)} {'holds' if one else 'hold'} a single value, so {_it(constant)} "
                f"{'has' if one else 'have'} no effect. Ignore {_them(constant)} with ",
                constant,
            )
        )
    if identifiers:
        notes.append(
            _note(
                f"{_columns(identifiers)} {'has' if len(identifiers) == 1 else 'have'} a different whole number in "
                f"every row, like an identifier. Ignore {_them(identifiers)} with ",
                identifiers,
            )
        )
    notes += [_sentinel_note(_column(rows, name), as_text) for name in sentinels]
    if duplicates:
        pairs = ", ".join(f"{short(copy)} repeats {short(original)}" for copy, original in duplicates[:4])
        more = f" and {len(duplicates) - 4} more" if len(duplicates) > 4 else ""
        notes.append(
            _note(
                f"Column {pairs}{more}: equal columns count the same evidence twice. Ignore the "
                f"{'copy' if len(duplicates) == 1 else 'copies'} with ",
                [copy for copy, _ in duplicates],
            )
        )
    if leaks:
        notes.append(
            _note(
                f"{_columns(leaks)} {'predicts' if len(leaks) == 1 else 'each predict'} the target perfectly alone. "
                f"Unless {_it(leaks)} {'is' if len(leaks) == 1 else 'are'} known before the label, ignore "
                f"{_them(leaks)} with ",
                leaks,
            )
        )
    return tuple(notes)


def _some_rows(codes: Codes, n: int) -> Index:
    """Evenly spaced rows (about n), and a few rows of each class."""
    order = np.argsort(codes, kind="stable")
    of_class = codes[order]
    rank = np.arange(len(codes)) - np.searchsorted(of_class, of_class)
    few = order[rank < FEWEST_OTHERS][:n]
    return np.union1d(few, np.linspace(0, len(codes) - 1, min(n, len(codes))).astype(np.int64))


def _column(rows: pa.Table, name: str) -> _Column:
    cells = rows[name]
    return _Column(name, cells.chunk(0) if cells.num_chunks == 1 else cells.combine_chunks())


# ---------------------------------------------------------------------- checks


def _is_constant(column: _Column, codes: Codes) -> bool:
    x = column.numbers
    if x is not None:
        present = x[~np.isnan(x)]
        return bool(len(present)) and bool((present == present[0]).all())
    values = column.codes
    return bool(len(values)) and bool((values == values[0]).all()) and values[0] >= 0


def _is_identifier(column: _Column, codes: Codes) -> bool:
    """Whether every row has a different whole number."""
    x = column.numbers
    if x is None or not np.isfinite(x).all() or (x != np.floor(x)).any():
        return False
    return len(np.unique(x)) == len(x)


def _has_sentinel(column: _Column, codes: Codes) -> bool:
    return _sentinel(column) is not None


def _sentinel(column: _Column) -> float | None:
    """A number of nines such as −999 that several rows hold, far from all others or the only negative one."""
    x = column.numbers
    if x is None:
        return None
    x = x[np.isfinite(x)]
    for value in (x.min(initial=np.inf), x.max(initial=-np.inf)):
        others = x[x != value]
        if value not in SENTINELS or len(x) - len(others) < 2 or len(others) < FEWEST_OTHERS:
            continue
        low, high = float(others.min()), float(others.max())
        gap = low - value if value < low else value - high
        if gap > high - low or (value < 0 <= low):
            return float(value)
    return None


def _predicts(column: _Column, codes: Codes) -> bool:
    """Whether the column alone gives the class of every row: by its levels, or by thresholds of a number."""
    n, present = len(codes), np.bincount(codes)
    if n - present.max() < FEWEST_OTHERS:
        return False
    values = column.codes if column.numbers is None else np.nan_to_num(column.numbers, nan=-np.inf)
    order = np.lexsort((codes, values))
    changes = codes[order][1:] != codes[order][:-1]
    new_value = values[order][1:] != values[order][:-1]
    if (changes & ~new_value).any():
        return False
    by_threshold = column.numbers is not None and changes.sum() < (present > 0).sum()
    return bool(by_threshold or (1 + new_value.sum()) * ROWS_PER_LEVEL <= n)


def _duplicates(rows: pa.Table, columns: Sequence[_Column]) -> list[tuple[str, str]]:
    """Columns that repeat an earlier column, with that column."""
    by_content: dict[int, str] = {}
    out = []
    for column in columns:
        original = by_content.setdefault(column.content, column.name)
        if original != column.name and _column(rows, original).content == _column(rows, column.name).content:
            out.append((column.name, original))
    return out


def _quantity(classes: Sequence[object], weights: Float) -> list[SufficeWarning]:
    """A note if the labels are so many numbers that they are probably a quantity."""
    numbers = [label for label in classes if isinstance(label, int | float) and not isinstance(label, bool)]
    if len(numbers) < MANY_CLASSES or weights.sum() > ROWS_PER_CLASS * len(numbers):
        return []
    return [
        SufficeWarning(
            f"The target has {len(numbers):,} different numbers, with {weights.sum() / len(numbers):.2g} rows each on "
            "average: it looks like a quantity. Each number is a class of its own; cut the values into classes."
        )
    ]


def _rare_classes(classes: Sequence[object], weights: Float) -> list[SufficeWarning]:
    total = weights.sum()
    rare = np.flatnonzero((weights > 0) & (weights < min(RARE, 0.5 / max(len(weights), 1)) * total))
    if not len(rare):
        return []
    names = [classes[int(k)] for k in rare]
    what = f"Class {listed(names)} has" if len(rare) == 1 else f"Classes {listed(names)} have"
    share = weights[rare] / total
    amount = f"{100 * share[0]:.2g} %" if len(rare) == 1 else f"{100 * share.min():.2g} % to {100 * share.max():.2g} %"
    return [
        SufficeWarning(
            f"{what} {amount} of the rows: the accuracy hardly depends on {'it' if len(rare) == 1 else 'them'}. Look "
            "at the balanced accuracy and at the recall of each class."
        )
    ]


# ---------------------------------------------------------------------- sentences


def _note(sentence: str, columns: Sequence[str]) -> SufficeWarning:
    return SufficeWarning(sentence, Argument("ignore", list(columns)), ".", column=columns[0])


def _sentinel_note(column: _Column, as_text: bool) -> SufficeWarning:
    value = _sentinel(column)
    assert value is not None
    assert column.numbers is not None
    share = float((column.numbers == value).mean())
    problem = (
        f"Column {short(column.name)} holds {value:.0f} in {100 * share:.2g} % of the rows, probably a code for a "
        "missing value. "
    )
    if not as_text:
        return SufficeWarning(f"{problem}Replace it by null in the data.", column=column.name)
    return SufficeWarning(
        f"{problem}Read it as missing with ", Argument("nulls", [f"{value:.0f}"]), ".", column=column.name
    )


def _columns(names: Sequence[str]) -> str:
    text = columns_at(names, range(len(names)))
    return text[0].upper() + text[1:]


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "they"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
