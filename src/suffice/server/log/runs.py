"""Runs: changes of one kind that were applied together, and how the log holds them.

A frame of the log holds the changes that were committed at one time, as items:

    item    the lengths of its head and of its payload (two little-endian integers of 4 bytes), the head (JSON), the
            payload

The head of a run has its kind, the number of its first change, and one entry for each change: the number of its rows,
its key and its digest. The payload is a record batch of Arrow with the rows of all of them. The schema of the batch is
an item of its own, before the first run that has it. A log that is continued in a further file ends with an item that
says so.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.server.log.changes import Kind

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Entry", "Run", "RunReader", "RunWriter", "continued"]

LENGTHS = struct.Struct("<II")
CONTINUED = "continued"


@dataclass(frozen=True)
class Entry:
    """One change of a run."""

    rows: int
    key: str | None = None
    digest: bytes = b""


@dataclass(frozen=True, eq=False)
class Run:
    """Changes that were applied together.

    Attributes
    ----------
    kind : {"learn", "unlearn", "prior"}
    first : int
        Number of the first change.
    entries : sequence of Entry
        One for each change.
    table : pyarrow.Table, optional
        The labelled rows of all changes.
    weighted : bool
        Whether the last column of the table has weights.
    prior : str
        The new prior, as JSON.
    """

    kind: Kind
    first: int
    entries: Sequence[Entry]
    table: pa.Table | None = None
    weighted: bool = False
    prior: str = ""

    @property
    def last(self) -> int:
        """Number of the last change."""
        return self.first + len(self.entries) - 1


class RunWriter:
    """Turns runs into the body of a frame; it knows which schemas the file has.

    Parameters
    ----------
    schemas : sequence of pyarrow.Schema
        Those that the file has already.
    """

    def __init__(self, schemas: Sequence[pa.Schema] = ()) -> None:
        self._schemas = list(schemas)
        self._written = len(self._schemas)

    def body(self, runs: Sequence[Run]) -> bytes:
        """The body of a frame. Call `keep` when it is on disk, or `forget`."""
        pieces: list[bytes] = []
        for run in runs:
            head: dict[str, Any] = {
                "kind": run.kind,
                "first": run.first,
                "entries": [[each.rows, each.key, each.digest.hex()] for each in run.entries],
            }
            payload = b""
            if run.table is None:
                head["prior"] = run.prior
            else:
                head["schema"] = self._number(run.table.schema, pieces)
                head["weighted"] = run.weighted
                (batch,) = run.table.combine_chunks().to_batches()
                payload = batch.serialize().to_pybytes()
            pieces.append(_item(head, payload))
        return b"".join(pieces)

    def _number(self, schema: pa.Schema, pieces: list[bytes]) -> int:
        """The position of a schema in the file; a new one is added to the frame."""
        for i, known in enumerate(self._schemas):
            if known is schema or known.equals(schema):
                return i
        self._schemas.append(schema)
        pieces.append(_item({"kind": "schema"}, schema.serialize().to_pybytes()))
        return len(self._schemas) - 1

    def keep(self) -> None:
        """The frame is in the file."""
        self._written = len(self._schemas)

    def forget(self) -> None:
        """The frame is not in the file, so its schemas are not known there."""
        del self._schemas[self._written :]


def continued() -> bytes:
    """The body of the last frame of a file that another file continues."""
    return _item({"kind": CONTINUED}, b"")


def _item(head: dict[str, Any], payload: bytes) -> bytes:
    text = json.dumps(head).encode()
    return LENGTHS.pack(len(text), len(payload)) + text + payload


class RunReader:
    """Reads the frames of one file.

    Attributes
    ----------
    schemas : list of pyarrow.Schema
    continued : bool
        Whether the file says that another file continues it.
    """

    def __init__(self) -> None:
        self.schemas: list[pa.Schema] = []
        self.continued = False

    def runs(self, body: bytes) -> Iterator[Run]:
        """The runs of a frame."""
        import pyarrow as pa

        at = 0
        while at < len(body):
            n_head, n_payload = LENGTHS.unpack_from(body, at)
            at += LENGTHS.size
            head = json.loads(body[at : at + n_head])
            at += n_head
            payload = body[at : at + n_payload]
            at += n_payload
            if head["kind"] == "schema":
                self.schemas.append(pa.ipc.read_schema(pa.py_buffer(payload)))
            elif head["kind"] == CONTINUED:
                self.continued = True
            else:
                yield self._run(head, payload)

    def _run(self, head: dict[str, Any], payload: bytes) -> Run:
        import pyarrow as pa

        entries = [Entry(rows, key, bytes.fromhex(digest)) for rows, key, digest in head["entries"]]
        if "prior" in head:
            return Run(head["kind"], head["first"], entries, prior=head["prior"])
        batch = pa.ipc.read_record_batch(pa.py_buffer(payload), self.schemas[head["schema"]])
        return Run(head["kind"], head["first"], entries, pa.Table.from_batches([batch]), head["weighted"])
