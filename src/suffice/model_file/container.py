"""One file: named arrays and one JSON document in the safetensors layout, with a checksum over every byte.

    8 bytes      N, the length of the header, a little-endian whole number
    N bytes      the header, JSON: "__metadata__" holds "suffice", the document as a text, and "sha256", the
                 checksum; every other entry is an array with its type, shape and place
    the rest     the arrays, one after another

The checksum is the SHA-256, in 64 hexadecimal digits, of the whole file with 64 zeros in the place of those digits.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from numpy.typing import NDArray

from suffice.exceptions import ModelFileError
from suffice.model_file.disk import OpenFile, write_whole

__all__ = ["FORMAT", "Arrays", "parse", "read_container", "write_container"]

Arrays = dict[str, NDArray[Any]]

FORMAT = 1
MOST_HEADER = 100_000_000  # bytes; safetensors reads no more
DIGEST = b'"sha256":"'  # inside a text of the header a quotation mark has a backslash before it
NO_DIGEST = b"0" * 64


def write_container(path: str, document: dict[str, Any], arrays: Arrays) -> None:
    """Write the file, or leave what is there."""
    from safetensors.numpy import save as lay_out  # who has no file to write need not wait for it

    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    content = bytearray(lay_out(arrays, metadata={"suffice": text, "sha256": NO_DIGEST.decode()}))
    size = int.from_bytes(content[:8], "little")
    if size > MOST_HEADER:
        raise ModelFileError(
            f"The model cannot be saved to {path!r}: the names, levels and settings of its columns take {size:,} bytes "
            f"of header, and there is room for {MOST_HEADER:,}. Save models of fewer columns each."
        )
    at = _digest_place(content[8 : 8 + size])
    assert at is not None
    at += 8
    content[at : at + 64] = hashlib.sha256(content).hexdigest().encode()
    write_whole(path, content)


def read_container(path: str) -> tuple[dict[str, Any], Arrays]:
    """The document and the arrays, after every check that needs no knowledge of models."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as read_arrays

    with OpenFile(path) as file:
        header, content = _read(file)
    at = _digest_place(header)
    if at is None:
        raise _not_a_model(path, "its header has no checksum")
    at += 8
    digest = bytes(content[at : at + 64])
    content[at : at + 64] = NO_DIGEST
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise ModelFileError(
            f"The file {path!r} is damaged: its bytes do not give the checksum that was written with them. Take "
            "another copy of it, or fit and save the model again."
        )
    document = _document(path, header)
    _check_format(path, document)
    try:
        arrays = read_arrays(bytes(content))
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise _not_a_model(path, f"its arrays cannot be read ({error})") from error
    return document, arrays


def _read(file: OpenFile) -> tuple[bytearray, bytearray]:
    """The header, and the whole file; a size that the file does not have is found before it is read."""
    start = file.read(8)
    size = int.from_bytes(start, "little")
    if len(start) < 8 or size < 2:
        raise _not_a_model(file.path, f"it has {file.size} bytes" if file.size < 8 else "it has no header")
    if size > min(MOST_HEADER, file.size - 8):
        raise _not_a_model(
            file.path, f"its first bytes speak of a header of {size:,} bytes, and the file has {file.size:,}"
        )
    header = file.read(size)
    end = 8 + size + _end_of_arrays(file.path, header)
    if file.size != end:
        what = "is cut short" if file.size < end else "has bytes after its end"
        raise ModelFileError(
            f"The file {file.path!r} {what}: its header speaks of {end:,} bytes, and it has {file.size:,}. Take "
            "another copy of it, or fit and save the model again."
        )
    content = start
    content += header
    content += file.read(end - 8 - size)
    if len(content) != end:
        raise ModelFileError(f"The file {file.path!r} was changed while it was read. Load it again.")
    return header, content


def _end_of_arrays(path: str, header: bytearray) -> int:
    """Where the last array ends."""
    found = parse(path, header)
    metadata = found.pop("__metadata__", None) if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or "suffice" not in metadata:
        raise _not_a_model(path, "its header does not say that it is one")
    try:
        return max((int(each["data_offsets"][1]) for each in found.values()), default=0)
    except (TypeError, KeyError, IndexError, ValueError, OverflowError) as error:
        raise _not_a_model(path, "its header does not say where its arrays are") from error


def _document(path: str, header: bytearray) -> dict[str, Any]:
    text = parse(path, header)["__metadata__"]["suffice"]
    document = parse(path, text) if isinstance(text, str) else None
    if not isinstance(document, dict):
        raise _not_a_model(path, "its header does not describe a model")
    return document


def _check_format(path: str, document: dict[str, Any]) -> None:
    version = document.get("format")
    if type(version) is not int or version < 1:
        raise _not_a_model(path, f"its format is {_short(version)}")
    if version > FORMAT:
        raise ModelFileError(
            f"The file {path!r} was written by a newer Suffice (version {_short(document.get('library'))}) in format "
            f"{_short(version)}, and this one reads formats up to {FORMAT}. Upgrade Suffice to load it."
        )


def parse(path: str, text: bytearray | str) -> Any:
    """JSON without anything that is not JSON: no NaN, no key twice, and no nesting beyond reason."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise _not_a_model(path, "its header is not one that Suffice writes") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _digest_place(header: bytearray) -> int | None:
    """Where the digits of the checksum stand in the header; None unless there is one such place."""
    at = header.find(DIGEST)
    if at < 0 or header.find(DIGEST, at + 1) >= 0:
        return None
    at += len(DIGEST)
    return at if header[at + 64 : at + 65] == b'"' else None


def _not_a_model(path: str, why: str) -> ModelFileError:
    return ModelFileError(
        f"The file {path!r} is not a model that Suffice has saved, or it is damaged: {why}. Give the path of a file "
        "that save() has written."
    )


def _short(value: object) -> str:
    return repr(value)[:40]
