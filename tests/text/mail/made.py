"""Messages written by Python's email package, with every feature of a well-formed message."""

import email
import email.header
import email.policy
from email.message import EmailMessage

from suffice.text.mail.markup import html_to_text

SENTENCES = [
    "Dear friend, the lottery is yours.",
    "Größe und Straße, naïve Bayes.",
    "Привет, это письмо.",
    "会議は明日です。",
    "Price: 100 € = cheap; a < b & c > d",
    ".\n..\nFrom here on\n>From there\n-- \nAlice",
    "x" * 500,
    "one\ttwo  three \n\n\nfour",
]
CHARSETS = ["utf-8", "iso-8859-1", "koi8-r", "shift_jis", "euc-jp", "windows-1252", "gb18030", "iso-2022-jp"]


def text_part(rng, html=False):
    """A message of one text, in a charset that can encode it and any transfer encoding."""
    text = "\n".join(rng.sample(SENTENCES, rng.randint(1, 4)))
    if html:
        text = f"<html><body><p>{text.replace('&', '&amp;').replace('<', '&lt;')}</p></body></html>"
    charset = rng.choice([each for each in CHARSETS if can_say(text, each)])
    part = EmailMessage()
    cte = rng.choice(["base64", "quoted-printable"])
    part.set_content(text, subtype="html" if html else "plain", charset=charset, cte=cte)
    return part


def can_say(text, charset):
    try:
        return text.encode(charset).decode(charset) == text
    except UnicodeEncodeError:
        return False


def made_mail(rng):
    """A random message: texts, alternatives, attachments, nested messages."""
    message = text_part(rng, html=rng.random() < 0.3)
    if rng.random() < 0.5:
        message = text_part(rng)
        message.add_alternative(f"<p>{rng.choice(SENTENCES[:4])} <a href='http://a.example/'>x</a></p>", subtype="html")
    for _ in range(rng.choice([0, 0, 1, 3])):
        kind = rng.choice(["file", "image", "text", "mail"])
        if kind == "file":
            message.add_attachment(
                rng.randbytes(300), maintype="application", subtype="pdf", filename="naïve paper.pdf"
            )
        elif kind == "image":
            message.add_attachment(rng.randbytes(300), maintype="image", subtype="png", disposition="inline")
        elif kind == "text":
            message.add_attachment("attached", filename="note.txt")
        else:
            inner = text_part(rng)
            inner["Subject"] = "inner " + rng.choice(["mail", "größer", "会議は明日です"])
            inner["Date"] = "Thu, 22 Aug 2002 12:36:23 +0700"
            message.add_attachment(inner)
    message["Subject"] = rng.choice(["hello", "naïve Größe und Straße " * 5, "会議は明日です。" * 10, "a  b"])
    message["From"] = "Alice <alice@mail.example.com>"
    return message


def as_email_reads(data):
    """Subject and texts of a message, with all alternatives, read by Python's email package."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    return "\n".join(filter(None, pieces(message)))


def pieces(message):
    yield " ".join(str(message["subject"] or "").split())
    for part in leaves(message):
        if isinstance(part, str):
            yield part
        elif part.get_content_type() == "text/html":
            yield html_to_text(part.get_content()).strip()
        else:
            yield part.get_content().strip()


def leaves(message):
    """The parts that are read, and the subjects of nested messages."""
    if message.get_content_type() == "message/rfc822":
        inner = message.get_payload(0)
        yield " ".join(str(inner["subject"]).split())
        yield from leaves(inner)
    elif message.is_multipart():
        for part in message.iter_parts():
            yield from leaves(part)
    elif message.get_content_maintype() == "text" and message.get_content_disposition() != "attachment":
        yield message
