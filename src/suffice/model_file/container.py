"""The content of a model file: a JSON document and named arrays in the safetensors layout, with a checksum.

    8 bytes      N, the length of the header, a little-endian integer
    N bytes      the header, JSON: "__metadata__" holds "suffice", the document as a string, and "sha256", the
                 checksum; every other entry gives the type, shape and position of an array
    the rest     the arrays, one after another

The checksum is the SHA-256, in 64 hexadecimal digits, of the whole file with 64 zeros in place of those digits. Files
of other kinds have the same layout, and another key than "suffice".
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from typing import NoReturn, Protocol

from suffice.exceptions import ModelFileError
from suffice.model_file.arrays import Json
from suffice.model_file.disk import OpenFile, write_whole
from suffice.numerics.types import Array

__all__ = [
    "FORMAT",
    "MODEL",
    "Arrays",
    "FileKind",
    "container_bytes",
    "is_container",
    "read_bytes",
    "read_container",
    "read_hashed",
    "write_container",
]

Arrays = dict[str, Array]

FORMAT = 1
MAX_HEADER = 100_000_000  # bytes; safetensors refuses a longer header
DIGEST = b'"sha256":"'  # cannot occur inside a JSON string, where a quotation mark follows a backslash
NO_DIGEST = b"0" * 64


@dataclass(frozen=True)
class FileKind:
    """What a file holds, for its header and for messages.

    Attributes
    ----------
    noun : str
        What a file of this kind holds, such as "model".
    key : str
        The key of the document in the header, which tells kinds of files apart.
    again : str
        How to make the file again, as a sentence.
    hint : str
        A frequent reason why a file is of another kind, in brackets after a space.
    """

    noun: str
    key: str
    again: str
    hint: str = ""

    @property
    def start(self) -> bytes:
        """The first bytes of the header."""
        return f'{{"__metadata__":{{"{self.key}":'.encode()


MODEL = FileKind(
    "model",
    "suffice",
    "Use another copy of it, or fit and save the model again.",
    " (did you swap MODEL and DATA?)",
)


class Content(Protocol):
    """An open file, or bytes in memory, whose path is empty.

    Attributes
    ----------
    path : str
    size : int
    """

    path: str
    size: int

    def read(self, size: int) -> bytearray:
        """Return the next ``size`` bytes; fewer at the end."""


class _Bytes:
    """Bytes in memory."""

    path = ""

    def __init__(self, content: bytes | bytearray | memoryview) -> None:
        self.size = len(content)
        self._stream = io.BytesIO(content)

    def read(self, size: int) -> bytearray:
        """Return the next ``size`` bytes; fewer at the end."""
        return bytearray(self._stream.read(size))


def named(path: str) -> str:
    """The content in messages: the file, or bytes."""
    return f"The file {path!r}" if path else "The content"


def write_container(path: str, document: dict[str, Json], arrays: Arrays, kind: FileKind = MODEL) -> None:
    """Write the file; if that fails, an existing file stays unchanged."""
    write_whole(path, container_bytes(document, arrays, path, kind), kind.noun)


def container_bytes(document: dict[str, Json], arrays: Arrays, path: str = "", kind: FileKind = MODEL) -> bytearray:
    """Return the content of the file; the path is for messages."""
    from safetensors.numpy import save as lay_out  # imported late: only writing needs it

    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    content = _in_fixed_order(lay_out(arrays), {kind.key: text, "sha256": NO_DIGEST.decode()})
    size = int.from_bytes(content[:8], "little")
    if size > MAX_HEADER:
        raise ModelFileError(
            f"The {kind.noun} cannot be saved{f' to {path!r}' if path else ''}: the names, levels and settings of its "
            f"columns take {size:,} bytes of header; the limit is {MAX_HEADER:,}. Split the columns among several "
            "models and save each.",
            file=path or None,
        )
    at = _digest_position(content[8 : 8 + size])
    assert at is not None
    at += 8
    content[at : at + 64] = hashlib.sha256(content).hexdigest().encode()
    return content


def _in_fixed_order(content: bytes, metadata: dict[str, str]) -> bytearray:
    """The file with metadata, whose entries safetensors would write in any order."""
    size = int.from_bytes(content[:8], "little")
    entries = json.loads(content[8 : 8 + size])
    entries.pop("__metadata__", None)
    in_order = sorted(entries.items(), key=lambda item: (item[1]["data_offsets"], item[0]))
    header = json.dumps({"__metadata__": metadata, **dict(in_order)}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # arrays are aligned
    return bytearray(len(header).to_bytes(8, "little") + header + content[8 + size :])


def is_container(path: str, kind: FileKind = MODEL) -> bool:
    """Whether a path leads to a regular file that begins as one of this kind does."""
    try:
        with OpenFile(path) as file:
            return file.read(8 + len(kind.start))[8:] == kind.start
    except ModelFileError:
        return False


def read_container(path: str, kind: FileKind = MODEL) -> tuple[dict[str, Json], Arrays]:
    """Read the document and the arrays, and check everything that requires no knowledge of models."""
    with OpenFile(path, kind.noun) as file:
        return _unpacked(path, kind, *_read(file, kind))


def read_hashed(path: str, kind: FileKind = MODEL) -> tuple[tuple[dict[str, Json], Arrays], str]:
    """Do the same, and return the SHA-256 of the file that was read."""
    with OpenFile(path, kind.noun) as file:
        header, content = _read(file, kind)
    digest = hashlib.sha256(content).hexdigest()  # before the checksum in the header is taken out
    return _unpacked(path, kind, header, content), digest


def read_bytes(content: bytes | bytearray | memoryview, kind: FileKind = MODEL) -> tuple[dict[str, Json], Arrays]:
    """Do the same for the content of a file."""
    return _unpacked("", kind, *_read(_Bytes(content), kind))


def _unpacked(path: str, kind: FileKind, header: bytearray, content: bytearray) -> tuple[dict[str, Json], Arrays]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as read_arrays

    at = _digest_position(header)
    if at is None:
        raise _not_of_kind(path, kind, "its header has no checksum")
    at += 8
    digest = bytes(content[at : at + 64])
    content[at : at + 64] = NO_DIGEST
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise ModelFileError(
            f"{named(path)} is damaged: its content does not match its checksum. {kind.again}", file=path or None
        )
    document = _document(path, kind, header)
    _check_format(path, kind, document)
    try:
        arrays = read_arrays(bytes(content))
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise _not_of_kind(path, kind, f"its arrays cannot be read ({error})") from error
    return document, arrays


def _read(file: Content, kind: FileKind) -> tuple[bytearray, bytearray]:
    """Return the header and the whole file; a wrong size is detected before the rest is read."""
    start = file.read(8)
    size = int.from_bytes(start, "little")
    if len(start) < 8 or size < 2:
        raise _not_of_kind(file.path, kind, f"it has {file.size} bytes" if file.size < 8 else "it has no header")
    if size > min(MAX_HEADER, file.size - 8):
        if size <= MAX_HEADER and kind.start.startswith(file.read(len(kind.start))):
            raise _wrong_size(file, kind, "is cut short", f"its header has {size:,} bytes")
        raise _not_of_kind(file.path, kind, "it does not start with a header")
    header = file.read(size)
    end = 8 + size + _end_of_arrays(file.path, kind, header)
    if file.size != end:
        problem = "is cut short" if file.size < end else "has bytes after its end"
        raise _wrong_size(file, kind, problem, f"its header describes {end:,} bytes")
    content = start
    content += header
    content += file.read(end - 8 - size)
    if len(content) != end:
        raise ModelFileError(
            f"The file {file.path!r} was changed while it was being read. Load it again.", file=file.path
        )
    return header, content


def _end_of_arrays(path: str, kind: FileKind, header: bytearray) -> int:
    """Return the position where the last array ends."""
    entries = _parse(path, kind, header)
    metadata = entries.pop("__metadata__", None) if isinstance(entries, dict) else None
    if not isinstance(metadata, dict) or kind.key not in metadata:
        raise _not_of_kind(path, kind, f"its header does not describe a {kind.noun}")
    try:
        return max((int(each["data_offsets"][1]) for each in entries.values()), default=0)
    except (TypeError, KeyError, IndexError, ValueError, OverflowError) as error:
        raise _not_of_kind(path, kind, "its header does not give the positions of its arrays") from error


def _document(path: str, kind: FileKind, header: bytearray) -> dict[str, Json]:
    text = _parse(path, kind, header)["__metadata__"][kind.key]
    document = _parse(path, kind, text) if isinstance(text, str) else None
    if not isinstance(document, dict):
        raise _not_of_kind(path, kind, f"its header does not describe a {kind.noun}")
    return document


def _check_format(path: str, kind: FileKind, document: dict[str, Json]) -> None:
    version = document.get("format")
    if type(version) is not int or version < 1:
        raise _not_of_kind(path, kind, f"its format is {_short(version)}")
    if version > FORMAT:
        raise ModelFileError(
            f"{named(path)} was written by a newer Suffice (version {_short(document.get('library'))}) in format "
            f"{_short(version)}; this version reads formats up to {FORMAT}. Upgrade Suffice to load it.",
            file=path or None,
        )


def _parse(path: str, kind: FileKind, text: bytearray | str) -> Json:
    """Parse strict JSON: no NaN, no duplicate keys, no excessive nesting."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise _not_of_kind(path, kind, "its header is not valid") from error


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key occurs twice")
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _digest_position(header: bytearray) -> int | None:
    """Return the position of the checksum's digits in the header; None unless there is exactly one."""
    at = header.find(DIGEST)
    if at < 0 or header.find(DIGEST, at + 1) >= 0:
        return None
    at += len(DIGEST)
    return at if header[at + 64 : at + 65] == b'"' else None


def _not_of_kind(path: str, kind: FileKind, reason: str) -> ModelFileError:
    if not path:
        return ModelFileError(
            f"The content is not a {kind.noun}, or it is damaged: {reason}. Give the bytes of a saved {kind.noun}."
        )
    return ModelFileError(
        f"The file {path!r} is not a {kind.noun} file{kind.hint}, or it is damaged: {reason}. Give the path of a saved "
        f"{kind.noun}.",
        file=path,
    )


def _wrong_size(file: Content, kind: FileKind, problem: str, described: str) -> ModelFileError:
    whole = "the file" if file.path else "the content"
    return ModelFileError(
        f"{named(file.path)} {problem}: {described}; {whole} has {file.size:,}. {kind.again}", file=file.path or None
    )


def _short(value: object) -> str:
    return repr(value)[:40]
