"""Read the rows of a source to compare models on: all of them, or a uniform sample if there are too many."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.good_rows import of_good_rows
from suffice.learning.kept_rows import KeptRows
from suffice.learning.labels import LabelReader, check_labels, labels_of_mails
from suffice.numerics.types import Array
from suffice.sources.files import Source
from suffice.statistics import Membership

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["sampled"]


def sampled(source: Source, target: str, most: int) -> tuple[pa.Table, Array, int]:
    """Return rows of a source in order, their labels, and the number of rows read.

    Parameters
    ----------
    source : Source
        It is read once, in batches; memory holds at most about twice the rows to keep.
    target : str
        The column of labels. A row without a label is an error, or a skipped row.
    most : int
        The largest number of rows to keep. Every row has the same chance to be kept.

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
        raise InputError(
            f"{source.name or 'The source'} has no column other than the target {target!r} to learn from.",
            column=target,
        )
    labels, kept, n_rows = LabelReader(target, of_mails=labels_of_mails(source, target)), KeptRows(most), 0

    def read(rows: pa.Table) -> tuple[pa.Table, Membership]:
        codes, missing = labels.read(rows[target])
        check_labels(target, missing, as_text=source.is_text)
        for name in columns:
            _check_finite(name, rows[name])
        labels.learned(codes)
        return rows.select(columns), Membership(labels.axis, codes=codes)

    with closing(source.batches()) as batches:
        for batch in batches:
            good = of_good_rows(batch, source.skip_or_raise, read)
            if good is not None:
                kept.add(*good)
                n_rows += len(good[0])
    if not n_rows:
        raise InputError(f"{source.name or 'The source'} has no rows to compare models on.")
    labels.check_all()
    rows, members = kept.rows(labels.axis)
    assert members.codes is not None
    return rows, labels.axis.labels[members.codes], n_rows


def _check_finite(name: str, column: pa.ChunkedArray) -> None:
    """Raise if a numeric column holds infinity."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        infinite = np.flatnonzero(np.isinf(column.to_numpy()))
        if len(infinite):
            raise InputError.in_row("holds infinity; expected a finite number.", rows=infinite, column=name)
