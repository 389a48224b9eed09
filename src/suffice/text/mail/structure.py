"""The MIME structure of a message: its parts, each with its type and its encoded body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from suffice.text.mail.faults import MailFaults, quoted
from suffice.text.mail.headers import Fields, parameters, split_fields
from suffice.text.mail.mbox import BYTE_ORDER_MARK

__all__ = ["Part", "parse_part", "split_parts"]

# A message has at least one of these fields. Text without any is not a header, however many colons it has.
KNOWN_FIELDS = re.compile(
    "bcc|cc|content-(?:disposition|transfer-encoding|type)|date|delivered-to|from|in-reply-to|list-id|message-id|"
    "mime-version|received|references|reply-to|return-path|sender|subject|to|user-agent|x-mailer"
)
GUESSED_BOUNDARY = re.compile(rb"^--([^\r\n]{1,200}+)\r?\nContent-", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """A message, or a part of one."""

    fields: Fields
    body: bytes
    type: str
    """Such as ``text/plain``, in lower case; ``text/plain`` if it is missing or invalid."""
    type_parameters: dict[str, str]
    encoding: str
    disposition: str
    name: str
    """File name from the header, still encoded; empty if there is none."""

    @property
    def is_multipart(self) -> bool:
        """Whether the body consists of parts."""
        return self.type.startswith("multipart/")


def parse_part(data: bytes, faults: MailFaults, *, message: bool, default_type: str = "text/plain") -> Part:
    """Parse the header and body of a part, or of a message, which must have a field such as From or Date."""
    if b"\n" not in data and b"\r" in data:  # line ends of old Macs
        data = data.replace(b"\r", b"\n")
    if message:
        data = data.removeprefix(BYTE_ORDER_MARK)
    noted = MailFaults()
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
            faults.note(f"the content type {quoted(kind)} is invalid; the part is read as text")
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


def split_parts(part: Part, faults: MailFaults) -> Iterator[bytes] | None:
    """The parts between the boundaries of a multipart; None if it has no boundaries."""
    body = part.body
    boundary = part.type_parameters.get("boundary", "").rstrip().encode("latin-1")
    delimiters = _delimiters(body, boundary) if boundary else iter(())
    start = next(delimiters, None)
    if start is None:
        guessed = GUESSED_BOUNDARY.search(body)
        if guessed is None:
            faults.note("a multipart has no boundaries; it is read as text")
            return None
        faults.note("a multipart does not declare its boundary; it is split at lines that look like one")
        delimiters = _delimiters(body, guessed[1].rstrip())
        start = next(delimiters, None)
    return _between(body, start, delimiters, faults)


def _between(
    body: bytes, start: tuple[int, int, bool] | None, delimiters: Iterator[tuple[int, int, bool]], faults: MailFaults
) -> Iterator[bytes]:
    while start is not None and not start[2]:
        stop = next(delimiters, None)
        if stop is None:
            faults.note("a multipart is not closed; it is read to the end")
        yield body[start[1] : len(body) if stop is None else stop[0]]
        start = stop


def _delimiters(body: bytes, boundary: bytes) -> Iterator[tuple[int, int, bool]]:
    """Start (including the line break before it) and end of each delimiter line, and whether it is the last."""
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
