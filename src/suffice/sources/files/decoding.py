"""Text files in any encoding, read as UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from typing import BinaryIO

from suffice.exceptions import Argument, InputError, short
from suffice.kernels.records import count_lines

__all__ = [
    "UncommentedReader",
    "Utf8Reader",
    "check_no_nul",
    "decode_head",
    "first_invalid_byte",
    "is_utf8",
    "without_comments",
]

UTF8_MARK = b"\xef\xbb\xbf"
MARKS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
NAME_CODECS = ("idna", "punycode")  # for names of internet domains, not for files
CHUNK_BYTES = 1 << 20
LONGEST_LINE = 1 << 25  # a longer line is not held back


class Utf8Reader:
    r"""Reads a text file as UTF-8, without its byte order mark.

    Parameters
    ----------
    file : binary file
        At its beginning.
    path : str
        For messages.
    encoding : str
        If it is UTF-8, a byte order mark of UTF-16 or UTF-32 takes precedence. Bytes declared as UTF-8 are passed on
        unchecked.
    whole : bool, default=True
        Whether the file is complete; if not, its last character may be cut.

    Attributes
    ----------
    first_byte : int
        Position in the file at which the text begins, for files in UTF-8.

    Examples
    --------
    >>> import io
    >>> Utf8Reader(io.BytesIO("é".encode("utf-16")), "data.csv", "utf-8").read(10)
    b'\xc3\xa9'
    """

    def __init__(self, file: BinaryIO, path: str, encoding: str, whole: bool = True) -> None:
        self._file, self._path, self._whole = file, path, whole
        self._pending = _read_fully(file, len(UTF8_MARK) + 1)
        self._encoding = _codec_name(encoding)
        if self._encoding == "utf-8":
            self._encoding = next((name for mark, name in MARKS.items() if self._pending.startswith(mark)), "utf-8")
        self._decoder = None if self._encoding == "utf-8" else codecs.getincrementaldecoder(self._encoding)("strict")
        self._lines = self._bytes = 0
        self._ended = False
        self.first_byte = 0
        if self._decoder is None and self._pending.startswith(UTF8_MARK):
            self.first_byte, self._pending = len(UTF8_MARK), self._pending[len(UTF8_MARK) :]

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes of UTF-8, or the bytes up to the end of the file."""
        decoder = self._decoder
        if decoder is None:
            pending, self._pending = self._pending, b""
            return pending + _read_fully(self._file, size - len(pending))
        pieces: list[bytes] = []
        while (missing := size - sum(map(len, pieces))) > 0:
            piece = self._recode(decoder, min(missing, CHUNK_BYTES))
            if not piece and self._ended:
                break
            pieces.append(piece)
        return b"".join(pieces)

    def _recode(self, decoder: codecs.IncrementalDecoder, size: int) -> bytes:
        raw = self._pending or _read_fully(self._file, size)
        self._pending = b""
        first = self._bytes == 0
        self._ended = not raw
        try:
            text = decoder.decode(raw, not raw and self._whole)
        except UnicodeDecodeError as error:
            raise self._input_error(error, raw) from None
        except UnicodeError as error:  # of codecs that do not say which byte is wrong
            raise self._unplaced_error(error) from None
        self._bytes += len(raw)
        # A byte order mark that the codec did not remove decodes to a character.
        recoded = (text.removeprefix("\ufeff") if first else text).encode("utf-8", "replace")
        self._lines += count_lines(recoded)
        return recoded

    def _input_error(self, error: UnicodeDecodeError, raw: bytes) -> InputError:
        before = self._bytes - (len(error.object) - len(raw))  # bytes that the decoder has consumed
        line = 1 + self._lines + self._count_lines(error.object[: error.start])
        return InputError(
            f"{self._path}, line {line}: byte {before + error.start + 1:,} of the file is "
            f"0x{error.object[error.start]:02x}, which is not {self._encoding}. Set ",
            Argument("encoding"),
            " to the encoding of the file.",
            file=self._path,
            line=line,
            argument="encoding",
        )

    def _unplaced_error(self, error: UnicodeError) -> InputError:
        """The error of a codec that does not say where it failed, such as UTF-16 without a byte order mark."""
        words = str(error)
        if "BOM" in words:
            words = "it does not start with a byte order mark"
        advice: tuple[str | Argument, ...] = (Argument("encoding"), " to the encoding of the file.")
        if "mark" in words:
            advice = (Argument("encoding", "utf-16-le"), " or ", Argument("encoding", "utf-16-be"), ".")
        return InputError(
            f"{self._path} cannot be decoded as {self._encoding}: {words}. Set ",
            *advice,
            file=self._path,
            argument="encoding",
        )

    def _count_lines(self, raw: bytes) -> int:
        try:
            return count_lines(raw.decode(self._encoding, "replace").encode("utf-8", "replace"))
        except UnicodeError:
            return 0


class UncommentedReader:
    r"""Reads UTF-8 without comments: lines that begin with a text. They become blank lines, so line numbers stay.

    >>> import io
    >>> reader = Utf8Reader(io.BytesIO(b"# units: cm\na,b\n"), "data.csv", "utf-8")
    >>> UncommentedReader(reader, "#").read(100)
    b'\na,b\n'
    """

    def __init__(self, text: Utf8Reader, comment: str) -> None:
        self._text, self._comment = text, comment
        self._ready = self._line = b""  # bytes without comments; the beginning of a line
        self._ended = False
        self.first_byte = text.first_byte

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes, or the bytes up to the end of the file."""
        while len(self._ready) < size and not self._ended:
            more = self._text.read(size)
            self._ended = len(more) < size
            data = self._line + more
            end = len(data) if self._ended or len(data) > LONGEST_LINE else data.rfind(b"\n") + 1
            self._ready += without_comments(data[:end], self._comment)
            self._line = data[end:]
        ready, self._ready = self._ready[:size], self._ready[size:]
        return ready


def without_comments(data: bytes, comment: str) -> bytes:
    r"""Return the data with lines that begin with ``comment`` made blank; "" stands for no comments.

    >>> without_comments(b"# old\na,b\n1,#2\n", "#")
    b'\na,b\n1,#2\n'
    """
    return re.sub(rb"(?m)^%s[^\r\n]*" % re.escape(comment.encode()), b"", data) if comment else data


def decode_head(head: bytes, whole: bool, path: str, encoding: str) -> tuple[bytes, int]:
    r"""Return the first bytes of a file as UTF-8, and their position in the file. Raises if they are blank.

    >>> decode_head(b"\xef\xbb\xbfa,b", True, "data.csv", "utf-8")
    (b'a,b', 3)
    """
    reader = Utf8Reader(io.BytesIO(head), path, encoding, whole)
    data = reader.read(4 * len(head) + 4)  # one byte may become three in UTF-8
    if not data.strip():
        raise InputError(f"{path} {'contains only blanks' if data else 'is empty'}; there are no rows.", file=path)
    check_no_nul(data, path, 1)
    return data, reader.first_byte


def check_no_nul(data: bytes, path: str, first_line: int) -> None:
    """Raise if bytes that begin at line ``first_line`` of a file contain NUL, as binary files do."""
    at = data.find(b"\0")
    if at >= 0:
        line = first_line + count_lines(data[:at])
        raise InputError(
            f"{path} is not text: line {line} contains a NUL byte. If the file is UTF-16, set ",
            Argument("encoding", "utf-16-le"),
            " or ",
            Argument("encoding", "utf-16-be"),
            ".",
            file=path,
            line=line,
        )


def is_utf8(data: bytes | memoryview) -> bool:
    r"""Whether all bytes are valid UTF-8.

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


def first_invalid_byte(data: bytes) -> int:
    r"""Position of the first byte that is not valid UTF-8, or −1.

    >>> first_invalid_byte(b"a\xe9"), first_invalid_byte(b"a")
    (1, -1)
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return -1


def _codec_name(encoding: str) -> str:
    try:
        codec = codecs.lookup(encoding)
        "".encode(codec.name)  # raises LookupError for codecs that are not text encodings
        if codec.name in NAME_CODECS or codec.incrementaldecoder is None:
            raise LookupError
    except (LookupError, ValueError):  # ValueError: the name contains NUL, or the codec encodes nothing
        raise InputError(
            f"Unknown encoding {short(encoding)}. Examples of valid encodings: utf-8, utf-16, latin-1, cp1252.",
            argument="encoding",
        ) from None
    return "utf-8" if codec.name == "utf-8-sig" else codec.name


def _read_fully(file: BinaryIO, size: int) -> bytes:
    """Read ``size`` bytes, or those up to the end, from a file that may return fewer per call."""
    pieces: list[bytes] = []
    while size > 0 and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
