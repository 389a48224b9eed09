"""Decoding of text by the charset that a message declares, or by a guess if that is wrong.

Declared names are often missing, unknown or wrong, so a text is never refused. The first of these that works is used:
the declared charset, if all bytes are valid; UTF-8, if all bytes are valid; the declared charset with invalid bytes
replaced, if these are few (as in a text that was cut within a character); Windows-1252, which has a character for
nearly every byte.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from suffice.text.mail.faults import MailFaults, quoted

__all__ = ["decode_text"]

NAME = re.compile(r"[A-Za-z0-9][\w.:+-]{0,63}", re.ASCII)
# Declared charsets, and the larger charsets that writers use and readers assume (the Encoding Standard's table).
LARGER = {
    "iso8859-1": "cp1252",
    "ascii": "utf-8",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
}
# Codecs of Python that messages do not use, that take quadratic time, or that depend on the machine.
REFUSED = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}
SURROGATE = re.compile("[\ud800-\udfff]")
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]+")


def decode_text(data: bytes, charset: str | None, faults: MailFaults) -> str:
    r"""Decode a text; remove invisible characters that split words, and replace lone surrogates.

    >>> decode_text("naïve".encode(), "utf-8", MailFaults()), decode_text(b"na\xefve", "no-such", MailFaults())
    ('naïve', 'naïve')
    """
    text = _decoded(data, charset, faults)
    if text.isascii():
        return text
    # UTF-7 can encode half of a surrogate pair, which files and tokenisers reject.
    return SURROGATE.sub("\ufffd", INVISIBLE.sub("", text))


def _decoded(data: bytes, charset: str | None, faults: MailFaults) -> str:
    name = _codec(charset) if charset else "utf-8"
    if name is None:
        faults.note(f"the charset {quoted(charset or '')} is unknown")
        name = "utf-8"
    if name.startswith(("utf-16", "utf-32")) and data.isascii() and b"\0" not in data:
        faults.note(f"a text is declared as {name} but is not")
        name = "utf-8"
    for each in (name, "utf-8"):
        try:
            return data.decode(each)
        except ValueError:
            continue
    faults.note(f"a text is not valid {name}; its characters are guessed or replaced")
    replaced = data.decode(name, "replace")
    foreign = len(data) - len(data.translate(None, bytes(range(128, 256))))
    wrong = replaced.count("\ufffd")
    if foreign > wrong + 3 and 20 * (wrong - replaced.endswith("\ufffd")) <= foreign:
        return replaced
    try:
        return data.decode("cp1252")
    except ValueError:
        return data.decode("latin-1")


@lru_cache(maxsize=256)
def _codec(charset: str) -> str | None:
    """The codec for a declared charset, if Python has one that is safe for untrusted bytes."""
    if not NAME.fullmatch(charset):
        return None
    try:
        codec = codecs.lookup(charset)
        # Raises for names such as zlib and rot13, which are codecs but not for text; no bytes would not be decoded.
        b"a".decode(charset, "replace")
    except (LookupError, ValueError):
        return None
    if codec.name in REFUSED:
        return None
    return LARGER.get(codec.name, codec.name)
