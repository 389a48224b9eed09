"""Bytes to text, by the charset a mail declares, or by what the bytes are when that is wrong.

Declared names are often missing, unknown or untrue, so a text is never refused. In order: the declared charset, if all
bytes are of it; UTF-8, if they are of that; the declared charset with what is wrong replaced, if that is little beside
what is right (a text that was cut within a letter); Windows-1252, which has a letter for nearly every byte.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from suffice.text.mail.faults import Faults, quoted

__all__ = ["decode_text"]

NAME = re.compile(r"[A-Za-z0-9][\w.:+-]{0,63}", re.ASCII)
# What writers declare, and the larger charset that they use and every reader assumes (the Encoding Standard's table).
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
# Python's own codecs that no mail has, that take quadratic time, or that depend on the machine.
REFUSED = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}
SURROGATE = re.compile("[\ud800-\udfff]")
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]+")


def decode_text(data: bytes, charset: str | None, faults: Faults) -> str:
    r"""A text as it is read: decoded, without invisible characters that cut words in two or lone surrogates.

    >>> decode_text("naïve".encode(), "utf-8", Faults()), decode_text(b"na\xefve", "no-such", Faults())
    ('naïve', 'naïve')
    """
    text = _decoded(data, charset, faults)
    if text.isascii():
        return text
    # UTF-7 can spell half of a character, which no file and no tokeniser takes.
    return SURROGATE.sub("\ufffd", INVISIBLE.sub("", text))


def _decoded(data: bytes, charset: str | None, faults: Faults) -> str:
    name = _codec(charset) if charset else "utf-8"
    if name is None:
        faults.note(f"the charset {quoted(charset or '')} is unknown")
        name = "utf-8"
    if name.startswith(("utf-16", "utf-32")) and data.isascii() and b"\0" not in data:
        faults.note(f"a text is declared as {name} and is not")
        name = "utf-8"
    for each in (name, "utf-8"):
        try:
            return data.decode(each)
        except ValueError:
            continue
    faults.note(f"a text is not all {name}; its letters are guessed or replaced")
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
    """The codec that reads a declared charset, if Python has one and it is safe to run on anybody's bytes."""
    if not NAME.fullmatch(charset):
        return None
    try:
        found = codecs.lookup(charset)
    except (LookupError, ValueError):
        return None
    # Names such as zlib and rot13 are codecs too, of other things than text.
    if not found._is_text_encoding or found.name in REFUSED:
        return None
    return LARGER.get(found.name, found.name)
