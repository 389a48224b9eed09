"""DataFrames of Spark, also by Spark Connect: functions go to the partitions as functions on Arrow batches."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

from suffice.exceptions import InputError, SufficeError, listed
from suffice.sources.engine_tables import SAMPLE_SEED, AnswerPart, Answers, PartitionedTable, SummarizePart
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
    most_values = 40  # Spark compiles longer queries into slow code

    def __init__(self, native: NativeFrame) -> None:
        self.native, self.names = native, list(native.columns)
        _check_distinct(native, self.names, "The Spark DataFrame")

    @property
    def _plain(self) -> NativeFrame:
        """The DataFrame with names by position; ``mapInArrow`` and Narwhals fail on names with dots or backquotes."""
        return self.native.toDF(*self.queried_names)

    @property
    def queried(self) -> NativeFrame:
        """The DataFrame with names by position."""
        return self._plain

    @property
    def queried_names(self) -> list[str]:
        """The names by position."""
        return [f"x{j}" for j in range(len(self.names))]

    def select(self, names: Sequence[str]) -> Self:
        """The DataFrame with these columns alone."""
        return type(self)(self.native.select(*(_quoted(name) for name in names)))

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows in the order of the partitions, or all; no more partitions are read than necessary."""
        import pyarrow as pa

        _check_finite(self.native)
        _check_types(self.native)
        with self.errors():
            if n_rows is None:
                return self.native.toArrow()
            firsts = self._plain.mapInArrow(partial(_first_rows, self.names, n_rows), "content binary").take(n_rows)
            found = [pa.ipc.open_stream(row["content"]).read_all() for row in firsts if row["content"] is not None]
            return pa.concat_tables(found).slice(0, n_rows) if found else self.native.limit(0).toArrow()

    def count(self) -> int:
        """The number of rows."""
        with self.errors():
            return int(self.native.count())

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """Each row with the same probability."""
        share = min(1.0, n_rows / max(of_rows, 1))
        with self.errors():
            return self.native.sample(share, seed=SAMPLE_SEED).toArrow()

    def summaries(self, summarize: SummarizePart, merge: Callable[[Sequence[bytes]], bytes]) -> Iterator[bytes]:
        """Summarise each partition, and merge the summaries twice in groups before they come to the driver."""
        parts = self._plain.mapInArrow(partial(_summarized, self.names, summarize), "part long, summary binary")
        for _ in range(2):
            groups = parts.selectExpr(f"part div {GROUP} as group_number", "part", "summary").groupBy("group_number")
            parts = groups.applyInArrow(partial(_merged, merge), "part long, summary binary")
        with self.errors():
            for row in parts.toLocalIterator():
                yield bytes(row["summary"])

    def mapped(self, answers: Answers) -> NativeFrame:
        """A DataFrame with its own columns and the answers, which is computed when it is used."""
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        whole = StructType([*self.native.schema.fields, *from_arrow_schema(answers.schema).fields])
        _check_distinct(self.native, whole.names, "The answer")
        return self._plain.mapInArrow(partial(_answered, self.names, answers.evaluate), whole)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Stop the jobs of an interrupted call, and turn an error of Spark into an `InputError` that quotes it."""
        from pyspark.errors import PySparkException

        tag = f"suffice-{secrets.token_hex(8)}"
        jobs = _TaggedJobs.of(self.native.sparkSession)
        jobs.add(tag)
        try:
            yield
        except BaseException as error:
            # The connection of this thread may be in the middle of a reply, in which it cannot send anything.
            stopping = threading.Thread(target=jobs.stop, args=(tag,))
            stopping.start()
            stopping.join()
            if isinstance(error, PySparkException) or type(error).__module__.startswith(("py4j", "grpc")):
                raise InputError(f"Spark could not read {self.described}: {_reason(error)}") from error
            raise
        finally:
            with contextlib.suppress(Exception):
                jobs.remove(tag)


class _TaggedJobs(NamedTuple):
    """Functions that tag the jobs of a thread, and stop all jobs with a tag from any thread."""

    add: Callable[[str], None]
    cancel: Callable[[str], object]
    remove: Callable[[str], None]

    @classmethod
    def of(cls, session: Any) -> _TaggedJobs:
        """Those of a session, whose own tags are known to one thread alone unless it is of Spark Connect."""
        if type(session).__module__.startswith("pyspark.sql.connect"):
            return cls(session.addTag, session.interruptTag, session.removeTag)
        context = session.sparkContext
        return cls(context.addJobTag, context.cancelJobsWithTag, context.removeJobTag)

    def stop(self, tag: str) -> None:
        """Stop the jobs with a tag."""
        with contextlib.suppress(Exception):
            self.cancel(tag)


# ---------------------------------------------------------------------- what cannot be read


def _check_distinct(native: NativeFrame, names: list[str], described: str) -> None:
    """Raise `InputError` if Spark does not tell two columns apart."""
    alike = {name.lower(): [each for each in names if each.lower() == name.lower()] for name in names}
    same = next((each for each in alike.values() if len(each) > 1), None)
    if same is None:
        return
    if len(set(same)) < len(same):
        raise InputError(f"{described} has more than one column {same[0]!r}. Rename them.", column=same[0])
    if native.sparkSession.conf.get("spark.sql.caseSensitive") != "true":
        raise InputError(
            f"{described} has the columns {listed(same)}, which Spark does not tell apart. Rename them, or set "
            "spark.sql.caseSensitive to true.",
            column=same[0],
        )


def _check_finite(native: NativeFrame) -> None:
    if native.isStreaming:
        raise InputError(
            "The Spark DataFrame is a stream, which has no end. Learn from each of its batches: "
            "df.writeStream.foreachBatch(lambda batch, number: model.partial_fit(batch, 'label')).start().",
            page="docs/engines.md",
        )


def _check_types(native: NativeFrame) -> None:
    """Raise `InputError` for the first column that is not a number, a truth value, a time or a text."""
    from pyspark.sql import types

    nested = {
        types.ArrayType: "arrays. Select their elements as columns, such as col({0!r})[0], or join the words of texts "
        "with array_join({0!r}, ' ')",
        types.StructType: "structs. Select their fields as columns, such as col({0!r})['field']",
        types.MapType: "maps. Select their values as columns, such as col({0!r})['key']",
        types.VariantType: "variants. Select their values as columns with variant_get",
        types.YearMonthIntervalType: "intervals of months. Convert it to a number",
        types.CalendarIntervalType: "intervals of a calendar. Convert it to a number",
    }
    vectors = "vectors. Select their elements as columns, such as pyspark.ml.functions.vector_to_array({0!r})[0]"
    for field in native.schema.fields:
        kind = type(field.dataType)
        reason = vectors if issubclass(kind, types.UserDefinedType) else nested.get(kind)
        if reason is not None:
            name = field.name
            raise InputError(
                f"Column {name!r} of the Spark DataFrame holds {reason.format(name)}, or leave it out: "
                f"df.drop({name!r}).",
                column=name,
            )


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
            "the Python of its workers has no Suffice. Install it on every machine, or set PYSPARK_PYTHON to the path "
            "of a Python that has it before the session starts."
        )
    return text[:400].rstrip(".") + "."


# ---------------------------------------------------------------------- functions that run on workers


def _named(names: Sequence[str], batches: Iterator[ArrowRows]) -> Iterator[ArrowRows]:
    """The batches with the names of the user's DataFrame."""
    for batch in batches:
        yield batch.rename_columns(list(names))


def _first_rows(names: Sequence[str], n_rows: int, batches: Iterator[ArrowRows]) -> Iterator[ArrowRows]:
    """As many records as the partition has rows, at most ``n_rows``; the first one has these rows as an Arrow stream.

    Spark counts the records to know when it has read enough partitions.
    """
    import pyarrow as pa

    found: list[ArrowRows] = []
    n_found = 0
    for batch in _named(names, batches):
        found.append(batch.slice(0, n_rows - n_found))
        n_found += found[-1].num_rows
        if n_found == n_rows:
            break
    if not n_found:
        return
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found[0].schema) as stream:
        for batch in found:
            stream.write_batch(batch)
    content = pa.array([sink.getvalue().to_pybytes(), *[None] * (n_found - 1)], pa.binary())
    yield pa.record_batch({"content": content})


def _summarized(names: Sequence[str], summarize: SummarizePart, batches: Iterator[ArrowRows]) -> Iterator[ArrowRows]:
    """The summary of one partition; nothing for an empty one."""
    import pyarrow as pa

    batches = _named(names, batches)
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

    number = table["group_number"][0].as_py()
    return pa.Table.from_batches([_record(number, merge(table.sort_by("part")["summary"].to_pylist()))])


def _record(part: int, summary: bytes) -> ArrowRows:
    import pyarrow as pa

    return pa.record_batch({"part": pa.array([part], pa.int64()), "summary": pa.array([summary], pa.binary())})


def _answered(names: Sequence[str], answer: AnswerPart, batches: Iterator[ArrowRows]) -> Iterator[ArrowRows]:
    """The batches of a partition with the columns of the answer; an error names the partition."""
    import pyarrow as pa

    for batch in _named(names, batches):
        rows = pa.Table.from_batches([batch])
        try:
            found = answer(rows)
        except SufficeError as error:
            raise error.restated(f"Partition {_partition()}: ", *error.sentence) from error
        for name in found.column_names:
            rows = rows.append_column(name, found[name])
        yield from rows.combine_chunks().to_batches()
