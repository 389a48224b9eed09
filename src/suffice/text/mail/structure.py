"""A message as the parts it is made of (MIME), each with its type, and its body still encoded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from suffice.text.mail.faults import Faults, quoted
from suffice.text.mail.headers import Fields, parameters, split_fields

__all__ = ["Part", "parse_part", "split_parts"]

# The fields of which a message has at least one. A text that has none is no header, however many colons it has.
KNOWN_FIELDS = re.compile(
    "bcc|cc|content-(?:disposition|transfer-encoding|type)|date|delivered-to|from|in-reply-to|list-id|message-id|"
    "mime-version|received|references|reply-to|return-path|sender|subject|to|user-agent|x-mailer"
)
GUESSED_BOUNDARY = re.compile(rb"^--([^\r\n]{1,200}+)\r?\nContent-", re.MULTILINE | re.IGNORECASE)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Part:
    """A message, or a part of one."""

    fields: Fields
    body: bytes
    type: str
    """Such as ``text/plain``, lower-case; what has none, or none that can be read, is ``text/plain``."""
    type_parameters: dict[str, str]
    encoding: str
    disposition: str
    name: str
    """Of the file that the part is, as the header has it; empty if there is none."""

    @property
    def is_multipart(self) -> bool:
        """Whether the body is made of parts."""
        return self.type.startswith("multipart/")


def parse_part(data: bytes, faults: Faults, *, message: bool, default_type: str = "text/plain") -> Part:
    """The header of a part or message (which has a From, a Date or the like), and its body."""
    if b"\n" not in data and b"\r" in data:  # lines as old Macs end them
        data = data.replace(b"\r", b"\n")
    if message:
        data = data.removeprefix(BYTE_ORDER_MARK)
    noted = Faults()
    fields, body = split_fields(data, noted)
    if message and not any(KNOWN_FIELDS.fullmatch(name) for name, _ in fields):
        fields, body = [], data
    else:
        faults.add(noted)
    first: dict[str, bytes] = {}
    for name, value in fields:
        first.setdefault(name, value)
    kind, type_parameters = parameters(first["content-type"]) if "content-type" in first else (default_type, {})
    if kind.count("/") != 1:
        if kind:
            faults.note(f"the content type {quoted(kind)} is none; the part is read as text")
        kind = "text/plain"
    disposition, more = parameters(first.get("content-disposition", b""))
    return Part(
        fields,
        body,
        kind,
        type_parameters,
        first.get("content-transfer-encoding", b"").strip().lower().decode("latin-1"),
        disposition,
        more.get("filename") or type_parameters.get("name") or "",
    )


def split_parts(part: Part, faults: Faults) -> Iterator[bytes] | None:
    """The parts between a multipart's boundaries, or None if there are no boundaries to be found."""
    body = part.body
    boundary = part.type_parameters.get("boundary", "").rstrip().encode("latin-1")
    places = _delimiters(body, boundary) if boundary else iter(())
    start = next(places, None)
    if start is None:
        guessed = GUESSED_BOUNDARY.search(body)
        if guessed is None:
            faults.note("a multipart has no boundaries; it is read as text")
            return None
        faults.note("a multipart does not name its boundary; it is split at what looks like one")
        places = _delimiters(body, guessed[1].rstrip())
        start = next(places, None)
    return _between(body, start, places, faults)


def _between(
    body: bytes, start: tuple[int, int, bool] | None, places: Iterator[tuple[int, int, bool]], faults: Faults
) -> Iterator[bytes]:
    while start is not None and not start[2]:
        stop = next(places, None)
        if stop is None:
            faults.note("a multipart is not closed; it is read to the end")
        yield body[start[1] : len(body) if stop is None else stop[0]]
        start = stop


def _delimiters(body: bytes, boundary: bytes) -> Iterator[tuple[int, int, bool]]:
    """Where each delimiter line begins, its line break before it, and ends, and whether it is the last."""
    mark = b"--" + boundary
    at = 0 if body.startswith(mark) else body.find(b"\n" + mark) + 1
    while at or body.startswith(mark):
        end = body.find(b"\n", at) + 1 or len(body)
        rest = body[at + len(mark) : end].rstrip()
        if rest in (b"", b"--"):
            before = at - 1 if at else 0
            yield before - (body[before - 1 : before] == b"\r"), end, rest == b"--"
        following = body.find(b"\n" + mark, end - 1)
        if following < 0:
            return
        at = following + 1
