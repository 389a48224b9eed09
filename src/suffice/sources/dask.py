"""Dataframes and arrays of Dask, with or without a cluster: functions go to the partitions as tasks.

The results of partitions, and the trees that merge them, are dataframes. Dask sends these to a cluster as expressions,
so the model is sent once, and this process never holds a task for each partition.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any, Self

import numpy as np

from suffice.exceptions import InputError, SufficeError, listed
from suffice.sources.engine_tables import Answers, PartitionedTable, SummarizePart
from suffice.sources.engine_types import ArrowTable, NativeFrame, NativeSeries
from suffice.sources.pandas_partitions import (
    Evaluate,
    answered,
    answered_block,
    check_block,
    evaluated,
    first_rows,
    merged,
    no_result,
    pandas_answer,
    random_rows,
    rows_of_frame,
    summarized,
    together,
    with_columns,
)

__all__ = ["table_of"]

GROUP = 16  # results of partitions that are merged at once
RETRIES = 3  # of a task that raises an error, on a cluster; a task whose worker dies starts again in any case
MOST_PARTITIONS = 256  # that are read at once for the first rows


def table_of(data: NativeFrame) -> DaskTable | None:
    """The table that a dataframe, a series or an array of Dask is; other objects of Dask are an error."""
    import dask.array as da
    import dask.dataframe as dd

    if isinstance(data, da.Array):
        return DaskTable(*_of_array(data))
    if isinstance(data, dd.Series):
        data = data.to_frame(name="text" if data.name is None else data.name)
    if not isinstance(data, dd.DataFrame):
        raise InputError(
            f"The rows are {_kind(data)}; expected a dataframe or an array. Convert them, for example with "
            "bag.to_dataframe() or dask.dataframe.from_delayed([delayed]).",
            argument="X",
        )
    return DaskTable(data)


class DaskTable(PartitionedTable):
    """A dataframe of Dask, or an array as a dataframe.

    Parameters
    ----------
    native : dask.dataframe.DataFrame
        The table. That of an array has a column for each position.
    array : dask.array.Array, optional
        The array, in one block of columns.
    """

    engine = "Dask"
    keeps_columns = False

    def __init__(self, native: NativeFrame, array: Any = None) -> None:
        self.native, self.array, self.positional = native, array, array is not None
        self.described = "the Dask dataframe" if array is None else "the Dask array"
        self.names = list(native.columns)
        odd = [name for name in self.names if not isinstance(name, str)]
        if odd:
            raise InputError(
                f"The names of columns must be strings; {self.described} has {listed(odd)}. Rename them, for example "
                "with ddf.rename(columns=str).",
                column=odd[0],
            )
        twice = [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]
        if twice:
            raise InputError(
                f"The names of columns must be unique; {self.described} has several columns {twice[0]!r:.80}.",
                column=twice[0],
            )

    def select(self, names: Sequence[str]) -> Self:
        """The table with these columns alone; an array has all of its columns."""
        return self if list(names) == self.names else self._with(self.native[list(names)])

    def _with(self, native: NativeFrame, *, apart: bool = False) -> Self:
        out = type(self)(native, self.array)
        out.has_labels_apart = apart or self.has_labels_apart
        return out

    @property
    def queried(self) -> None:
        """Nothing: Dask computes no aggregates that are stable in floating point."""

    # ------------------------------------------------------------------ labels and weights

    def with_labels(self, y: object, sample_weight: object) -> tuple[Self, str, str | None]:
        """The table with labels and weights that are series or arrays of Dask, and the names of these columns."""
        from dask.dataframe.dispatch import make_meta

        apart: dict[str, NativeSeries] = {}
        names: list[str | None] = []
        for argument, given in (("y", y), ("sample_weight", sample_weight)):
            if isinstance(given, str) and not self.positional:
                names.append(given)
            elif given is None and argument == "sample_weight":
                names.append(None)
            else:
                name = _new_name(argument, self.names)
                apart[name] = self._beside(given, argument)
                names.append(name)
        meta = make_meta(self.native).assign(**{name: make_meta(each) for name, each in apart.items()})
        whole = self.native.map_partitions(
            with_columns,
            *apart.values(),
            names=list(apart),
            meta=meta,
            enforce_metadata=False,
            transform_divisions=False,
        )
        target, weights = names
        assert target is not None
        return self._with(whole, apart=target in apart), target, weights

    def _beside(self, given: object, argument: str) -> NativeSeries:
        """Labels or weights as a series with the partitions of the table; their rows are matched in order."""
        import dask.array as da
        import dask.dataframe as dd

        values: Any = given
        if isinstance(values, dd.DataFrame | da.Array) and values.ndim == 2 and values.shape[1] == 1:
            values = values[values.columns[0]] if isinstance(values, dd.DataFrame) else values[:, 0]
        if not isinstance(values, dd.Series | da.Array) or values.ndim != 1:
            instead = (
                f"Convert it, for example with dask.array.from_array({argument}, chunks=X.chunks[0])."
                if self.positional
                else "Make it a column of the dataframe, and give its name."
            )
            raise InputError(
                f"X is {self.described}, so {argument} must be {'' if self.positional else 'the name of a column, or '}"
                f"a series or an array of Dask with the same partitions; got {_kind(given)}. {instead}",
                argument=argument,
            )
        if isinstance(values, da.Array):
            if self.array is not None and _known(values) and _known(self.array):
                if values.shape[0] != self.array.shape[0]:
                    raise InputError(
                        f"X has {self.array.shape[0]:,} rows, and {argument} has {values.shape[0]:,}.",
                        argument=argument,
                    )
                values = values.rechunk((self.array.chunks[0],))
            with _cells_as_they_are():
                values = dd.from_dask_array(values)
        elif self.array is None and _known_apart(values.divisions, self.native.divisions):
            (first, *_, last), (start, *_, end) = self.native.divisions, values.divisions
            if (first, last) != (start, end):
                raise InputError(
                    f"The index of X goes from {first!r:.80} to {last!r:.80}, and that of {argument} from "
                    f"{start!r:.80} to {end!r:.80}, so their rows cannot be matched. Take both from one dataframe.",
                    argument=argument,
                )
            values = values.repartition(divisions=list(self.native.divisions))
        if values.npartitions != self.native.npartitions:
            raise InputError(
                f"X has {self.native.npartitions:,} partitions, and {argument} has {values.npartitions:,}, so their "
                "rows cannot be matched. Take both from one dataframe, or call compute_chunk_sizes() on arrays.",
                argument=argument,
            )
        return values

    # ------------------------------------------------------------------ rows

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, in order; all rows if ``n_rows`` is None."""
        from dask.dataframe.dispatch import make_meta

        tables = list(self._first(n_rows)) or [rows_of_frame(make_meta(self.native), self.names)]
        with self.errors():
            return together(tables, n_rows)

    def head_by_partition(self, n_rows: int | None) -> Iterator[tuple[int, ArrowTable]]:
        """The first rows again, partition by partition."""
        number = _new_name("partition", self.names)
        for rows in self._first(n_rows, number):
            parts = rows[number].to_numpy()
            for part in dict.fromkeys(parts.tolist()):
                yield part, rows.filter(parts == part).drop_columns([number])

    def _first(self, n_rows: int | None, numbered: str | None = None) -> Iterator[ArrowTable]:
        """The first rows, in tables of more and more partitions."""
        start, size, left = 0, self.native.npartitions if n_rows is None else 1, n_rows
        while start < self.native.npartitions and left != 0:
            some = self.native.partitions[start : start + size]
            read = partial(first_rows, names=self.names, n_rows=left, numbered=numbered)
            found = self._reduced(some, read, partial(together, n_rows=left), first=start)
            if found is not None:
                yield found
                left = None if left is None else left - found.num_rows
            start, size = start + size, min(2 * size, MOST_PARTITIONS)

    def count(self) -> int:
        """The number of rows."""
        with self.errors():
            return len(self.native)

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """Each row with the same probability."""
        share = min(1.0, n_rows / max(of_rows, 1))
        read = partial(random_rows, names=self.names, share=share)
        found = self._reduced(self.native, read, partial(together, n_rows=None))
        return self.head(0) if found is None else found

    # ------------------------------------------------------------------ partitions

    def summaries(self, summarize: SummarizePart, merge: Callable[[Sequence[bytes]], bytes]) -> Iterator[bytes]:
        """The summary of all rows, which a tree of tasks merges."""
        evaluate = partial(summarized, summarize=summarize, names=self.names, positional=self.positional)
        found = self._reduced(self.native, evaluate, merge)
        if found is not None:
            yield found

    def _reduced(
        self, frame: NativeFrame, evaluate: Evaluate, merge: Callable[[Sequence[Any]], Any], *, first: int = 0
    ) -> Any:
        """Evaluate each partition, and merge the results, except None, in a tree; None if all are.

        ``first`` is the number of the first partition.
        """
        import dask

        tool = dask.delayed(evaluate, pure=True)
        options = {"meta": no_result(), "enforce_metadata": False, "clear_divisions": True}
        parts = frame.map_partitions(evaluated, tool, first=first, **options)
        tool = dask.delayed(merge, pure=True)
        while parts.npartitions > 1:
            groups = parts.repartition(npartitions=math.ceil(parts.npartitions / GROUP))
            parts = groups.map_partitions(merged, tool, **options)
        with self.errors():
            (found,) = dask.compute(parts, retries=RETRIES)
        return found["result"].iloc[0] if len(found) else None

    def mapped(self, answers: Answers) -> NativeFrame:
        """Lazy answers with the partitions of the table: frames or series with its index, or arrays for an array."""
        import dask
        from dask.dataframe.dispatch import make_meta

        evaluate = dask.delayed(answers.evaluate, pure=True)
        labels = answers.labels if answers.of_classes else None
        if self.array is not None and (answers.of_classes or len(answers.schema) == 1):
            return _mapped_array(self.array, evaluate, answers)
        known = make_meta(self.native)
        if not self.positional:
            answers.evaluate(rows_of_frame(known, self.names))  # which checks the names of columns
        return self.native.map_partitions(
            answered,
            evaluate,
            names=self.names,
            labels=labels,
            meta=pandas_answer(answers.schema.empty_table(), labels, known.index),
            enforce_metadata=False,
            transform_divisions=False,
        )

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn an error of Dask or of a task into an `InputError` that quotes it."""
        try:
            yield
        except SufficeError:
            raise
        except CancelledError as error:
            raise InputError(
                f"Dask cancelled the computation of {self.described}, for example because the client or the cluster "
                "was closed. The model is unchanged."
            ) from error
        except Exception as error:
            text = (str(error).strip().splitlines() or [""])[0][:400].rstrip(".")
            raise InputError(
                f"Dask could not compute {self.described}: {type(error).__name__}{': ' if text else ''}{text}."
            ) from error


# ---------------------------------------------------------------------- arrays


def _of_array(X: Any) -> tuple[NativeFrame, Any]:
    """An array as a dataframe, and the array in one block of columns."""
    import dask.dataframe as dd
    from dask.array.utils import meta_from_array

    if X.ndim != 2 or not X.shape[1]:
        raise InputError(f"X must be an array of rows and columns; got a Dask array of shape {X.shape}.", argument="X")
    meta = check_block(meta_from_array(X))
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    checked = X.map_blocks(check_block, dtype=X.dtype, meta=meta)
    with _cells_as_they_are():
        return dd.from_dask_array(checked, columns=[str(j) for j in range(X.shape[1])]), X


def _cells_as_they_are() -> contextlib.AbstractContextManager[object]:
    """Prevent Dask from converting objects, such as numbers among texts, to strings."""
    import dask

    found: contextlib.AbstractContextManager[object] = dask.config.set({"dataframe.convert-string": False})
    return found


def _kind(given: Any) -> str:
    """What an object is, in messages."""
    from dask.delayed import Delayed

    if given is None or isinstance(given, str):
        return "nothing" if given is None else f"the name {given!r:.80}"
    name = "Delayed" if isinstance(given, Delayed) else type(given).__name__
    dimensions = getattr(given, "ndim", 1)  # that of a Delayed object is another one
    shape = f" of shape {given.shape}" if isinstance(dimensions, int) and dimensions > 1 else ""
    return f"a{'n' if name[0] in 'AEIOaeio' else ''} {name}{shape}"


def _new_name(name: str, names: Sequence[str]) -> str:
    """A name that no column has."""
    while name in names:
        name += "_"
    return name


def _known(array: Any) -> bool:
    return not np.isnan(array.shape[0])


def _known_apart(one: Sequence[object], other: Sequence[object]) -> bool:
    """Whether both divisions are known, and differ."""
    return one != other and None not in (*one, *other)


def _mapped_array(X: Any, evaluate: Any, answers: Answers) -> Any:
    """Lazy answers for the blocks of an array: one number or label for each row, or one number for each class."""
    if not answers.of_classes:
        dtype = answers.labels.dtype if answers.schema.names == ["prediction"] else np.dtype(np.float64)
        return X.map_blocks(answered_block, evaluate, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))
    chunks = (X.chunks[0], (len(answers.labels),))
    return X.map_blocks(answered_block, evaluate, dtype=np.float64, chunks=chunks, meta=np.empty((0, 0)))
