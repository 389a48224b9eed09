"""Rows of a source to compare by: all of them, or a uniform sample if there are too many."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.learning.good_rows import of_good_rows
from suffice.learning.kept_rows import KeptRows
from suffice.learning.labels import LabelReader, check_labels
from suffice.sources.files import Source
from suffice.statistics import Membership

__all__ = ["sampled"]


def sampled(source: Source, target: str, most: int) -> tuple[Any, NDArray[Any], int]:
    """Rows of a source in their order, with their labels, and how many rows there are.

    Parameters
    ----------
    source : Source
        It is read once, in batches; no more than twice the rows that are kept are held at a time.
    target : str
        The column of labels. A row without one is an error that says where it is, or is counted as bad.
    most : int
        How many rows to keep. Each row has the same chance to be among them.

    Returns
    -------
    rows : pyarrow.Table
        Without the target.
    labels : array of shape (n,)
    n_rows : int

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice.sources.files import open_source
    >>> table = pa.table({"x": range(1000), "kind": ["odd", "even"] * 500})
    >>> rows, labels, n = sampled(open_source(table), "kind", 10)
    >>> rows.column_names, len(rows), len(labels), n
    (['x'], 10, 10, 1000)
    """
    source.check_column(target)
    columns = [name for name in source.names if name != target]
    if not columns:
        raise InputError(f"{source.name or 'The source'} has no column beside the target {target!r} to learn from.")
    labels, kept, n_rows = LabelReader(target), KeptRows(most), 0

    def read(rows: Any) -> tuple[Any, Membership]:
        codes, missing = labels.read(rows[target])
        check_labels(target, missing)
        for name in columns:
            _check_finite(name, rows[name])
        labels.learned(codes)
        return rows.select(columns), Membership(labels.axis, codes=codes)

    with closing(source.batches()) as batches:
        for batch in batches:
            found = of_good_rows(batch, "compare", source.skip_or_raise, read)
            if found is not None:
                kept.add(*found)
                n_rows += len(found[0])
    if not n_rows:
        raise InputError(f"{source.name or 'The source'} has no rows to compare models by.")
    labels.check_all()
    rows, members = kept.rows(labels.axis)
    assert members.codes is not None
    return rows, labels.axis.labels[members.codes], n_rows


def _check_finite(name: str, column: Any) -> None:
    """Raise if a column of numbers holds infinity."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        infinite = np.flatnonzero(np.isinf(column.to_numpy()))
        if len(infinite):
            raise InputError.in_row("holds infinity; expected a finite number.", rows=infinite, column=name)
