"""The bytes of a text file as UTF-8, whatever encoding they are in."""

from __future__ import annotations

import codecs
import io
from typing import BinaryIO

from suffice.exceptions import InputError, short
from suffice.kernels.records import count_lines

__all__ = ["Text", "check_text", "head_of", "is_utf8", "wrong_byte"]

UTF8_MARK = b"\xef\xbb\xbf"
MARKS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
AT_ONCE = 1 << 20


class Text:
    r"""A file of text that is read as UTF-8; a byte order mark is left out.

    Parameters
    ----------
    file : binary file
        From its beginning.
    path : str
        For messages.
    encoding : str
        A mark of UTF-16 or UTF-32 at the beginning goes before it, if it is UTF-8. What is in UTF-8 is given as it is,
        right or wrong.
    whole : bool, default=True
        Whether the file ends where it ends; else its last character may be cut.

    Attributes
    ----------
    first_byte : int
        Where in the file the text begins, in UTF-8.

    Examples
    --------
    >>> import io
    >>> Text(io.BytesIO("é".encode("utf-16")), "data.csv", "utf-8").read(10)
    b'\xc3\xa9'
    """

    def __init__(self, file: BinaryIO, path: str, encoding: str, whole: bool = True) -> None:
        self._file, self._path, self._whole = file, path, whole
        self._kept = _filled(file, len(UTF8_MARK) + 1)
        self._name = _codec(encoding)
        if self._name == "utf-8":
            self._name = next((name for mark, name in MARKS.items() if self._kept.startswith(mark)), "utf-8")
        self._decoder = None if self._name == "utf-8" else codecs.getincrementaldecoder(self._name)("strict")
        self._lines = self._bytes = 0
        self._ended = False
        self.first_byte = 0
        if self._decoder is None and self._kept.startswith(UTF8_MARK):
            self.first_byte, self._kept = len(UTF8_MARK), self._kept[len(UTF8_MARK) :]

    def read(self, size: int) -> bytes:
        """So many bytes of UTF-8, or those up to the end."""
        if self._decoder is None:
            kept, self._kept = self._kept, b""
            return kept + _filled(self._file, size - len(kept))
        pieces: list[bytes] = []
        while (missing := size - sum(map(len, pieces))) > 0:
            piece = self._recoded(min(missing, AT_ONCE))
            if not piece and self._ended:
                break
            pieces.append(piece)
        return b"".join(pieces)

    def _recoded(self, size: int) -> bytes:
        raw = self._kept or _filled(self._file, size)
        self._kept = b""
        first = self._bytes == 0
        self._ended = not raw
        try:
            text = self._decoder.decode(raw, not raw and self._whole)  # type: ignore[union-attr]
        except UnicodeDecodeError as error:
            raise InputError(self._fault(error, raw)) from None
        self._bytes += len(raw)
        # A mark that the codec has not taken for one is a character.
        made = (text.removeprefix("\ufeff") if first else text).encode("utf-8", "replace")
        self._lines += count_lines(made)
        return made

    def _fault(self, error: UnicodeDecodeError, raw: bytes) -> str:
        before = self._bytes - (len(error.object) - len(raw))  # bytes that the decoder is done with
        line = 1 + self._lines + count_lines(error.object[: error.start].decode(self._name, "replace").encode())
        return (
            f"{self._path}, line {line:,}: byte {before + error.start + 1:,} of the file is "
            f"0x{error.object[error.start]:02x}, which is not {self._name}. Give the encoding that the file is in."
        )


def head_of(head: bytes, whole: bool, path: str, encoding: str) -> tuple[bytes, int]:
    r"""The first bytes of a file as UTF-8, and where in the file they begin; there has to be something in them.

    >>> head_of(b"\xef\xbb\xbfa,b", True, "data.csv", "utf-8")
    (b'a,b', 3)
    """
    text = Text(io.BytesIO(head), path, encoding, whole)
    data = text.read(4 * len(head) + 4)  # a character of one byte may have three in UTF-8
    if not data.strip():
        raise InputError(f"{path} {'holds nothing but blanks' if data else 'is empty'}: there is nothing to read.")
    check_text(data, path, 1)
    return data, text.first_byte


def check_text(data: bytes, path: str, line: int) -> None:
    """Refuse bytes that are none of a text, the first of which is in that line."""
    at = data.find(b"\0")
    if at >= 0:
        raise InputError(
            f"{path} is not text: it holds the byte NUL in line {line + count_lines(data[:at]):,}. If it is UTF-16, "
            "give encoding='utf-16-le' or 'utf-16-be'."
        )


def is_utf8(data: bytes | memoryview) -> bool:
    r"""Whether all of it is.

    >>> is_utf8(b"a\xc3\xa9"), is_utf8(b"a\xe9")
    (True, False)
    """
    import pyarrow as pa

    ends = pa.array([0, len(data)], pa.int64()).buffers()[1]
    try:
        pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(data)).validate(full=True)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return False
    return True


def wrong_byte(data: bytes) -> int:
    r"""Where the first byte is that is not UTF-8, or −1.

    >>> wrong_byte(b"a\xe9"), wrong_byte(b"a")
    (1, -1)
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return -1


def _codec(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding)
        "".encode(found.name)  # some codecs are not of text
    except LookupError:
        raise InputError(
            f"There is no encoding {short(encoding)}: utf-8, utf-16, latin-1 and cp1252 are some."
        ) from None
    return "utf-8" if found.name == "utf-8-sig" else found.name


def _filled(file: BinaryIO | io.RawIOBase, size: int) -> bytes:
    """So many bytes of a file that may give fewer at once, or those up to the end."""
    pieces: list[bytes] = []
    while size > 0 and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
