"""Datasets of Ray: functions go to the blocks as batches of `map_batches`, and summaries are merged by Ray as well."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

from suffice.exceptions import InputError, SufficeError, listed
from suffice.sources.engine_tables import AnswerPart, Answers, PartitionedTable, SummarizePart
from suffice.sources.engine_types import ArrowTable, NativeFrame
from suffice.sources.pandas_partitions import rows_of_frame

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
            with self._errors():
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
        some = _in_order(self.native)
        return self._collected(some if n_rows is None else some.limit(n_rows))

    def count(self) -> int:
        """The number of rows."""
        with self._errors():
            return int(self.native.count())

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """Each row with the same probability."""
        return self._collected(_in_order(self.native).random_sample(min(1.0, n_rows / max(of_rows, 1)), seed=0))

    def _collected(self, some: NativeFrame) -> ArrowTable:
        """The rows of a dataset in this process."""
        import pyarrow as pa

        with self._errors():
            blocks = list(some.materialize().iter_batches(batch_size=None, batch_format=None))
        rows = [_rows_of_block(block, self.names) for block in blocks]
        return pa.concat_tables(rows, promote_options="permissive") if rows else self._no_rows(self.names)

    def _no_rows(self, names: Sequence[str]) -> ArrowTable:
        """These columns without rows, with their types as far as Ray knows them."""
        import pyarrow as pa

        with self._errors():
            schema = getattr(self.native.schema(), "base_schema", None)
        if isinstance(schema, pa.Schema):
            return _rows_of_block(schema.empty_table(), names)
        return pa.table({name: pa.nulls(0) for name in names})

    def summaries(self, summarize: SummarizePart, merge: Callable[[Sequence[bytes]], bytes]) -> Iterator[bytes]:
        """Summarise each block, and merge the summaries twice in groups before they come to the driver."""
        summarized = partial(_summarized, summarize=summarize, names=self.names)
        parts = _in_order(self.native).map_batches(summarized, batch_size=None, batch_format=None)
        merged = partial(_merged, merge=merge)
        for share in CPUS:
            parts = parts.map_batches(merged, batch_size=GROUP, batch_format="pyarrow", num_cpus=share)
        with self._errors():
            for row in parts.materialize().iter_rows():
                yield row["summary"]

    def mapped(self, answers: Answers) -> NativeFrame:
        """A dataset with its own columns and the answers, which is computed when it is used."""
        answers.evaluate(self._no_rows(answers.columns))  # which checks names and types of columns
        answered = partial(_answered, evaluate=answers.evaluate, names=answers.columns)
        return self.native.map_batches(answered, batch_size=None, batch_format="pyarrow")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
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
    try:
        found = evaluate(_rows_of_block(block, names))
    except SufficeError as error:
        raise error.restated(f"Partition {_block_number()}: ", *error.sentence) from error
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


def _plain(column: Any, name: str) -> Any:
    """A column of cells that Arrow knows; levels have indices of 32 bits, so that those of blocks can be joined."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        shape = getattr(kind, "shape", None)
        if "object" in kind.extension_name:
            raise InputError(
                f"Column {name!r:.80} holds Python objects of several types. Convert it to one type.", column=name
            )
        raise InputError(
            f"Column {name!r:.80} holds arrays{'' if shape is None else f' of shape {tuple(shape)}'}; expected one "
            "value in each row. Make a column of each of their numbers with map_batches, or leave the column out.",
            column=name,
        )
    if pa.types.is_dictionary(kind):
        return column.cast(pa.dictionary(pa.int32(), kind.value_type))
    return column
