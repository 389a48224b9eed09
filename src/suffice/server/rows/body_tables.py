"""Tables in request bodies as sources of rows, which are read with the types of a model and within limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from suffice.exceptions import InputError, SufficeError, columns_at, listed, short
from suffice.learning.column_types import read_types_of_model
from suffice.learning.fitted import Fitted
from suffice.learning.good_rows import of_good_rows
from suffice.server.problems import Problem, problem_of
from suffice.server.rows.arrow_messages import CheckedMessages
from suffice.server.rows.bodies import Form
from suffice.server.rows.json_rows import check_width
from suffice.server.rows.row_plans import plan_of
from suffice.server.rows.table_streams import LARGEST, Incoming, WholeBody, too_large_batch
from suffice.server.settings import Limits
from suffice.sources.engine_types import ArrowArray, ArrowReader, ArrowRows, ArrowTable
from suffice.sources.files import Batch, Source, open_source
from suffice.sources.files.batch import written
from suffice.sources.files.byte_files import COMPRESSIONS
from suffice.sources.files.kept_columns import KeptColumns

__all__ = ["columns_to_predict", "good_batches", "open_body"]

T = TypeVar("T")
BATCH_ROWS = 1 << 16
HEAD_BYTES = 1 << 20  # in which columns are counted, and from which a source finds them
QUOTED = re.compile(rb'"[^"\n]*"')
DELIMITERS = (b",", b";", b"\t", b"|")
KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:')


class ArrowBody:
    """An Arrow stream, by its name in messages; it may have no rows, unlike objects whose names end in Stream."""

    described = "the body"

    def __init__(self, file: Incoming | WholeBody, most_columns: int) -> None:
        import pyarrow as pa

        # Arrow's threads may not read memory that Python owns: see `suffice.sources.files.arrow_memory`.
        options = pa.ipc.IpcReadOptions(use_threads=False)
        reader = pa.ipc.open_stream(pa.PythonFile(CheckedMessages(file), "r"), options=options)
        check_width(len(reader.schema), most_columns)
        self._reader = pa.RecordBatchReader.from_batches(reader.schema, _small_batches(reader, file))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


def _small_batches(reader: ArrowReader, file: Incoming | WholeBody) -> Iterator[ArrowRows]:
    """The rows of an Arrow stream; raises `Problem` if values of dictionaries would become too large as texts."""
    for whole in reader:
        for start in range(0, whole.num_rows, BATCH_ROWS):
            batch = whole.slice(start, BATCH_ROWS)
            try:
                _check_decoded(batch.columns)
            except Problem as problem:
                file.failure = problem  # Arrow replaces it by an error of its own
                raise
            yield batch


def _check_decoded(columns: Iterable[ArrowArray]) -> None:
    """Raise `Problem` if the columns of some rows would be huge without dictionaries."""
    n_bytes = sum(map(_decoded_bytes, columns))
    if n_bytes > LARGEST:
        raise too_large_batch(n_bytes)


def _decoded_bytes(column: ArrowArray) -> int:
    """The size of the values of a dictionary column without its dictionary; 0 for other columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not pa.types.is_dictionary(kind):
        return 0
    of_values = kind.value_type
    if not any(has(of_values) for has in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)):
        return 0
    found = 0
    for each in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        lengths = pc.binary_length(each.dictionary).cast(pa.int64())
        found += pc.sum(lengths.take(each.indices)).as_py() or 0
    return found


def _decoded(batch: Batch, coded: Iterable[str]) -> Batch:
    """A batch whose texts are not dictionaries."""
    import pyarrow as pa

    rows = batch.rows
    for name in coded:
        for each in (name, written(name)):
            at = rows.schema.get_field_index(each)
            if at >= 0 and pa.types.is_dictionary(rows.schema.types[at]):
                column = rows.column(at)
                rows = rows.set_column(at, each, column.cast(column.type.value_type))
    return replace(batch, rows=rows)


def open_body(
    fitted: Fitted, file: Incoming | WholeBody, form: Form, limits: Limits, text_column: str | None = None
) -> Source:
    """The rows of a table as a source; ``text_column`` names the column of texts of a model that reads only that."""
    import pyarrow as pa

    head, most = file.peek(8), fitted.layout.n_columns + limits.columns
    compressed = next((name for name, (magic, _) in COMPRESSIONS.items() if head.startswith(magic)), None)
    if compressed is not None:  # the source would decompress it without a limit
        raise Problem(
            415, f"The body is compressed ({compressed}). Send it with Content-Encoding: gzip, or decompress it."
        )
    if not head:
        raise Problem(400, "The body is empty. Send a table.")
    if form in WIDTHS:
        check_width(WIDTHS[form](file.peek(HEAD_BYTES), most), most)  # a source takes kilobytes for each column
    try:
        if form == "arrow" and head.startswith(b"\xff\xff\xff\xff"):
            source = open_source(ArrowBody(file, most), batch_rows=BATCH_ROWS)
        else:
            source = open_source(file, format=form, batch_rows=BATCH_ROWS, text_column=text_column)
    except SufficeError as error:
        raise body_problem(error) from error
    except (pa.ArrowException, OSError, EOFError) as error:
        raise Problem(400, f"The body is not an Arrow stream: {error}.") from error
    check_width(len(source.names), most)
    source.files = []  # no advice on options that files have
    return source


def _csv_width(head: bytes, most: int) -> int:
    """At least so many columns the widest of the first lines has, whatever its delimiter."""
    if len(head) <= most:  # a column takes a byte at least
        return 0
    lines = QUOTED.sub(b"", head).splitlines()
    return max(line.count(delimiter) for line in lines for delimiter in DELIMITERS) + 1


def _json_width(head: bytes, most: int) -> int:
    """At least so many columns the first lines have together."""
    if head.count(b":") <= most:
        return 0
    return len({found[1] for found in KEY.finditer(head)})


WIDTHS: dict[Form, Callable[[bytes, int], int]] = {"csv": _csv_width, "jsonl": _json_width}


def body_problem(error: SufficeError, first: int = 0) -> Problem:
    """The problem of a body, whose batch in hand begins with row ``first``; 400 if it is no table."""
    problem = problem_of(error).with_rows_from(first)
    malformed = error.rows is None and error.column is None and error.line is None
    detail = f"{problem.detail[:1].upper()}{problem.detail[1:]}"
    return Problem(400 if malformed else problem.status, detail, problem.headers, **problem.facts)


@dataclass(frozen=True)
class ColumnsRead:
    """The columns of a table that a model reads, in its order.

    Attributes
    ----------
    names : list of str
        In the table.
    all_columns : list of str, optional
        Those of a model without column names, whose table names them by their positions and may lack some.
    in_order : bool
        Whether the names of the table mean nothing to the model.
    """

    names: list[str]
    all_columns: list[str] | None = None
    in_order: bool = False

    def completed(self, fitted: Fitted, rows: ArrowTable) -> ArrowTable:
        """All columns of the model; those that the table lacks are missing in each row."""
        if self.all_columns is None:
            return fitted.reader.with_absent_columns(rows, self.names, fitted.layout)
        import pyarrow as pa

        nulls = pa.nulls(rows.num_rows)
        columns = [rows[name] if name in self.names else nulls for name in self.all_columns]
        return pa.Table.from_arrays(columns, names=self.all_columns)


def columns_to_predict(
    fitted: Fitted, source: Source, besides: Sequence[str | None] = (), target: str | None = None
) -> ColumnsRead:
    """The columns that a model reads, which the source then reads with the types of the model.

    ``besides`` are columns that are not for the model; ``target`` is read as labels.
    """
    read = _columns_read(fitted, source, besides)
    read_types_of_model(fitted, source, read.names if read.all_columns is None else read.all_columns, target)
    return read


def _columns_read(fitted: Fitted, source: Source, besides: Sequence[str | None]) -> ColumnsRead:
    """The columns of a table by name; those of a model without names by position, or else in order."""
    plan, layout = plan_of(fitted), fitted.layout
    if plan.named or plan.documents:
        return ColumnsRead(fitted.reader.prediction_columns(source, besides, (), layout, fitted.optional_columns))
    available = [name for name in source.names if name not in besides]
    positions = list(map(str, layout.names))
    if plan.known.isdisjoint(available):
        if len(available) == layout.n_columns:
            return ColumnsRead(available, in_order=True)
        raise InputError(
            f"The body has {len(available):,} columns ({listed(available)}), but the model was fitted without column "
            f"names and reads {layout.n_columns:,} columns. Send these only, in order, or name them "
            f"{listed(plan.names)}; other columns are then ignored."
        )
    lacking = [each.name for each in plan.columns if each.name not in available and not each.optional]
    if lacking:
        raise InputError(
            f"The body has no {columns_at(lacking)}, which the model was fitted with. Its columns are "
            f"{listed(source.names)}.",
            column=lacking[0],
        )
    return ColumnsRead([name for name in positions if name in available and name in plan.known], positions)


def good_batches(
    fitted: Fitted,
    source: Source,
    limits: Limits,
    read: ColumnsRead,
    use: Callable[..., T],
    besides: Sequence[str] = (),
    kept: KeptColumns | None = None,
) -> Iterator[T]:
    """The results of ``use`` for the rows of each batch: all columns of the model, and those in ``besides``.

    With ``kept``, ``use`` also takes the kept columns, as a second table.
    """
    first = n_rows = 0
    copied = () if kept is None else kept.written
    typed = source.written_as == "typed"
    # Texts are read as dictionaries, in which a repeated text takes memory once, and checked before they are decoded.
    coded = [each for each in dict.fromkeys([*read.names, *besides, *copied]) if typed and source.types[each] == "text"]

    def complete(rows: ArrowTable) -> T:
        whole = read.completed(fitted, rows)
        for name in besides:
            whole = whole.append_column(name, rows[name])
        return use(whole) if kept is None else use(whole, kept.of(rows))

    try:
        for batch in source.batches([*read.names, *besides], coded=coded, written=copied):
            first, n_rows = n_rows, n_rows + len(batch)
            for what, count, most in (("rows", n_rows, limits.rows), ("cells", n_rows * len(read.names), limits.cells)):
                if count > most:
                    raise Problem(
                        413, f"The body has more than {most:,} {what}, the limit. Send fewer at a time.", limit=most
                    )
            _check_decoded(batch.rows.columns)
            if first == 0:
                _check_order(source, batch.rows, read)
            found = of_good_rows(_decoded(batch, coded), source.skip_or_raise, complete)
            if found is not None:
                yield found
    except SufficeError as error:
        raise body_problem(error, first) from error


def _check_order(source: Source, rows: ArrowTable, read: ColumnsRead) -> None:
    """Raise if JSON lines are read in order and the first object lacks a column: only it defines the order."""
    for name in read.names if read.in_order and source.written_as == "json" and rows.num_rows else ():
        if rows[name][0].as_py() is None:
            raise InputError(
                f"The first row has no value in column {short(name)}. The model was fitted without column names, so it "
                "reads the columns in the order of the first row. Give that row a value in each column, or name the "
                "columns '0', '1' and so on.",
                rows=[0],
                column=name,
            )
