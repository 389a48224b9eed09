"""Well-formed messages are read as by Python's email package."""

import random
from email import policy
from email.header import decode_header, make_header

import pytest

from suffice.text.mail import read_mail
from suffice.text.mail.faults import MailFaults
from suffice.text.mail.headers import decode_words, parameters
from text.mail.made import SENTENCES, as_email_reads, made_mail


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_made_mails(line_end):
    rng = random.Random(6)
    attached = 0
    for _ in range(300):
        message = made_mail(rng)
        data = message.as_bytes(policy=policy.default.clone(linesep=line_end))
        mail = read_mail(data, alternatives="all")
        assert mail.text.replace("\r\n", "\n") == as_email_reads(data).replace("\r\n", "\n")
        assert mail.faults == ()
        read = [part for part in message.walk() if part.get_content_disposition() == "attachment"]
        attached += sum(part.get_content_type() != "message/rfc822" for part in read)
        assert len(mail.skipped) >= sum(part.get_content_type() == "application/pdf" for part in read)
    assert attached > 50


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "koi8-r", "iso-2022-jp", "shift_jis"])
def test_encoded_words(charset):
    from email.header import Header

    for text in [*SENTENCES, "ab " * 50]:
        text = " ".join(text.split())
        try:
            text.encode(charset)
        except UnicodeEncodeError:
            continue
        encoded = Header(text, charset, maxlinelen=60).encode()
        faults = MailFaults()
        assert decode_words(encoded, faults) == text == str(make_header(decode_header(encoded)))
        assert faults.sentences() == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?q?a?=", "a"),
        ("=?utf-8?q?a?= b", "a b"),
        ("x =?utf-8?q?a?= =?utf-8?q?b?= y", "x ab y"),
        ("=?utf-8?q?a?= =?iso-8859-1?q?=E9?=", "aé"),
        ("=?utf-8?q?a_=5F?=", "a _"),
        ("=?utf-8*en?Q?a?=", "a"),
        ("=?utf-8?q?really??=", "really?"),
        ("=?utf-8?q??= x", " x"),
        ("=?utf-8?x?a?=", "=?utf-8?x?a?="),
        ("=?utf-8?q?never ends", "=?utf-8?q?never ends"),
        ("=?no-such?q?a?=", "a"),
        ("=?utf-8?b?YQ?=", "a"),
        ("=?utf-8?b?!?=", ""),
        ("=?=?=?", "=?=?=?"),
    ],
)
def test_encoded_words_by_hand(value, text):
    assert decode_words(value, MailFaults()) == text


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        (b"text/plain", "text/plain", {}),
        (b" TEXT/Plain ; Charset = UTF-8", "text/plain", {"charset": "UTF-8"}),
        (b"text/plain charset=utf-8", "text/plain", {"charset": "utf-8"}),
        (b'multipart/mixed;\n\tboundary="a b;c=d"', "multipart/mixed", {"boundary": "a b;c=d"}),
        (b'a/b; name="x\\"y"; q=1', "a/b", {"name": 'x"y', "q": "1"}),
        (b'a/b; name="never ends; q=1', "a/b", {"name": "never ends; q=1"}),
        (b"a/b; boundary=----=_Part_1", "a/b", {"boundary": "----=_Part_1"}),
        (b"a/b; boundary*0=one; boundary*1=two", "a/b", {"boundary": "onetwo"}),
        (b"attachment; filename*=utf-8'en'a%20b", "attachment", {"filename": "a b"}),
        (b"a/b; q=1; q=2", "a/b", {"q": "1"}),
        (b"", "", {}),
        (b";;=;", "", {}),
    ],
)
def test_parameters(value, kind, found):
    assert parameters(value) == (kind, found)
