"""`Summary`: the statistics of some rows, and how many there were of each class; as bytes, it crosses a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice import exceptions
from suffice.exceptions import InputError, SufficeError
from suffice.learning.fitted import Fitted
from suffice.learning.training_rows import Expected, LabelledBatch, LabelledRows, LabelledSource, TrainingRows
from suffice.model import Model
from suffice.model.merge_tree import MergeTree
from suffice.model_file import model_bytes, model_of_bytes
from suffice.numerics.types import Array, Codes
from suffice.sources.engine_types import ArrowTable, NativeFrame
from suffice.sources.files import open_source
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis
from suffice.tables.table import Kind

__all__ = ["Failure", "Summary", "as_matrix", "labelled", "merged", "packed", "unpacked"]

FACTS = ("rows", "column", "argument", "page")
MOST_ROWS = 10  # that an error lists
CODEC, SIZE = "zstd", 8  # bytes of the size before compression


@dataclass(frozen=True, eq=False)
class Summary:
    """The statistics of some rows.

    Attributes
    ----------
    model : Model
        Statistics, on the axis.
    axis : ClassAxis
        All classes of these rows, and those that were expected.
    counts : array of int of shape (K,)
        Number of rows of each class.
    layout : RowLayout
        Columns, with the kinds of those that the first rows left open.
    """

    model: Model
    axis: ClassAxis
    counts: Codes
    layout: RowLayout

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @classmethod
    def of_batch(cls, batch: LabelledBatch) -> Summary:
        """The summary of one batch."""
        axis, codes = batch.members.classes, batch.members.codes
        assert codes is not None
        return cls(batch.model, axis, np.bincount(codes, minlength=len(axis)), batch.layout)

    @classmethod
    def of_rows(cls, rows: TrainingRows, expected: Expected) -> Summary:
        """The summary of all rows that are read here; without rows, that of the model that is expected."""
        tree: MergeTree[Summary] = MergeTree(Summary.merge)
        for batch in rows.batches(expected):
            tree.add(cls.of_batch(batch))
        found = tree.total()
        if found is None:
            assert expected.fitted is not None
            return cls.of_no_rows(expected.fitted)
        return found

    @classmethod
    def of_no_rows(cls, prototype: Fitted) -> Summary:
        """The summary of no rows; the prototype has learned none."""
        axis = prototype.classes
        return cls(prototype.model, axis, np.zeros(len(axis), dtype=np.int64), prototype.layout)

    def merge(self, other: Summary) -> Summary:
        """The summary of the rows of both."""
        axis = self.axis.union(other.axis)
        counts = np.zeros(len(axis), dtype=np.int64)
        for each in (self, other):
            counts[axis.positions(each.axis.labels)] += each.counts
        schema = self.layout.schema
        kinds = [
            _kind_of_both(name, here, there)
            for name, here, there in zip(self.layout.names, schema.kinds, other.layout.schema.kinds, strict=True)
        ]
        layout = self.layout.with_cells_of(other.layout)
        layout = layout if kinds == list(schema.kinds) else replace(layout, schema=replace(schema, kinds=kinds))
        return Summary(self.model.merge(other.model), axis, counts, layout)

    # ------------------------------------------------------------------ bytes

    def to_bytes(self, prototype: Fitted) -> bytes:
        """The summary as bytes: a line of JSON, then a compressed model in the format of model files."""
        fitted = replace(prototype, model=self.model.on(self.axis), layout=self.layout)
        return _framed({"counts": self.counts.tolist()}, packed(model_bytes(fitted)))

    @classmethod
    def from_bytes(cls, content: bytes) -> Summary:
        """Read a summary; the error of a partition is raised."""
        head, model = _unframed(content)
        if "error" in head:
            raise Failure.error(head)
        fitted = model_of_bytes(unpacked(model))
        return cls(fitted.model, fitted.classes, np.array(head["counts"], dtype=np.int64), fitted.layout)


def _kind_of_both(name: object, here: Kind, there: Kind) -> Kind:
    """The kind of a column in the rows of two partitions; one may have no cells, and strings are of two kinds."""
    if "empty" in (here, there):
        return there if here == "empty" else here
    if here != there and not {here, there} <= {"category", "text"}:
        raise InputError(
            f"Column {name!r:.80} holds cells of kind {here} in some partitions and of kind {there} in others. Convert "
            "it to one type.",
            column=name,
        )
    return here


class Failure:
    """The error about the rows of a partition, which crosses the network as plain values."""

    @staticmethod
    def to_bytes(error: ValueError, part: int | None) -> bytes:
        """An error about the rows of a partition."""
        facts: dict[str, Any] = {name: _plain(getattr(error, name, None)) for name in FACTS}
        name = type(error).__name__ if isinstance(error, SufficeError) else "InputError"
        return _framed({"error": name, "text": str(error).split("\n")[0], "part": part, **facts}, b"")

    @staticmethod
    def of(error: ValueError, part: int) -> SufficeError:
        """An error about the rows of a partition, which names it."""
        return Failure.error(_unframed(Failure.to_bytes(error, part))[0])

    @staticmethod
    def error(head: dict[str, Any]) -> SufficeError:
        """The error, which names the partition."""
        kind = getattr(exceptions, head["error"], InputError)
        where = "" if head["part"] is None else f"Partition {head['part']}: "
        text = head["text"]
        error: SufficeError = kind(where + text, **{name: head[name] for name in FACTS})
        error.partition = head["part"]
        return error


def _plain(value: object) -> object:
    if isinstance(value, list):
        return value[:MOST_ROWS]
    return value if isinstance(value, str | int | float | None) else str(value)


def packed(content: bytes) -> bytes:
    """Compress bytes; counts in slots, and statistics of few rows, shrink to a tenth or less."""
    import pyarrow as pa

    compressed: bytes = pa.compress(content, codec=CODEC, asbytes=True)
    return len(content).to_bytes(SIZE, "little") + compressed


def unpacked(content: bytes) -> bytes:
    """Invert `packed`."""
    import pyarrow as pa

    size = int.from_bytes(content[:SIZE], "little")
    found: bytes = pa.decompress(memoryview(content)[SIZE:], decompressed_size=size, codec=CODEC, asbytes=True)
    return found


def _framed(head: dict[str, Any], content: bytes) -> bytes:
    return json.dumps(head).encode() + b"\n" + content


def _unframed(content: bytes) -> tuple[dict[str, Any], bytes]:
    head, _, rest = bytes(content).partition(b"\n")
    return json.loads(head), rest


# ---------------------------------------------------------------------- functions that run anywhere


def labelled(
    rows: ArrowTable | NativeFrame, target: str, weights: str | None, *, positional: bool = False
) -> TrainingRows:
    """Rows of an Arrow table or stream with their labels.

    If they are ``positional``, an array without column names, they may also be a pandas frame.
    """
    if not positional:
        return LabelledSource(open_source(rows), target, weights)
    X = as_matrix(rows, [target, weights])
    return LabelledRows(X, rows[target].to_numpy(), None if weights is None else rows[weights].to_numpy())


def as_matrix(rows: ArrowTable | NativeFrame, without: Sequence[str | None] = ()) -> Array:
    """Columns of an Arrow table or a pandas frame as the array that they were: of objects if some are objects."""
    import pyarrow as pa

    if not isinstance(rows, pa.Table):
        frame: Array = rows[[name for name in rows.columns if name not in without]].to_numpy()
        return frame
    columns = [rows[name].to_numpy() for name in rows.column_names if name not in without]
    objects = any(column.dtype == object for column in columns)
    return np.column_stack([column.astype(object) for column in columns] if objects else columns)


def merged(summaries: Sequence[bytes], prototype: Fitted) -> bytes:
    """The summary of all rows of some summaries, or the first error among them, as bytes."""
    tree: MergeTree[Summary] = MergeTree(Summary.merge)
    failed = min((each for each in summaries if b'"error"' in each[:12]), default=None, key=_part)
    if failed is not None:
        return failed
    for each in summaries:
        tree.add(Summary.from_bytes(each))
    found = tree.total()
    assert found is not None
    return found.to_bytes(prototype)


def _part(content: bytes) -> float:
    part = _unframed(content)[0]["part"]
    return np.inf if part is None else float(part)
