"""What happens to a partition in pandas or NumPy where it is: its rows go to Arrow, its results come back as frames.

The result of a partition is a frame of one cell, so that an engine can treat results as it treats its tables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from suffice.exceptions import InputError, SufficeError, counted, listed
from suffice.numerics.types import Array
from suffice.sources.engine_tables import SAMPLE_SEED, AnswerPart, SummarizePart
from suffice.sources.engine_types import ArrowArray, ArrowTable, NativeFrame, NativeSeries

__all__ = [
    "answered",
    "answered_block",
    "check_block",
    "evaluated",
    "first_rows",
    "in_partition",
    "merged",
    "no_result",
    "pandas_answer",
    "random_rows",
    "rows_of_frame",
    "summarized",
    "together",
    "with_columns",
]

Evaluate = Callable[[int, NativeFrame], Any]
ALIGNMENT = 8  # bytes


# ---------------------------------------------------------------------- results


def evaluated(frame: NativeFrame, evaluate: Evaluate, first: int, partition_info: dict[str, Any]) -> NativeFrame:
    """The result of one partition; ``first`` is the number of the first one."""
    part = first + int(partition_info["number"])
    with in_partition(part):
        return _frame_of(evaluate(part, frame))


def merged(frame: NativeFrame, merge: Callable[[Sequence[Any]], Any]) -> NativeFrame:
    """The merge of the results of some partitions, in their order."""
    return _frame_of(merge(frame["result"].tolist()) if len(frame) else None)


def no_result() -> NativeFrame:
    """The frame of a partition that has no result."""
    return _frame_of(None)


def _frame_of(result: object) -> NativeFrame:
    import pandas as pd

    cells = np.empty(0 if result is None else 1, dtype=object)
    if len(cells):
        cells[0] = result  # in a list, pandas would look into an Arrow table
    return pd.DataFrame({"result": pd.Series(cells, dtype=object)})


@contextlib.contextmanager
def in_partition(part: int | None) -> Iterator[None]:
    """Name the partition, if it is known, in an error about its rows."""
    try:
        yield
    except SufficeError as error:
        if part is None:
            raise
        raised = error.restated(f"Partition {part}: ", *error.sentence)
        raised.partition = part
        raise raised from error


# ---------------------------------------------------------------------- what is evaluated


def summarized(
    part: int, frame: NativeFrame, summarize: SummarizePart, names: Sequence[str], *, positional: bool = False
) -> bytes | None:
    """The summary of the rows; None if there are none. The frame of an array is not converted."""
    if not len(frame):
        return None
    return summarize(part, frame if positional else partial(rows_of_frame, frame, names))


def first_rows(
    part: int, frame: NativeFrame, names: Sequence[str], n_rows: int | None, numbered: str | None = None
) -> ArrowTable | None:
    """The first rows, or all, with the number of the partition in a column ``numbered``; None if there are none."""
    import pyarrow as pa

    if not len(frame):
        return None
    rows = rows_of_frame(frame.iloc[:n_rows], names)
    return rows if numbered is None else rows.append_column(numbered, pa.array(np.full(rows.num_rows, part)))


def together(tables: Sequence[ArrowTable], n_rows: int | None) -> ArrowTable:
    """The first rows of some tables, or all."""
    import pyarrow as pa

    return pa.concat_tables(tables, promote_options="permissive").slice(0, n_rows).combine_chunks()


def random_rows(part: int, frame: NativeFrame, names: Sequence[str], share: float) -> ArrowTable | None:
    """Each row with the same probability, the same ones each time."""
    chosen = np.random.default_rng([SAMPLE_SEED, part]).random(len(frame)) < share
    return first_rows(part, frame[chosen], names, None)


# ---------------------------------------------------------------------- frames from frames


def with_columns(
    frame: NativeFrame, *series: NativeSeries, names: Sequence[str], partition_info: dict[str, Any]
) -> NativeFrame:
    """The partition with labels and weights beside it, whose rows are matched in order."""
    for name, values in zip(names, series, strict=True):
        if len(values) != len(frame):
            with in_partition(int(partition_info["number"])):
                raise InputError(f"X has {counted(len(frame), 'row')}, and {name} has {len(values):,}.")
    return frame.assign(**{name: values.array for name, values in zip(names, series, strict=True)})


def answered(
    frame: NativeFrame,
    evaluate: AnswerPart,
    names: Sequence[str],
    labels: Array | None,
    partition_info: dict[str, Any],
) -> NativeFrame:
    """The answers for the rows of a partition, with its index."""
    with in_partition(int(partition_info["number"])):
        return pandas_answer(evaluate(rows_of_frame(frame, names)), labels, frame.index)


def pandas_answer(found: ArrowTable, labels: Array | None, index: Any) -> NativeFrame:
    """An answer as a frame, whose columns are named by ``labels`` if given, or as a series if it is one column."""
    import pandas as pd

    frame = found.to_pandas().set_axis(index)
    if labels is not None:
        return frame.set_axis(pd.Index(labels), axis="columns")
    return frame if found.num_columns > 1 else frame.iloc[:, 0]


def answered_block(block: Array, evaluate: AnswerPart, block_info: dict[Any, Any]) -> Array:
    """The answers for a block of an array: one column as it is, several side by side."""
    import pandas as pd

    names, out = [str(j) for j in range(block.shape[1])], block_info[None]
    with in_partition(int(out["chunk-location"][0])):
        check_block(block)
        found = evaluate(pd.DataFrame(block, columns=names))
    columns = [column.to_numpy() for column in found.columns]
    return (np.column_stack(columns) if len(out["chunk-shape"]) > 1 else columns[0]).astype(out["dtype"], copy=False)


def check_block(block: object) -> Any:
    """The block of an array; an error if it is sparse, or on a device."""
    if not isinstance(block, np.ndarray):
        kind = type(block)
        raise InputError(
            f"The blocks of the Dask array are of type {kind.__module__.split('.')[0]}.{kind.__name__}; expected NumPy "
            "arrays. Convert them, for example with X.map_blocks(lambda block: block.toarray()).",
            argument="X",
        )
    return block


# ---------------------------------------------------------------------- pandas to Arrow


def rows_of_frame(frame: NativeFrame, names: Sequence[str]) -> ArrowTable:
    """Columns of a pandas frame, in any order there, without its index."""
    import pyarrow as pa

    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InputError(
            f"There is no column {missing[0]!r:.80}. The columns are {listed(list(frame.columns))}.", column=missing[0]
        )
    return pa.table({name: _arrow_column(frame[name]) for name in names})


def _arrow_column(values: NativeSeries) -> ArrowArray:
    """A column in Arrow; categories have indices of 32 bits, so that those of several partitions can be joined."""
    import pandas as pd
    import pyarrow as pa

    kind = values.dtype
    if isinstance(kind, pd.SparseDtype):
        values = values.sparse.to_dense()
    elif isinstance(kind, pd.CategoricalDtype) and isinstance(kind.categories.dtype, pd.IntervalDtype | pd.PeriodDtype):
        values = values.cat.rename_categories(kind.categories.astype(str))
    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _not_convertible(values, error) from error
    column = _aligned(column)
    if not pa.types.is_dictionary(column.type):
        return column
    if pa.types.is_null(column.type.value_type):
        return pa.nulls(len(column))
    return column.cast(pa.dictionary(pa.int32(), column.type.value_type))


def _aligned(column: ArrowArray) -> ArrowArray:
    """A column whose memory is aligned; cells that came over a network may not be."""
    import pyarrow as pa

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    addresses = [buffer.address for chunk in chunks for buffer in chunk.buffers() if buffer is not None]
    if not any(address % ALIGNMENT for address in addresses):
        return column
    return pa.concat_arrays([*chunks, chunks[0][:0]])  # a copy


def _not_convertible(values: NativeSeries, error: Exception) -> InputError:
    """The error for a column that Arrow cannot hold, which names the first cell of another type than the first."""
    types = [type(cell).__name__ for cell in values.to_numpy(dtype=object)]
    present = np.flatnonzero(~np.asarray(values.isna(), dtype=bool))
    other = next((int(row) for row in present if types[row] != types[present[0]]), None)
    if other is None:
        reason = str(error).splitlines()[0].rstrip(".")
        return InputError(f"Column {values.name!r:.80} cannot be converted to Arrow: {reason}.", column=values.name)
    return InputError.in_row(
        f"holds a value of type {types[other]}, but those before are of type {types[present[0]]}. Convert the column "
        "to one type.",
        rows=[other],
        column=values.name,
    )
