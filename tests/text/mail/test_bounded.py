"""Messages crafted to keep a reader busy: the time stays proportional to the size."""

import time

import pytest

from suffice.text.mail import read_mail

SIZE = 400_000
SECONDS = 2.0
HTML = b"Content-Type: text/html\n\n"
MULTIPART = b"Content-Type: multipart/mixed; boundary=b\n\n"
BASE64 = b"Content-Transfer-Encoding: base64\n\n"


def nested(depth):
    return b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(depth))


REPEATED = {
    "blank lines in nested parts": (nested(19), b"\n"),
    "parts in parts": (b"", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"),
    "mails in mails": (b"", b"Content-Type: message/rfc822\n\n"),
    "fields": (b"", b"To:\n"),
    "folded lines": (b"Subject: s\n", b" \n"),
    "quotes in a field": (b"Content-Type: text/plain; ", b'a=";'),
    "encoded words that never end": (b"Subject: ", b"=?a?b?"),
    "encoded words": (b"Subject: ", b"=?a?b?QQ?="),
    "words of a subject": (b"Subject: ", b"a "),
    "boundaries": (MULTIPART, b"--b\n"),
    "nearly boundaries": (MULTIPART, b"--bb\n"),
    "boundaries to guess": (b"Content-Type: multipart/mixed\n\n", b"--b" + b" " * 150 + b"\n"),
    "base64 padding": (BASE64, b"QQ=="),
    "no base64": (BASE64, b"Q!\n"),
    "quoted-printable": (b"Content-Transfer-Encoding: quoted-printable\n\n", b"= "),
    "uuencode begins": (b"To: a\n\n", b"begin 644 a\nM12\n"),
    "a line": (b"To: a\n\n", b"x"),
    "NUL": (b"To: a\n\n", b"\0"),
}
for charset in ("utf-7", "utf-16", "iso-2022-jp", "hz", "gb2312", "big5", "idna", "punycode", "utf-8", "cp037"):
    for piece in (b"\xff", b"+2AA-", b"\x1b$B", b"\x80a\xc3"):
        header = f"Content-Type: text/plain; charset={charset}\n\n".encode()
        REPEATED[f"{charset} {piece!r}"] = (header, piece)
for piece in (
    "<!--", "<![", "<a ", "<a \"'", "<?", "</a ", "<", "<a href=", '<a href="', "<a href='\"", '<a "=', "&#0", "&#1",
    "&#x1", "&a", "&", "<script>", "<style", "</script", "<a href=//a.b>", "<p/", "<a\n= ", "<img src=a alt=b>",
    "<a x=\"\" \"", "<!-->", "<!---", "<meta ", "<meta charset", "<a href=//@@@", '="', "<b a", "<b a='1' ", "<b a=1 '",
):  # fmt: skip
    REPEATED[f"html {piece!r}"] = (HTML, piece.encode())


@pytest.mark.parametrize("name", REPEATED)
def test_repeated(name):
    start, unit = REPEATED[name]
    data = start + unit * (SIZE // len(unit))
    before = time.process_time()
    mail = read_mail(data, headers=True)
    assert time.process_time() - before < SECONDS
    assert len(mail.text) < 20 * SIZE
    mail.text.encode()
