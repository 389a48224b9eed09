"""One mail: its subject and text parts as one text, what was skipped, and what could not be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from suffice.exceptions import InputError
from suffice.text.mail.charsets import decode_text
from suffice.text.mail.faults import Faults
from suffice.text.mail.headers import decode_field, header_tokens
from suffice.text.mail.markup import html_charset, html_to_text
from suffice.text.mail.rules import Rules, make_rules
from suffice.text.mail.structure import Part, parse_part, split_parts
from suffice.text.mail.transfer import decode_transfer, without_uuencoded

__all__ = ["Mail", "Skipped", "parse_mail", "read_mail"]

MAX_DEPTH = 20
MAX_PARTS = 1_000
HTML = ("text/html", "text/enriched", "text/richtext", "application/xhtml+xml")
# Text by its type, but nothing that was written to be read, or a copy for one reader only.
NOT_PROSE = re.compile("text/(?:calendar|css|csv|directory|javascript|rtf|vcard|x-amp-html|x-vcalendar|x-vcard|xml)")


@dataclass(frozen=True)
class Skipped:
    """A part of a mail that was not read.

    Attributes
    ----------
    type : str
        As the mail declares it, such as ``image/png``.
    size : int
        In bytes, encoded as it was sent.
    name : str
        Of the file, if it has one.
    """

    type: str
    size: int
    name: str = ""


@dataclass(frozen=True)
class Mail:
    """What a mail says.

    Attributes
    ----------
    text : str
        For a classifier: the subject, the text parts, and the header tokens that were asked for. May be empty.
    subject : str
        Decoded, on one line.
    headers : tuple of str
        Tokens of the header fields that were asked for; they are part of the text, too.
    faults : tuple of str
        A sentence for each kind of thing that could not be read as it should be. Empty for a mail in order.
    skipped : tuple of Skipped
        Attachments and other parts that are not text.
    path : str or None
        The file it was read from.
    number : int or None
        Its place within that file, from 0, if the file is an mbox.
    """

    text: str
    subject: str = ""
    headers: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    path: str | None = None
    number: int | None = None


def read_mail(
    source: bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO,
    *,
    headers: bool | Iterable[str] = False,
    alternatives: str = "shown",
    max_bytes: int = 10_000_000,
    max_text_bytes: int = 1_000_000,
    max_attachment_bytes: int = 0,
) -> Mail:
    r"""Read one message.

    A mail that is broken gives what can be read, and says what could not in ``faults``; a file that is no mail at all
    is its own text. The time is in proportion to the size, whatever the mail holds.

    Parameters
    ----------
    source : bytes, path or binary file
        The message as it was sent (RFC 5322), such as a file ``.eml``. An mbox holds many: see `read_mails`.
    headers : bool or list of str, default=False
        Header fields whose words become tokens of their own, named after the field: ``from_example_com``,
        ``subject_viagra``. They pass any tokeniser as one word, and are told apart from the body's. True takes From,
        Reply-To, Return-Path, Sender, Subject, X-Mailer, User-Agent and Content-Type, which the sender writes; To and
        Received tell of your own mailbox.
    alternatives : {"shown", "plain", "all"}, default="shown"
        What to read of a text that is sent in several forms. A reader is shown the last (HTML, as a rule), so that is
        what counts: the other is free for a sender to fill with innocent words. If it has less than half the words of
        another form, all forms are read. "plain" takes the first form that has words.
    max_bytes : int, default=10_000_000
        Of the message; what follows is not read, which is a fault.
    max_text_bytes : int, default=1_000_000
        Of one text part; the rest of it is not read, which is a fault.
    max_attachment_bytes : int, default=0
        Attached files of text up to this size are read like the body. Everything else that is attached is skipped.

    Returns
    -------
    Mail

    Examples
    --------
    >>> mail = read_mail(b"From: a@example.com\nSubject: =?utf-8?q?na=C3=AFve?=\n\nHello Bayes.", headers=["from"])
    >>> mail.text
    'naïve\nHello Bayes.\nfrom_a from_example_com'
    >>> read_mail(b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGI+aGk8").text
    'hi<'
    """
    rules = make_rules(headers, alternatives, max_bytes, max_text_bytes, max_attachment_bytes)
    path = None
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source[: max_bytes + 1])
    elif isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        try:
            with open(path, "rb") as file:
                data = file.read(max_bytes + 1)
        except (OSError, ValueError) as error:
            hint = " A mail that is held as text is read from text.encode()." if "\n" in path else ""
            raise InputError(f"No mail can be read from {path[:200]!r}: {_why(error)}.{hint}") from error
    elif hasattr(source, "read"):
        data = source.read(max_bytes + 1)
        if not isinstance(data, bytes):
            raise InputError("A mail is read from a file that was opened as bytes: open(path, 'rb').")
    else:
        raise InputError(f"A mail is read from bytes, a path or a binary file, not from {type(source).__name__}.")
    return parse_mail(data, rules, path=path)


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def parse_mail(data: bytes, rules: Rules, *, path: str | None = None, number: int | None = None) -> Mail:
    """The mail that these bytes are; one byte more than is allowed says that there is more."""
    reading = _Reading(rules)
    if path is not None and path.lower().endswith(".emlx"):
        data = _without_frame(data)
    if len(data) > rules.max_bytes:
        reading.faults.note(f"the message is longer than {rules.max_bytes:,} bytes; the rest is left out")
        data = data[: rules.max_bytes]
    part = parse_part(data, reading.faults, message=True)
    pieces = reading.message(part, 0)
    subject = reading.subject(part)
    tokens = tuple(header_tokens(part.fields, rules.headers, reading.faults)) if rules.headers else ()
    text = "\n".join(filter(None, [*pieces, " ".join(tokens)]))
    return Mail(text, subject, tokens, reading.faults.sentences(), tuple(reading.skipped), path, number)


def _without_frame(data: bytes) -> bytes:
    """The message in a file of Apple's Mail: a line before it says how long it is, and what follows is not of it."""
    length, _, rest = data.partition(b"\n")
    return rest[: int(length)] if re.fullmatch(rb"\s*[0-9]{1,15}\s*", length) else data


class _Reading:
    """One walk through the parts of a mail."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.faults = Faults()
        self.skipped: list[Skipped] = []
        self.parts = 0

    def subject(self, part: Part) -> str:
        raw = next((value for name, value in part.fields if name == "subject"), b"")
        return decode_field(raw, self.faults)

    def message(self, part: Part, depth: int) -> list[str]:
        """The subject and the texts of a message."""
        return [self.subject(part), *self.texts(part, depth)]

    def texts(self, part: Part, depth: int) -> list[str]:
        """The texts of a part and of those within it."""
        self.parts += 1
        if part.is_multipart or part.type == "message/rfc822":
            if depth >= MAX_DEPTH:
                self.faults.note(f"parts are nested more than {MAX_DEPTH} deep; what is deeper is left out")
                return []
            if not part.is_multipart:
                inner = decode_transfer(part.body, part.encoding, self.faults)
                return self.message(parse_part(inner, self.faults, message=True), depth + 1)
            inner_parts = split_parts(part, self.faults)
            if inner_parts is not None:
                return self.multipart(part, inner_parts, depth + 1)
        elif not self.is_read(part):
            self.skipped.append(Skipped(part.type, len(part.body), self.name(part)))
            return []
        return [self.text(part)]

    def multipart(self, part: Part, inner_parts: Iterable[bytes], depth: int) -> list[str]:
        default = "message/rfc822" if part.type == "multipart/digest" else "text/plain"
        forms = []
        for data in inner_parts:
            if self.parts >= MAX_PARTS:
                self.faults.note(f"there are more than {MAX_PARTS:,} parts; the rest is left out")
                break
            inner = parse_part(data, self.faults, message=False, default_type=default)
            forms.append(self.texts(inner, depth))
        if part.type == "multipart/alternative":
            forms = self.chosen(forms)
        return [text for form in forms for text in form]

    def chosen(self, forms: list[list[str]]) -> list[list[str]]:
        """The forms of one text that are read."""
        words = [sum(len(text.split()) for text in form) for form in forms]
        said = [at for at, count in enumerate(words) if count]
        if not said or self.rules.alternatives == "all":
            return forms
        at = said[0] if self.rules.alternatives == "plain" else said[-1]
        return [forms[at]] if 2 * words[at] >= max(words) else forms

    def is_read(self, part: Part) -> bool:
        """Whether a part is text for a reader, in the body or in an attachment that is small enough."""
        if not (part.type.startswith("text/") or part.type in HTML) or NOT_PROSE.fullmatch(part.type):
            return False
        # A body may have a file's name, too: only what is declared as attached is.
        return part.disposition != "attachment" or len(part.body) <= self.rules.max_attachment_bytes

    def text(self, part: Part) -> str:
        """The text of a part that is text, or of a multipart that has no parts."""
        data = decode_transfer(part.body, part.encoding, self.faults)
        if len(data) > self.rules.max_text_bytes:
            self.faults.note(f"a text is longer than {self.rules.max_text_bytes:,} bytes; the rest is left out")
            data = data[: self.rules.max_text_bytes]
        charset = part.type_parameters.get("charset", "").strip() or None
        if part.type in HTML:
            return html_to_text(decode_text(data, charset or html_charset(data), self.faults))
        if b"begin " in data:
            data, files = without_uuencoded(data)
            self.skipped += [Skipped("application/x-uuencode", size, name) for name, size in files]
        return decode_text(data, charset, self.faults).strip()

    def name(self, part: Part) -> str:
        return decode_field(part.name.encode("latin-1"), self.faults)[:200]
