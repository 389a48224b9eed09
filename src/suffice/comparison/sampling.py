"""Rows of a source to compare by: all of them, or a uniform sample if there are too many."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.sources.files import Source
from suffice.statistics import Membership
from suffice.streaming import KeptRows, check_column
from suffice.streaming.labels import LabelReader

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
    check_column(source, target)
    columns = [name for name in source.names if name != target]
    if not columns:
        raise InputError(f"{source.name or 'The source'} has no column beside the target {target!r} to learn from.")
    labels, kept, n_rows = LabelReader(target), KeptRows(most), 0
    with closing(source.batches()) as batches:  # type: ignore[type-var]
        for batch in batches:
            rows = batch.rows
            codes, missing = labels.read(rows[target])
            if missing is not None:
                lost = np.flatnonzero(missing)
                source.met(f"{batch.places.of(int(lost[0]))}: column {target!r} holds no label.", len(lost))
                rows, codes = rows.filter(~missing), codes[~missing]
            if len(codes):
                labels.learned(codes)
                kept.add(rows.select(columns), Membership(labels.axis, codes=codes))
                n_rows += len(codes)
    if not n_rows:
        raise InputError(f"{source.name or 'The source'} has no rows to compare models by.")
    labels.check_all()
    found, members = kept.rows(labels.axis)
    assert members.codes is not None
    return found, labels.axis.labels[members.codes], n_rows
