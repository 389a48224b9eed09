"""Decoding of transfer encodings: base64, quoted-printable and uuencode.

All functions accept any input: damaged parts are dropped or kept unchanged, and noted as faults.
"""

from __future__ import annotations

import binascii
import re

from suffice.text.mail.faults import MailFaults, quoted

__all__ = ["decode_base64", "decode_transfer", "without_uuencoded"]

ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
NOT_BASE64 = bytes(set(range(256)) - set(ALPHABET))
WHITESPACE = b" \t\r\n\v\f"
UNENCODED = ("", "7bit", "8bit", "binary")
UUENCODED = ("uuencode", "x-uuencode", "x-uue", "uue")
UU_BEGIN = re.compile(rb"^begin [0-7]{3,4} [^\r\n]{1,200}\r?\n", re.MULTILINE)
UU_LINE = re.compile(rb"[!-`][ -`]{0,90}\r?\n")
UU_END = re.compile(rb"[` ]?\r?\n?end[ \t]*(?:\r?\n|\Z)")


def decode_transfer(body: bytes, encoding: str, faults: MailFaults) -> bytes:
    """Decode the body of a part by its Content-Transfer-Encoding.

    >>> decode_transfer(b"c3BhbQ==", "base64", MailFaults())
    b'spam'
    >>> decode_transfer(b"sp=61m", "quoted-printable", MailFaults())
    b'spam'
    """
    if encoding in UNENCODED:
        return body
    if encoding == "quoted-printable":
        return binascii.a2b_qp(body)
    if encoding == "base64":
        coded, clear = _split_clear_text(body)
        if clear:
            faults.note("base64 is followed by clear text; both are read")
            clear = b"\n" + clear
        return decode_base64(coded, faults) + clear
    if encoding in UUENCODED:
        return _decode_uu(body, faults)
    # Some writers add comments and semicolons after the name.
    name = re.match(r"[\w-]*", encoding)
    if name and name[0] != encoding:
        return decode_transfer(body, name[0], faults)
    faults.note(f"the transfer encoding {quoted(encoding)} is unknown; the part is read unchanged")
    return body


def decode_base64(data: bytes, faults: MailFaults) -> bytes:
    r"""Decode base64, ignoring other characters in between.

    Each piece that ends in padding is decoded separately: :func:`binascii.a2b_base64` would stop at the first.

    >>> decode_base64(b"c3Bh\nbQ==\naGFt", MailFaults())
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
        faults.note("its base64 is damaged; the valid part is read")
    return b"".join(pieces)


def _split_clear_text(data: bytes) -> tuple[bytes, bytes]:
    """Split at the first line of which more than a tenth is not base64.

    Mailing lists append their footers as clear text.
    """
    at = 0
    for line in data.splitlines(keepends=True):
        shown = line.strip()
        if 10 * len(shown.translate(None, NOT_BASE64)) < 9 * len(shown):
            return data[:at], data[at:]
        at += len(line)
    return data, b""


def _decode_uu(body: bytes, faults: MailFaults) -> bytes:
    begin = UU_BEGIN.search(body)
    if begin is None:
        faults.note("its uuencoded part has no begin line; it is ignored")
        return b""
    decoded, at = [], begin.end()
    while line := UU_LINE.match(body, at):
        at = line.end()
        if line[0].strip() in (b"end", b"`"):
            break
        decoded.append(_uu_line(line[0].rstrip(b"\r\n"), faults))
    return b"".join(decoded)


def _uu_line(line: bytes, faults: MailFaults) -> bytes:
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        # Some writers pad lines: the first character gives the number of bytes that count.
        length = ((line[0] - 32) & 63) * 4 + 5
        try:
            return binascii.a2b_uu(line[: length // 3])
        except binascii.Error:
            faults.note("a uuencoded line is damaged; it is ignored")
            return b""


def without_uuencoded(text: bytes) -> tuple[bytes, list[tuple[str, int]]]:
    r"""Remove uuencoded files from a text; return the rest, and the name and size of each file.

    >>> without_uuencoded(b"See the file.\nbegin 644 a.txt\n$<W!A;0``\n`\nend\nBye.")
    (b'See the file.\nBye.', [('a.txt', 10)])
    """
    kept, files, at = [], [], 0
    while begin := UU_BEGIN.search(text, at):
        stop = begin.end()
        while (end := UU_END.match(text, stop)) is None and (line := UU_LINE.match(text, stop)):
            stop = line.end()
        if end is None or stop == begin.end():  # a sentence that begins with "begin"
            kept.append(text[at : begin.end()])
            at = begin.end()
            continue
        kept.append(text[at : begin.start()])
        files.append((begin[0].split(None, 2)[2].decode("latin-1").strip(), stop - begin.end()))
        at = end.end()
    return b"".join([*kept, text[at:]]), files
