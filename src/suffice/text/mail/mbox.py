"""The messages of an mbox, read one at a time, with one message in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

__all__ = ["BYTE_ORDER_MARK", "split_mbox", "starts_as_mbox"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# Lines may have any length; longer ones are read in pieces.
MAX_LINE = 65_536
# The line before each message: "From", an address, and the time in the format of ctime or of a Date field. A sentence
# that starts with "From" has no such time, though it may have a day and an hour. Thunderbird writes a dash or nothing.
MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
DATED = re.compile(
    rb"From [^\n]{0,300}?\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? {1,3}"
    rb"(?:" + MONTH + rb" {1,3}\d\d?|\d\d?[ -]" + MONTH + rb"[ -]\d{2,4}),? {1,3}\d\d?:\d\d"
)
BARE = re.compile(rb"From (?:-[^\n]*|[ \t]*)\r?$")
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
BLANK = (b"\n", b"\r\n")


def starts_as_mbox(head: bytes) -> bool:
    r"""Whether a file that begins with these bytes is an mbox.

    >>> starts_as_mbox(b"From a@example.com Thu Aug 22 13:17:22 2002\n"), starts_as_mbox(b"From here on it rains.")
    (True, False)
    """
    line = head.removeprefix(BYTE_ORDER_MARK).partition(b"\n")[0]
    return bool(DATED.match(line) or BARE.match(line))


def split_mbox(file: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    r"""The messages of an mbox, each cut to at most ``max_bytes + 1`` bytes.

    The first line determines what separates messages. If it has a time, separators are lines with a time, and bare
    lines after a blank line; otherwise every line that starts with ``From`` after a blank line. A line ``>From`` within
    a message loses the ``>`` that the writer of the mbox added (mboxrd).

    >>> import io
    >>> line = b"From a@example.com Thu Aug 22 13:17:22 2002\n"
    >>> list(split_mbox(io.BytesIO(line + b"Subject: 1\n\n>From me\n\n" + line + b"Subject: 2\n"), 100))
    [b'Subject: 1\n\nFrom me\n', b'Subject: 2\n']
    """
    kept: list[bytes] | None = None
    size, blank, whole, loose = 0, True, True, None
    while line := file.readline(MAX_LINE):
        if kept is None:
            line = line.removeprefix(BYTE_ORDER_MARK)
        from_line = whole and line.startswith(b"From ")
        if from_line and loose is None:
            loose = not starts_as_mbox(line)
        if from_line and (DATED.match(line) or (blank and (loose or BARE.match(line)))):
            if kept is not None:
                yield _finished(kept, max_bytes)
            kept, size = [], 0
        elif kept is not None or line not in BLANK:
            kept = [] if kept is None else kept
            if size <= max_bytes:
                kept.append(line)
                size += len(line)
        blank, whole = whole and line in BLANK, line.endswith(b"\n")
    if kept is not None:
        yield _finished(kept, max_bytes)


def _finished(lines: list[bytes], max_bytes: int) -> bytes:
    if lines and lines[-1] in BLANK:  # the blank line before a separator belongs to the mbox
        lines.pop()
    return QUOTED_FROM.sub(rb"\1", b"".join(lines)[: max_bytes + 1])
