"""Numbers whose axes have labels: mappings, and Series and frames of pandas.

A mapping and a Series have labels of their first axis. A frame of pandas has its index and its columns; one with an
index of two levels, such as ``rows.groupby(y).cov()``, is a frame for each label of the first. A frame of another
engine has columns alone. An index that counts rows from 0 holds no labels, unless they are the ones that are expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_pandas_like_dataframe, is_pandas_like_series

from suffice.exceptions import InputError, did_you_mean, listed

__all__ = ["aligned", "has_entries", "labels_of", "matched", "second_labels"]

NAMES = ("class", "column", "column")  # what the labels of each axis name


def has_entries(given: object) -> bool:
    """Whether an object has an entry for each label: a mapping, a Series, or a frame for each label."""
    return isinstance(given, Mapping) or is_pandas_like_series(given) or _is_stacked(given)


def labels_of(given: Any, *, counted: bool = False) -> list[Any] | None:
    """Labels of the first axis; None without any. With ``counted``, an index that counts rows holds labels."""
    if isinstance(given, Mapping):
        return list(given)
    if _is_stacked(given):
        return list(dict.fromkeys(given.index.get_level_values(0).tolist()))
    if is_pandas_like_series(given) or is_pandas_like_dataframe(given):
        return None if _counts_rows(given.index) and not counted else list(given.index.tolist())
    return None


def second_labels(given: Any) -> list[Any] | None:
    """Labels of the second axis, which may be those of an entry of the first; None without any."""
    if _is_stacked(given):
        return list(dict.fromkeys(given.index.get_level_values(1).tolist()))
    if is_pandas_like_dataframe(given):
        return None if _counts_rows(given.columns) else list(given.columns.tolist())
    if is_into_dataframe(given):
        return list(nw.from_native(given, eager_only=True).columns)
    entries = given.values() if isinstance(given, Mapping) else given if is_pandas_like_series(given) else ()
    return next((labels for labels in map(labels_of, entries) if labels is not None), None)


def aligned(
    given: Any, labels: Sequence[Sequence[Any] | None], what: str, column: object = None, names: Sequence[str] = NAMES
) -> Any:
    """The numbers as an array or nested lists, whose axes have the order of ``labels``.

    Parameters
    ----------
    labels : sequence
        Expected labels of each axis, in their order; None leaves an axis as it is.
    what, column : str, object
        What the numbers are, and their column, for messages.
    names : sequence of str
        What the labels of each axis name.

    Raises
    ------
    InputError
        If labels are unknown or absent.
    """
    expected, *others = [*labels, None] if len(labels) < 2 else labels
    if is_pandas_like_dataframe(given) and not _is_stacked(given):
        rows = _order(given.index.tolist(), _counts_rows(given.index), expected, what, column, names[0])
        columns = _order(given.columns.tolist(), _counts_rows(given.columns), others[0], what, column, names[1])
        return given.to_numpy()[np.ix_(rows, columns)]
    if is_into_dataframe(given) and not _is_stacked(given):
        frame = nw.from_native(given, eager_only=True)
        return frame.to_numpy()[:, _order(frame.columns, False, others[0], what, column, names[1])]
    found = _entries(given)
    if found is None:
        return given
    by_label, counts_rows = found
    order = _order(list(by_label), counts_rows, expected, what, column, names[0])
    entries = list(by_label.values())
    return [aligned(entries[i], others, what, column, names[1:]) for i in order]


def matched(
    given: Mapping[Any, Any], labels: Sequence[object], what: str, column: object, name: str = "class"
) -> dict[object, Any]:
    """The values of each label; keys of a frame may be the texts of the labels."""
    texts = {str(key): value for key, value in given.items()}
    found = {label: given[label] if label in given else texts.get(str(label), _NOTHING) for label in labels}
    absent = [label for label, value in found.items() if value is _NOTHING]
    known = {str(label) for label in labels}
    unknown = [key for key in given if key not in labels and str(key) not in known]
    if unknown:
        raise InputError(
            f"{what} names the unknown {name} {listed(unknown[:1])}.{did_you_mean(unknown[0], labels)} The "
            f"{'classes' if name == 'class' else f'{name}s'} are {listed(list(labels))}.",
            column=column,
        )
    if absent:
        raise InputError(f"{what} has no number for {name} {listed(absent)}.", column=column)
    return found


_NOTHING = object()


def _order(
    own: Sequence[Any], counts_rows: bool, expected: Sequence[Any] | None, what: str, column: object, name: str
) -> list[int]:
    """Positions of the expected labels among those of an axis."""
    if len(set(own)) < len(own):
        repeated = next(label for i, label in enumerate(own) if label in own[:i])
        raise InputError(f"{what} has the {name} {repeated!r} more than once.", column=column)
    if expected is None or (counts_rows and set(own) != set(expected)):
        return list(range(len(own)))
    at = matched({label: i for i, label in enumerate(own)}, expected, what, column, name)
    return [at[label] for label in expected]


def _entries(given: Any) -> tuple[Mapping[Any, Any], bool] | None:
    """Entries by label, and whether the labels only count rows; None for an object without labels."""
    if isinstance(given, Mapping):
        return given, False
    if _is_stacked(given):
        return {label: given.xs(label, level=0) for label in labels_of(given) or ()}, False
    if not is_pandas_like_series(given):
        return None
    labels = given.index.tolist()
    if len(set(labels)) < len(labels):
        repeated = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise InputError(f"A Series has the label {repeated!r} more than once.")
    return dict(zip(labels, given.tolist(), strict=True)), _counts_rows(given.index)


def _is_stacked(given: Any) -> bool:
    """Whether a frame of pandas has an index of two levels: a frame for each label of the first."""
    return is_pandas_like_dataframe(given) and given.index.nlevels == 2


def _counts_rows(index: Any) -> bool:
    """Whether an index of pandas is 0, 1, … without a name, as an object without labels has it."""
    return type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)
