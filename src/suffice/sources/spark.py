"""DataFrames of Spark, also by Spark Connect: functions go to the partitions as functions on Arrow batches."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

from suffice.exceptions import InputError, SufficeError
from suffice.sources.engine_tables import AnswerPart, Answers, PartitionedTable, SummarizePart
from suffice.sources.engine_types import ArrowRows, ArrowTable, NativeFrame

__all__ = ["table_of"]

GROUP = 64  # summaries that are merged at once


def table_of(data: NativeFrame) -> SparkTable | None:
    """The table that a Spark DataFrame is; None for other objects."""
    from pyspark.sql import DataFrame

    return SparkTable(data) if isinstance(data, DataFrame) else None


class SparkTable(PartitionedTable):
    """A DataFrame of Spark."""

    engine = "Spark"
    described = "the Spark DataFrame"

    def __init__(self, native: NativeFrame) -> None:
        self.native, self.names = native, list(native.columns)

    def select(self, names: Sequence[str]) -> Self:
        """The DataFrame with these columns alone."""
        return type(self)(self.native.select(*(_quoted(name) for name in names)))

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, or all."""
        with self._errors():
            return (self.native if n_rows is None else self.native.limit(n_rows)).toArrow()

    def count(self) -> int:
        """The number of rows."""
        with self._errors():
            return int(self.native.count())

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """Each row with the same probability."""
        share = min(1.0, n_rows / max(of_rows, 1))
        with self._errors():
            return self.native.sample(share, seed=0).toArrow()

    def summaries(self, summarize: SummarizePart, merge: Callable[[Sequence[bytes]], bytes]) -> Iterator[bytes]:
        """Summarise each partition, and merge the summaries twice in groups before they come to the driver."""
        parts = self.native.mapInArrow(partial(_summarized, summarize), "part long, summary binary")
        for _ in range(2):
            groups = parts.selectExpr(f"part div {GROUP} as part", "summary").groupBy("part")
            parts = groups.applyInArrow(partial(_merged, merge), "part long, summary binary")
        with self._errors():
            for row in parts.toLocalIterator():
                yield bytes(row["summary"])

    def mapped(self, answers: Answers) -> NativeFrame:
        """A DataFrame with its own columns and the answers, which is computed when it is used."""
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        whole = StructType([*self.native.schema.fields, *from_arrow_schema(answers.schema).fields])
        return self.native.mapInArrow(partial(_answered, answers.evaluate), whole)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Stop the jobs of an interrupted call, and turn an error of Spark into an `InputError` that quotes it."""
        from pyspark.errors import PySparkException

        session, tag = self.native.sparkSession, f"suffice-{secrets.token_hex(8)}"
        session.addTag(tag)
        try:
            yield
        except BaseException as error:
            with contextlib.suppress(Exception):
                session.interruptTag(tag)
            if isinstance(error, PySparkException) or type(error).__module__.startswith(("py4j", "grpc")):
                raise InputError(f"Spark could not read {self.described}: {_reason(error)}") from error
            raise
        finally:
            with contextlib.suppress(Exception):
                session.removeTag(tag)


def _quoted(name: str) -> Any:
    """A column by its name, which may contain dots and backquotes."""
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


def _reason(error: BaseException) -> str:
    """The last line that says what happened: that of the Python code on a worker, if it failed there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Error: " in line or "Exception: " in line]
    text = (causes or lines or [type(error).__name__])[0]
    if "No module named 'suffice'" in text:
        return (
            "the Python of its workers has no Suffice. Install it on every machine, or set PYSPARK_PYTHON to the path of "
            "a Python that has it before the session starts."
        )
    return text[:400].rstrip(".") + "."


# ---------------------------------------------------------------------- functions that run on workers


def _summarized(summarize: SummarizePart, batches: Iterator[ArrowRows]) -> Iterator[ArrowRows]:
    """The summary of one partition; nothing for an empty one."""
    import pyarrow as pa

    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return
    part = _partition()
    rows = pa.RecordBatchReader.from_batches(first.schema, _chained(first, batches))
    yield _record(part, summarize(part, rows))


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _chained(first: ArrowRows, others: Iterator[ArrowRows]) -> Iterator[ArrowRows]:
    yield first
    yield from others


def _merged(merge, table):  # type: ignore[no-untyped-def]  # Spark fails on partial functions with annotations
    """The merge of the summaries of a group, in the order of the partitions."""
    import pyarrow as pa

    table = table.sort_by("part")
    return pa.Table.from_batches([_record(table["part"][0].as_py(), merge(table["summary"].to_pylist()))])


def _record(part: int, summary: bytes) -> ArrowRows:
    import pyarrow as pa

    return pa.record_batch({"part": pa.array([part], pa.int64()), "summary": pa.array([summary], pa.binary())})


def _answered(answer: AnswerPart, batches: Iterator[ArrowRows]) -> Iterator[ArrowRows]:
    """The batches of a partition with the columns of the answer; an error names the partition."""
    import pyarrow as pa

    for batch in batches:
        rows = pa.Table.from_batches([batch])
        try:
            found = answer(rows)
        except SufficeError as error:
            raise error.restated(f"Partition {_partition()}: ", *error.sentence) from error
        for name in found.column_names:
            rows = rows.append_column(name, found[name])
        yield from rows.combine_chunks().to_batches()
