"""Datasets of Ray: functions go to the blocks as batches of `map_batches`, and summaries are merged by Ray as well."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Self

from suffice.exceptions import InputError, listed
from suffice.sources.engine_tables import SAMPLE_SEED, AnswerPart, Answers, PartitionedTable, SummarizePart
from suffice.sources.engine_types import ArrowArray, ArrowTable, NativeFrame
from suffice.sources.pandas_partitions import in_partition, rows_of_frame

__all__ = ["table_of"]

GROUP = 64  # summaries that are merged at once
CPUS = (0.5, 0.25)  # that a merge reserves, first and then; Ray would run steps that reserve the same as one


def table_of(data: NativeFrame) -> RayTable | None:
    """The table that a dataset of Ray is; None for other objects."""
    from ray.data import Dataset

    return RayTable(data) if isinstance(data, Dataset) else None


class RayTable(PartitionedTable):
    """A dataset of Ray. Its partitions are blocks.

    Parameters
    ----------
    native : ray.data.Dataset
    names : list of str, optional
        The columns, if they are known; Ray may have to compute a block to find out.
    """

    engine = "Ray"
    described = "the Ray dataset"

    def __init__(self, native: NativeFrame, names: Sequence[str] | None = None) -> None:
        if names is None:
            with self.errors():
                names = native.columns()
        if not names:
            raise InputError("The Ray dataset has no columns, because it has no rows.")
        self.native, self.names = native, list(names)

    @property
    def queried(self) -> None:
        """Nothing: the aggregates of Ray are not stable in floating point."""

    def select(self, names: Sequence[str]) -> Self:
        """The dataset with these columns alone."""
        names = list(names)
        return self if names == self.names else type(self)(self.native.select_columns(names), names)

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, or all."""
        return self._together(rows for _, rows in self.head_by_partition(n_rows))

    def head_by_partition(self, n_rows: int | None) -> Iterator[tuple[int, ArrowTable]]:
        """The first rows, block by block."""
        some = _in_order(self.native)
        return self._collected(some if n_rows is None else some.limit(n_rows))

    def count(self) -> int:
        """The number of rows."""
        with self.errors():
            return int(self.native.count())

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """Each row with the same probability."""
        share = min(1.0, n_rows / max(of_rows, 1))
        some = _in_order(self.native).random_sample(share, seed=SAMPLE_SEED)
        return self._together(rows for _, rows in self._collected(some))

    def _collected(self, some: NativeFrame) -> Iterator[tuple[int, ArrowTable]]:
        """The blocks of a dataset in this process."""
        with self.errors():
            blocks = list(some.materialize().iter_batches(batch_size=None, batch_format=None))
        for number, block in enumerate(blocks):
            with in_partition(number):
                rows = _rows_of_block(block, self.names)
            yield number, rows

    def _together(self, blocks: Iterable[ArrowTable]) -> ArrowTable:
        """The rows of some blocks."""
        import pyarrow as pa

        found = list(blocks) or [self._no_rows(self.names)]
        for name in self.names:
            fields = [rows.schema.field(name) for rows in found]
            try:
                pa.unify_schemas([pa.schema([field]) for field in fields], promote_options="permissive")
            except pa.ArrowException as error:
                kinds = ", ".join(dict.fromkeys(str(field.type) for field in fields))
                raise InputError(
                    f"Column {name!r:.80} has different types in the blocks: {kinds}. Convert it to one type, for "
                    "example with map_batches.",
                    column=name,
                ) from error
        return pa.concat_tables(found, promote_options="permissive")

    def _no_rows(self, names: Sequence[str]) -> ArrowTable:
        """These columns without rows, with their types as far as Ray knows them."""
        import pyarrow as pa

        with self.errors():
            schema = getattr(self.native.schema(), "base_schema", None)
        if not isinstance(schema, pa.Schema):
            return pa.table({name: pa.nulls(0) for name in names})
        cells = {name: _plain(pa.chunked_array([], schema.field(name).type), name) for name in names}
        return pa.table(cells)

    def summaries(self, summarize: SummarizePart, merge: Callable[[Sequence[bytes]], bytes]) -> Iterator[bytes]:
        """Summarise each block, and merge the summaries twice in groups before they come to the driver."""
        summarized = partial(_summarized, summarize=summarize, names=self.names)
        parts = _in_order(self.native).map_batches(summarized, batch_size=None, batch_format=None)
        merged = partial(_merged, merge=merge)
        for share in CPUS:
            parts = parts.map_batches(merged, batch_size=GROUP, batch_format="pyarrow", num_cpus=share)
        with self.errors():
            for row in parts.materialize().iter_rows():
                yield row["summary"]

    def mapped(self, answers: Answers) -> NativeFrame:
        """A dataset with its own columns and the answers, which is computed when it is used."""
        answers.evaluate(self._no_rows(answers.columns))  # which checks names and types of columns
        answered = partial(_answered, evaluate=answers.evaluate, names=answers.columns)
        return self.native.map_batches(answered, batch_size=None, batch_format="pyarrow")

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn an error of Ray or of a task into an `InputError` that quotes it."""
        try:
            yield
        except Exception as error:
            raise InputError(f"Ray could not read {self.described}: {_reason(error)}") from error


def _in_order(dataset: NativeFrame) -> NativeFrame:
    """The dataset with blocks that keep their order, whatever the settings of the user."""
    from ray.data import Dataset

    out = Dataset.copy(dataset, _deep_copy=True)
    out.context.execution_options.preserve_order = True
    return out


def _reason(error: Exception) -> str:
    """What happened, in one line: the first exception of a task, if one failed."""
    from ray.exceptions import RayTaskError

    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    lines = text.splitlines()
    if isinstance(error, RayTaskError):  # whose text is the traceback of the task
        lines = [line for line in lines[1:] if line.strip() and not line.startswith(" ")] or lines
    if "No module named 'suffice'" in text:
        return (
            "the Python of its workers has no Suffice. Install it on every machine, or name it in the runtime_env of "
            "ray.init."
        )
    return lines[0][:400].rstrip(".") + "."


# ---------------------------------------------------------------------- functions that run on workers


def _summarized(block: NativeFrame, summarize: SummarizePart, names: Sequence[str]) -> ArrowTable:
    """The summary of a block; nothing for an empty one."""
    return _summary(summarize(_block_number(), partial(_rows_of_block, block, names)) if len(block) else None)


def _merged(summaries: ArrowTable, merge: Callable[[Sequence[bytes]], bytes]) -> ArrowTable:
    """The merge of the summaries of a group, in the order of the blocks."""
    return _summary(merge(summaries["summary"].to_pylist()) if len(summaries) else None)


def _summary(found: bytes | None) -> ArrowTable:
    import pyarrow as pa

    return pa.table({"summary": pa.array([] if found is None else [found], pa.large_binary())})


def _answered(block: ArrowTable, evaluate: AnswerPart, names: Sequence[str]) -> ArrowTable:
    """A block with the columns of the answer; an error names the block."""
    with in_partition(_block_number()):
        found = evaluate(_rows_of_block(block, names))
    for name in found.column_names:
        block = block.append_column(name, found[name])
    return block


def _block_number() -> int | None:
    """The number of the block that this task computes; None if Ray does not tell."""
    with contextlib.suppress(ImportError, AttributeError):
        from ray.data._internal.execution.interfaces import TaskContext

        return int(TaskContext.get_current().task_idx)
    return None


def _rows_of_block(block: NativeFrame, names: Sequence[str]) -> ArrowTable:
    """Columns of a block, which is a table of Arrow or a frame of pandas."""
    import pyarrow as pa

    if not isinstance(block, pa.Table):
        block = rows_of_frame(block, names)
    missing = [name for name in names if name not in block.column_names]
    if missing:
        raise InputError(
            f"There is no column {missing[0]!r:.80}. The columns are {listed(block.column_names)}.", column=missing[0]
        )
    return pa.table({name: _plain(block[name], name) for name in names})


def _plain(column: ArrowArray, name: str) -> ArrowArray:
    """A column of cells that Arrow knows; levels have indices of 32 bits, so that those of blocks can be joined."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return column.cast(pa.dictionary(pa.int32(), kind.value_type))
    extension = kind.extension_name if isinstance(kind, pa.BaseExtensionType) else ""
    if "pickled_object" in extension:  # for example datetimes
        return _column_of_objects(column.to_pylist(), name)
    if "tensor" in extension:
        shape = getattr(kind, "shape", None)
        raise InputError(
            f"Column {name!r:.80} holds arrays{'' if shape is None else f' of shape {tuple(shape)}'}; expected one "
            "value in each row. Make a column of each of their numbers with map_batches, or leave the column out.",
            column=name,
        )
    return column


def _column_of_objects(cells: list[Any], name: str) -> ArrowArray:
    import pandas as pd

    return rows_of_frame(pd.DataFrame({name: pd.Series(cells, dtype=object)}), [name])[name]
