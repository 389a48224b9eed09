"""Header fields: splitting, unfolding, decoding and conversion to tokens."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote_to_bytes

from suffice.text.mail.charsets import decode_text
from suffice.text.mail.faults import MailFaults
from suffice.text.mail.mbox import BYTE_ORDER_MARK, starts_as_mbox
from suffice.text.mail.transfer import decode_base64

__all__ = [
    "Fields",
    "decode_field",
    "decode_words",
    "header_tokens",
    "parameters",
    "split_fields",
    "starts_as_mail",
    "words_of",
]

Fields = list[tuple[str, bytes]]
"""Lower-case name and folded value of each field, in order."""

MAX_HEADER_BYTES = 262_144
USUAL = {"date", "from", "message-id", "mime-version", "return-path", "subject", "to"}
FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:")
BLANK_LINE = re.compile(rb"\n\r?\n")
TYPE = re.compile(r"\s*([\w.+-]+/[\w.+-]+|[\w.+-]*)")
PARAMETER = re.compile(r'[;\s]([\w*.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*+)(?:"|$)|([^\s;"]*))', re.DOTALL)
ENCODED_WORD = re.compile(r"=\?([^?\s]{1,100})\?([bBqQ])\?")
NAME_OR_WORD = re.compile(r"\w+(?:[.-]\w+)*")


def starts_as_mail(head: bytes) -> bool:
    r"""Whether a file begins as one mail or an mbox.

    A mail begins with header fields, at least one of them usual, and a blank line; without a body, two fields must be
    usual. Only fields of the transport repeat.

    >>> starts_as_mail(b"Subject: lunch\n\nAt noon?"), starts_as_mail(b"Subject: lunch\nSubject: dinner\n\n")
    (True, False)
    >>> starts_as_mail(b"Subject: lunch\nFrom: a@example.com\n"), starts_as_mail(b"Subject: lunch\n")
    (True, False)
    """
    head = head.removeprefix(BYTE_ORDER_MARK)
    if starts_as_mbox(head):
        return True
    blank = BLANK_LINE.search(head)
    fields, rest = split_fields(head if blank is None else head[: blank.end()], MailFaults())
    usual = [name for name, _ in fields if name in USUAL]
    return not rest and len(usual) == len(set(usual)) and len(usual) >= (2 if blank is None else 1)


def split_fields(data: bytes, faults: MailFaults) -> tuple[Fields, bytes]:
    r"""Split a message or part into its header fields and its body.

    The header ends at a blank line, or before the first line that is not a field; that line belongs to the body.

    >>> split_fields(b"Subject: two\n  lines\n\nbody", MailFaults())
    ([('subject', b' two\n  lines\n')], b'body')
    """
    fields: list[tuple[str, list[bytes]]] = []
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = data[at : min(end, MAX_HEADER_BYTES)]
        if line in (b"\n", b"\r\n"):
            at = end
            break
        if fields and line[:1] in (b" ", b"\t"):
            fields[-1][1].append(line)
        elif field := FIELD.match(line):
            fields.append((field[1].decode("ascii").lower(), [line[field.end() :]]))
        elif line.startswith((b"From ", b">From ")) and (fields or at == 0):
            pass  # the separator line of an mbox, quoted or not
        else:
            if fields:
                faults.note("its header ends without a blank line")
            break
        at = end
        if at >= MAX_HEADER_BYTES:
            faults.note(f"its header is longer than {MAX_HEADER_BYTES:,} bytes; the rest is ignored")
            blank = BLANK_LINE.search(data, at - 1)
            at = blank.end() if blank else len(data)
            break
    return [(name, b"".join(lines)) for name, lines in fields], data[at:]


def decode_field(value: bytes, faults: MailFaults) -> str:
    """A header value as one line of text, with encoded words decoded."""
    return " ".join(decode_words(decode_text(value, None, faults), faults).split())


def decode_words(value: str, faults: MailFaults) -> str:
    """Decode the encoded words (RFC 2047) of a value.

    Adjacent words are joined before they are decoded, since writers split them within a character.

    >>> decode_words("=?utf-8?q?na=C3?= =?utf-8?b?r3Zl?= Bayes", MailFaults())
    'naïve Bayes'
    """
    pieces: list[str] = []
    for text, charset in _runs(value, faults):
        pieces.append(text if isinstance(text, str) else decode_text(text, charset, faults))
    return "".join(pieces)


def _runs(value: str, faults: MailFaults) -> Iterator[tuple[str | bytes, str | None]]:
    """Text between encoded words, and the joined bytes of adjacent words with the same charset."""
    run: list[bytes] = []
    charset, at = None, 0
    # Each search starts where the last word ended, and stops at a word without an end, so the time is linear.
    while word := ENCODED_WORD.search(value, at):
        end = value.find("?=", word.end())
        if end < 0:
            faults.note("an encoded word in its header has no end")
            break
        between = value[at : word.start()]
        # RFC 2231 lets a language follow the charset.
        named = word[1].partition("*")[0].lower()
        if run and (between.strip() or named != charset):
            yield b"".join(run), charset
            run = []
        if between.strip() or at == 0:
            yield between, None
        content = value[word.end() : end].encode("utf-8", "replace")
        base64 = word[2] in "bB"
        run.append(decode_base64(content, faults) if base64 else binascii.a2b_qp(content, header=True))
        charset, at = named, end + 2
    if run:
        yield b"".join(run), charset
    yield value[at:], None


def parameters(value: bytes) -> tuple[str, dict[str, str]]:
    """The first word and the parameters of a Content-Type or Content-Disposition. Lenient, and in linear time.

    Bytes are decoded as Latin-1, so that a boundary can be encoded again without loss.

    >>> parameters(b' Text/HTML; charset="utf-8"; boundary=a=b')
    ('text/html', {'charset': 'utf-8', 'boundary': 'a=b'})
    >>> parameters(b"attachment; filename*0*=utf-8''na%C3; filename*1*=%AFve")[1]["filename"].encode("latin-1").decode()
    'naïve'
    """
    text = value[:20_000].decode("latin-1")
    first = TYPE.match(text)
    values: dict[str, str] = {}
    for each in PARAMETER.finditer(text, first.end() if first else 0):
        name, star, number = each[1].lower().partition("*")
        content = each[3] if each[2] is None else re.sub(r"\\(.)", r"\1", each[2])
        if not star:
            values.setdefault(name, content)
            continue
        if not number or number.endswith("*"):
            content = unquote_to_bytes(content if name in values else content.rpartition("'")[2]).decode("latin-1")
        values[name] = values.get(name, "") + content
    return (first[1].lower() if first else ""), values


def words_of(value: str) -> Iterator[str]:
    """Words and dotted names of a value, lower-case and joined by ``_``, so that any tokeniser keeps each as one word.

    >>> list(words_of("Alice B <alice@mail.example.com>"))
    ['alice', 'b', 'alice', 'mail_example_com']
    """
    for each in NAME_OR_WORD.findall(value.lower()):
        yield each.replace(".", "_").replace("-", "_")


def header_tokens(fields: Fields, names: Sequence[str], faults: MailFaults) -> Iterator[str]:
    """A token for each word of the named fields, prefixed with the name of its field.

    >>> fields = [("from", b"<a@example.com>"), ("x-mailer", b"Bulk 2.0")]
    >>> list(header_tokens(fields, ["from", "x-mailer"], MailFaults()))
    ['from_a', 'from_example_com', 'x_mailer_bulk', 'x_mailer_2_0']
    """
    wanted = {name: "_".join(re.findall(r"\w+", name)) for name in names}
    for name, value in fields:
        if prefix := wanted.get(name):
            if name == "content-type":  # its boundary differs in every message
                kind, given = parameters(value)
                text = " ".join([kind, *(f"{key} {given[key]}" for key in ("charset", "format") if key in given)])
            else:
                text = decode_field(value, faults)
            for word in words_of(text):
                yield f"{prefix}_{word}"
