"""Damaged messages: no crash, no hang, and a result that a classifier can use.

``SUFFICE_FUZZ_MAILS=10000`` reads more of them, ``SUFFICE_FUZZ_SEED`` others.
"""

import io
import os
import time

import pytest

from suffice.text.mail import read_mail
from suffice.text.mail.boxes import parse_mail
from suffice.text.mail.mbox import split_mbox
from suffice.text.mail.rules import Rules
from text.mail.mutations import mutated_mails

COUNT = int(os.environ.get("SUFFICE_FUZZ_MAILS", "2000"))
SEED = os.environ.get("SUFFICE_FUZZ_SEED", "0")
SECONDS = 1.0


def check(mail, size):
    mail.text.encode()
    mail.subject.encode()
    assert len(mail.text) < 20 * size + 1000
    assert all(isinstance(fault, str) and len(fault) < 200 and fault.isprintable() for fault in mail.faults)
    assert len(mail.faults) <= 20


def test_mutated_mails(capsys):
    slowest, total, faulty = (0.0, []), 0.0, 0
    for kinds, data in mutated_mails(COUNT, SEED):
        before = time.process_time()
        mail = read_mail(data, headers=True)
        taken = time.process_time() - before
        check(mail, len(data))
        assert taken < SECONDS, f"{kinds} took {taken:.1f} s"
        slowest = max(slowest, (taken, kinds, len(data)))
        total += taken
        faulty += bool(mail.faults)
    with capsys.disabled():
        if COUNT > 2000:
            print(f"\n{COUNT} mails in {total:.1f} s, {faulty} with faults; the slowest took {slowest}")
    assert faulty > COUNT // 5


@pytest.mark.parametrize("settings", [{"alternatives": "all", "max_attachment_bytes": 10**6}, {"max_text_bytes": 100}])
def test_mutated_mails_read_otherwise(settings):
    for _, data in mutated_mails(COUNT // 10, SEED + "otherwise"):
        check(read_mail(data, **settings), len(data))


def test_mutated_boxes():
    for _, data in mutated_mails(COUNT // 10, SEED + "boxes"):
        box = b"From a Thu Aug 22 13:17:22 2002\n" + data
        messages = list(split_mbox(io.BytesIO(box), 100_000))
        assert 1 <= len(messages) <= 1 + box.count(b"From ")
        for message in messages:
            check(parse_mail(message, Rules()), len(message))
