"""Transfer encodings: base64, quoted-printable and uuencode, back to the bytes that were sent.

Each takes whatever it is given: what is damaged is left out or left as it is, and noted.
"""

from __future__ import annotations

import binascii
import re

from suffice.text.mail.faults import Faults, quoted

__all__ = ["decode_base64", "decode_transfer", "without_uuencoded"]

ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
NOT_BASE64 = bytes(set(range(256)) - set(ALPHABET))
WHITESPACE = b" \t\r\n\v\f"
AS_IT_IS = ("", "7bit", "8bit", "binary")
UUENCODED = ("uuencode", "x-uuencode", "x-uue", "uue")
UU_BEGIN = re.compile(rb"^begin [0-7]{3,4} [^\r\n]{1,200}\r?\n", re.MULTILINE)
UU_LINE = re.compile(rb"[!-`][ -`]{0,90}\r?\n")
UU_END = re.compile(rb"[` ]?\r?\n?end[ \t]*(?:\r?\n|\Z)")


def decode_transfer(body: bytes, encoding: str, faults: Faults) -> bytes:
    """The bytes of a part, by its Content-Transfer-Encoding.

    >>> decode_transfer(b"c3BhbQ==", "base64", Faults()), decode_transfer(b"sp=61m", "quoted-printable", Faults())
    (b'spam', b'spam')
    """
    if encoding in AS_IT_IS:
        return body
    if encoding == "quoted-printable":
        return binascii.a2b_qp(body)
    if encoding == "base64":
        coded, clear = _clear_behind(body)
        if clear:
            faults.note("base64 has clear text behind it; both are read")
            clear = b"\n" + clear
        return decode_base64(coded, faults) + clear
    if encoding in UUENCODED:
        return _decode_uu(body, faults)
    # Writers leave comments and semicolons there; the name is what comes first.
    name = re.match(r"[\w-]*", encoding)
    if name and name[0] != encoding:
        return decode_transfer(body, name[0], faults)
    faults.note(f"the transfer encoding {quoted(encoding)} is unknown; the part is read as it is")
    return body


def decode_base64(data: bytes, faults: Faults) -> bytes:
    r"""The bytes that base64 stands for, whatever else lies between its characters.

    Each piece that padding ends is decoded by itself: :func:`binascii.a2b_base64` would stop at the first.

    >>> decode_base64(b"c3Bh\nbQ==\naGFt", Faults())
    b'spamham'
    """
    kept = data.translate(None, NOT_BASE64)
    damaged = len(kept) < len(data.translate(None, WHITESPACE))
    pieces = []
    for piece in kept.split(b"="):
        over = len(piece) % 4
        damaged |= over == 1
        whole = piece[:-1] if over == 1 else piece + b"=" * (-over % 4)
        pieces.append(binascii.a2b_base64(whole))
    if damaged:
        faults.note("its base64 is damaged; what could be decoded is read")
    return b"".join(pieces)


def _clear_behind(data: bytes) -> tuple[bytes, bytes]:
    """What may be base64, and what follows from the first line on of which a tenth is not.

    Mailing lists put their footers there.
    """
    at = 0
    for line in data.splitlines(keepends=True):
        shown = line.strip()
        if 10 * len(shown.translate(None, NOT_BASE64)) < 9 * len(shown):
            return data[:at], data[at:]
        at += len(line)
    return data, b""


def _decode_uu(body: bytes, faults: Faults) -> bytes:
    begin = UU_BEGIN.search(body)
    if begin is None:
        faults.note("its uuencoded part has no begin line; it is left out")
        return b""
    decoded, at = [], begin.end()
    while line := UU_LINE.match(body, at):
        at = line.end()
        if line[0].strip() in (b"end", b"`"):
            break
        decoded.append(_uu_line(line[0].rstrip(b"\r\n"), faults))
    return b"".join(decoded)


def _uu_line(line: bytes, faults: Faults) -> bytes:
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        # Some writers pad a line with what is not of it: the first character says how much counts.
        length = ((line[0] - 32) & 63) * 4 + 5
        try:
            return binascii.a2b_uu(line[: length // 3])
        except binascii.Error:
            faults.note("a uuencoded line is damaged; it is left out")
            return b""


def without_uuencoded(text: bytes) -> tuple[bytes, list[tuple[str, int]]]:
    r"""A text without the files that are uuencoded in it, and the name and size of each.

    >>> without_uuencoded(b"See the file.\nbegin 644 a.txt\n$<W!A;0``\n`\nend\nBye.")
    (b'See the file.\nBye.', [('a.txt', 10)])
    """
    kept, files, at = [], [], 0
    while begin := UU_BEGIN.search(text, at):
        stop = begin.end()
        while (end := UU_END.match(text, stop)) is None and (line := UU_LINE.match(text, stop)):
            stop = line.end()
        if end is None or stop == begin.end():  # a sentence that begins so
            kept.append(text[at : begin.end()])
            at = begin.end()
            continue
        kept.append(text[at : begin.start()])
        files.append((begin[0].split(None, 2)[2].decode("latin-1").strip(), stop - begin.end()))
        at = end.end()
    return b"".join([*kept, text[at:]]), files
