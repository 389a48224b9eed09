"""Recognition of mails by their first bytes."""

import pytest

from suffice.text.mail.headers import starts_as_mail

BOM = b"\xef\xbb\xbf"
FROM = b"From a@example.com Thu Aug 22 13:17:22 2002\n"


@pytest.mark.parametrize(
    "head",
    [
        b"Subject: lunch\n\nAt noon?",
        b"Subject: lunch\r\n\r\nAt noon?",
        b"Received: a\nReceived: b\nSubject: lunch\n\n",
        BOM + b"Subject: lunch\n\nAt noon?",
        BOM + FROM + b"Subject: lunch\n\nAt noon?",
        FROM,
        b"Subject: lunch\nFrom: a@example.com",
        b"Subject: lunch\n at noon\nX-Spam: no\nDate: Thu, 22 Aug 2002\n",
        b"Subject: lunch\r\nFrom: a@example.com\r\n",
    ],
)
def test_mails(head):
    assert starts_as_mail(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        BOM,
        b"\n\n",
        b"lunch at noon?\n\nFrom: me",
        b"Subject: lunch",
        b"Subject: lunch\nX-Spam: no\n",
        b"Subject: lunch\nSubject: dinner\n",
        b"Subject: lunch\nSubject: dinner\n\n",
        b"Subject: lunch\nSubject: dinner\nFrom: me\n",
        b"Subject: lunch\nFrom: me\nAt noon?\n",
        b"Note: lunch\nTopic: noon\n\n",
        b"text,label\nSubject: a\nFrom: b\n",
    ],
)
def test_texts_that_are_not_mails(head):
    assert not starts_as_mail(head)
