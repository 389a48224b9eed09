"""One message: its subject and text parts as one text, the parts that were skipped, and its faults."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from suffice.exceptions import InputError
from suffice.text.mail.charsets import decode_text
from suffice.text.mail.faults import MailFaults
from suffice.text.mail.headers import decode_field, header_tokens
from suffice.text.mail.markup import html_charset, html_to_text
from suffice.text.mail.rules import Rules, make_rules
from suffice.text.mail.structure import Part, parse_part, split_parts
from suffice.text.mail.transfer import decode_transfer, without_uuencoded

__all__ = ["Mail", "Skipped", "parse_mail", "read_mail"]

MAX_DEPTH = 20
MAX_PARTS = 1_000
HTML = ("text/html", "text/enriched", "text/richtext", "application/xhtml+xml")
# Text types that are not prose, or a copy for one mail program only.
NOT_PROSE = re.compile("text/(?:calendar|css|csv|directory|javascript|rtf|vcard|x-amp-html|x-vcalendar|x-vcard|xml)")


@runtime_checkable
class BinaryFile(Protocol):
    """A file opened in binary mode."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""


@dataclass(frozen=True)
class Skipped:
    r"""A part of a message that was not read.

    Attributes
    ----------
    type : str
        Declared type, such as ``image/png``.
    size : int
        Size in bytes, as encoded in the message.
    name : str
        File name, if the part has one.

    See Also
    --------
    suffice.text.mail.Mail : The message; its ``skipped`` lists these parts.
    suffice.text.mail.read_mail : Reads attached texts, too, with ``max_attachment_bytes``.

    Examples
    --------
    >>> from suffice.text.mail import read_mail
    >>> read_mail(b"Content-Type: image/png; name=cat.png\n\n\x89PNG").skipped
    (Skipped(type='image/png', size=4, name='cat.png'),)
    """

    type: str
    size: int
    name: str = ""


@dataclass(frozen=True)
class Mail:
    r"""The text of a message, with its faults and skipped parts.

    Attributes
    ----------
    text : str
        Text for a classifier: the subject, the text parts, and the requested header tokens. It may be empty.
    subject : str
        The decoded subject, on one line.
    headers : tuple of str
        Tokens of the requested header fields. ``text`` contains them, too.
    faults : tuple of str
        A sentence for each kind of fault; empty for a well-formed message.
    skipped : tuple of Skipped
        Attachments and other parts that are not text.
    path : str or None
        The file that the message was read from.
    number : int or None
        Position in the file, from 0, if the file is an mbox.
    unread : bool
        Whether the file or folder could not be read, because it cannot be opened or is compressed. The text is then
        empty, and the fault says why.

    See Also
    --------
    suffice.text.mail.read_mail : Reads a message.
    suffice.text.mail.Skipped : A part of the message that was not read.

    Examples
    --------
    >>> from suffice.text.mail import read_mail
    >>> mail = read_mail(b"Subject: Lunch?\n\nAt noon.")
    >>> mail.subject, mail.text, mail.faults
    ('Lunch?', 'Lunch?\nAt noon.', ())
    """

    text: str
    subject: str = ""
    headers: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    path: str | None = None
    number: int | None = None
    unread: bool = False


def read_mail(
    source: bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryFile,
    *,
    headers: bool | Iterable[str] = False,
    alternatives: str = "shown",
    max_bytes: int = 10_000_000,
    max_text_bytes: int = 1_000_000,
    max_attachment_bytes: int = 0,
) -> Mail:
    r"""Read one message.

    A malformed message is read as far as possible, and the rest is listed in ``faults``. A file that is not a message
    is read as plain text. Reading takes time proportional to the size, whatever the message contains.

    Parameters
    ----------
    source : bytes, path or binary file
        The raw message (RFC 5322), such as an ``.eml`` file. For an mbox, which holds many messages, see `read_mails`.
    headers : bool or list of str, default=False
        Header fields whose words become separate tokens, prefixed with the field: ``from_example_com``,
        ``subject_viagra``. Any tokeniser keeps them as one word, distinct from the words of the body. True selects
        From, Reply-To, Return-Path, Sender, Subject, X-Mailer, User-Agent and Content-Type, which the sender writes; To
        and Received describe your own mailbox.
    alternatives : {"shown", "plain", "all"}, default="shown"
        Which form to read of a text that is sent in several forms. "shown" reads the last form, usually HTML, because
        mail programs display it: a sender can fill the other forms with innocent words. If it has less than half as
        many words as another form, all forms are read. "plain" reads the first form that has words, and "all" reads all
        forms.
    max_bytes : int, default=10_000_000
        Largest size of the message; the rest is ignored and noted as a fault.
    max_text_bytes : int, default=1_000_000
        Largest size of a text part; the rest is ignored and noted as a fault.
    max_attachment_bytes : int, default=0
        Largest size of an attached text file that is read like the body. Other attachments are skipped.

    Returns
    -------
    Mail
        The text, with faults and skipped parts.

    See Also
    --------
    suffice.text.mail.read_mails : Reads all messages of files and folders.
    suffice.text.mail.Mail : The text of a message.

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
            hint = " To read a message from a string, pass text.encode()." if "\n" in path else ""
            raise InputError(f"Cannot read mail from {path[:200]!r}: {_reason(error)}.{hint}", file=path) from error
    elif isinstance(source, BinaryFile):
        data = source.read(max_bytes + 1)
        if not isinstance(data, bytes):
            raise InputError("The file must be opened in binary mode: open(path, 'rb').", argument="source")
    else:
        raise InputError(f"Expected bytes, a path or a binary file; got {type(source).__name__}.", argument="source")
    return parse_mail(data, rules, path=path)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def parse_mail(data: bytes, rules: Rules, *, path: str | None = None, number: int | None = None) -> Mail:
    """Parse the bytes of a message. A length of ``max_bytes + 1`` means that the message was cut."""
    reader = _MessageReader(rules)
    if path is not None and path.lower().endswith(".emlx"):
        data = _without_frame(data)
    if len(data) > rules.max_bytes:
        reader.faults.note(f"the message is longer than {rules.max_bytes:,} bytes; the rest is ignored")
        data = data[: rules.max_bytes]
    part = parse_part(data, reader.faults, message=True)
    pieces = reader.message(part, 0)
    subject = reader.subject(part)
    tokens = tuple(header_tokens(part.fields, rules.headers, reader.faults)) if rules.headers else ()
    text = "\n".join(filter(None, [*pieces, " ".join(tokens)]))
    return Mail(text, subject, tokens, reader.faults.sentences(), tuple(reader.skipped), path, number)


def _without_frame(data: bytes) -> bytes:
    """The message in a file of Apple Mail, which has the length on a line before it and metadata after it."""
    length, _, rest = data.partition(b"\n")
    return rest[: int(length)] if re.fullmatch(rb"\s*[0-9]{1,15}\s*", length) else data


class _MessageReader:
    """One pass over the parts of a message."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.faults = MailFaults()
        self.skipped: list[Skipped] = []
        self.parts = 0

    def subject(self, part: Part) -> str:
        raw = next((value for name, value in part.fields if name == "subject"), b"")
        return decode_field(raw, self.faults)

    def message(self, part: Part, depth: int) -> list[str]:
        """The subject and the texts of a message."""
        return [self.subject(part), *self.texts(part, depth)]

    def texts(self, part: Part, depth: int) -> list[str]:
        """The texts of a part and of the parts within it."""
        self.parts += 1
        if part.is_multipart or part.type == "message/rfc822":
            if depth >= MAX_DEPTH:
                self.faults.note(f"parts are nested more than {MAX_DEPTH} deep; deeper parts are ignored")
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
                self.faults.note(f"there are more than {MAX_PARTS:,} parts; the rest is ignored")
                break
            inner = parse_part(data, self.faults, message=False, default_type=default)
            forms.append(self.texts(inner, depth))
        if part.type == "multipart/alternative":
            forms = self.chosen(forms)
        return [text for form in forms for text in form]

    def chosen(self, forms: list[list[str]]) -> list[list[str]]:
        """The forms of one text that are read, by the setting ``alternatives``."""
        words = [sum(len(text.split()) for text in form) for form in forms]
        with_words = [at for at, count in enumerate(words) if count]
        if not with_words or self.rules.alternatives == "all":
            return forms
        at = with_words[0] if self.rules.alternatives == "plain" else with_words[-1]
        return [forms[at]] if 2 * words[at] >= max(words) else forms

    def is_read(self, part: Part) -> bool:
        """Whether a part is prose in the body or in a small enough attachment."""
        if not (part.type.startswith("text/") or part.type in HTML) or NOT_PROSE.fullmatch(part.type):
            return False
        # A body may have a file name, too: only declared attachments count.
        return part.disposition != "attachment" or len(part.body) <= self.rules.max_attachment_bytes

    def text(self, part: Part) -> str:
        """The text of a text part, or of a multipart without boundaries."""
        data = decode_transfer(part.body, part.encoding, self.faults)
        if len(data) > self.rules.max_text_bytes:
            self.faults.note(f"a text is longer than {self.rules.max_text_bytes:,} bytes; the rest is ignored")
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
