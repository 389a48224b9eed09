"""The messages of an Arrow stream, with a bound on the memory that each takes, also after decompression.

Arrow allocates what a message claims: a kilobyte of compressed zeros may become gigabytes. The claims are in the
metadata, a FlatBuffer, and at the beginning of each compressed buffer:

    0xFFFFFFFF | length of metadata | metadata (kind, length of body, compression, buffers) | body

See https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format.
"""

from __future__ import annotations

import io
import struct
from collections import deque
from collections.abc import Iterator

from suffice.server.problems import Problem
from suffice.server.rows.table_streams import LARGEST, Incoming, WholeBody, too_large_batch

__all__ = ["CheckedMessages"]

CONTINUES = b"\xff\xff\xff\xff"
DICTIONARY, RECORDS = 2, 3  # kinds of messages with buffers
KIND, HEADER, BODY_LENGTH = 1, 2, 3  # fields of a message
BUFFERS, COMPRESSION = 2, 3  # fields of a record batch
IDENTITY, DATA, IS_DELTA = 0, 1, 2  # fields of a dictionary; its data are a record batch
MOST_METADATA = 1 << 24  # bytes


class CheckedMessages(io.RawIOBase):
    """The bytes of a stream, message by message; raises `Problem` before a message that claims too much is read."""

    def __init__(self, file: Incoming | WholeBody) -> None:
        self._file = file
        self._parts: deque[bytes] = deque()
        self._dictionaries: dict[int, int] = {}  # bytes of each, which Arrow keeps until another replaces it
        self._total = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes; fewer only at the end."""
        try:
            return self._read(size)
        except BaseException as error:
            self._file.failure = error  # Arrow replaces it by an error of its own
            raise

    def _read(self, size: int) -> bytes:
        found: list[bytes] = []
        missing = LARGEST if size < 0 else size
        while missing and (self._parts or self._read_message()):
            part = self._parts.popleft()
            if len(part) > missing:
                self._parts.appendleft(part[missing:])
                part = part[:missing]
            found.append(part)
            missing -= len(part)
        return found[0] if len(found) == 1 else b"".join(found)

    def _read_message(self) -> bool:
        """Read the next message; False at the end."""
        first = self._file.read(4)
        start = first + self._file.read(4) if first == CONTINUES else first  # streams of old versions have no mark
        if len(start) < len(first) + 4 * (first == CONTINUES) or len(first) < 4:
            self._parts.extend([start] if start else [])
            return bool(start)
        length = struct.unpack("<i", start[-4:])[0]
        if not 0 <= length <= MOST_METADATA:
            raise Problem(400, f"The body is not an Arrow stream: a message has {length:,} bytes of metadata.")
        metadata = self._file.read(length)
        self._parts.append(start + metadata)
        if len(metadata) == length > 0:
            self._read_body(metadata)
        return True

    def _read_body(self, metadata: bytes) -> None:
        try:
            n_bytes, buffers, dictionary = _claims(metadata)
        except (struct.error, IndexError):
            raise Problem(400, "The body is not an Arrow stream: the metadata of a message are damaged.") from None
        if n_bytes < 0:
            raise Problem(400, "The body is not an Arrow stream: a message has a negative length.")
        if n_bytes > LARGEST:
            raise too_large_batch(n_bytes)
        body = self._file.read(n_bytes)
        sizes = (struct.unpack_from("<q", body, at)[0] for at in buffers if 0 <= at <= len(body) - 8)
        total = sum(each for each in sizes if each > 0)  # -1 marks a buffer that is not compressed
        if total > LARGEST:
            raise too_large_batch(total)
        if dictionary is not None:
            self._count(dictionary, max(n_bytes, total))
        if body:
            self._parts.append(body)

    def _count(self, dictionary: int, n_bytes: int) -> None:
        self._total += n_bytes - self._dictionaries.get(dictionary, 0)
        self._dictionaries[dictionary] = n_bytes
        if self._total > LARGEST:
            raise Problem(
                413,
                f"The body has dictionaries of {self._total:,} bytes; the limit is {LARGEST:,}. Send long texts "
                "without dictionaries.",
                limit=LARGEST,
            )


def _claims(metadata: bytes) -> tuple[int, list[int], int | None]:
    """The length of the body of a message, where its compressed buffers begin, and which dictionary it is."""
    (root,) = struct.unpack_from("<I", metadata, 0)
    length = _field(metadata, root, BODY_LENGTH)
    n_bytes = struct.unpack_from("<q", metadata, length)[0] if length else 0
    kind = metadata[at] if (at := _field(metadata, root, KIND)) else 0
    if kind not in (DICTIONARY, RECORDS):
        return n_bytes, [], None
    header, dictionary = _followed(metadata, _field(metadata, root, HEADER)), None
    if kind == DICTIONARY:
        if (at := _field(metadata, header, IS_DELTA)) and metadata[at]:  # each copies all that came before
            raise Problem(400, "The body extends a dictionary by a delta. Write whole dictionaries.")
        at = _field(metadata, header, IDENTITY)
        dictionary = struct.unpack_from("<q", metadata, at)[0] if at else 0
        header = _followed(metadata, _field(metadata, header, DATA))
    if not _field(metadata, header, COMPRESSION):
        return n_bytes, [], dictionary
    return n_bytes, list(_buffers(metadata, _followed(metadata, _field(metadata, header, BUFFERS)))), dictionary


def _buffers(metadata: bytes, vector: int) -> Iterator[int]:
    """The offsets in a vector of buffers, each of which has an offset and a length; empty ones have nothing there."""
    (count,) = struct.unpack_from("<I", metadata, vector)
    for i in range(min(count, len(metadata) // 16)):
        offset, length = struct.unpack_from("<qq", metadata, vector + 4 + 16 * i)
        if length:
            yield offset


def _field(metadata: bytes, table: int, number: int) -> int:
    """Where a field of a FlatBuffer table is; 0 if the table does not have it."""
    vtable = table - struct.unpack_from("<i", metadata, table)[0]
    (size,) = struct.unpack_from("<H", metadata, vtable)
    at = 4 + 2 * number
    offset = struct.unpack_from("<H", metadata, vtable + at)[0] if at < size else 0
    return table + offset if offset else 0


def _followed(metadata: bytes, at: int) -> int:
    """Where the table or vector is that a field refers to."""
    if not at:
        raise IndexError
    return at + int(struct.unpack_from("<I", metadata, at)[0])
