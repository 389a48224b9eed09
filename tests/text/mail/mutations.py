"""Randomly damaged messages: common kinds of damage, and some attacks."""

import random
from functools import lru_cache

from text.mail.made import made_mail

NESTED = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"


def truncated(data, rng):
    return data[: rng.randrange(len(data) + 1)]


def flipped(data, rng):
    out = bytearray(data)
    for _ in range(rng.choice([1, 10, 100])):
        if out:
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def with_lines(data, rng):
    """Drop, repeat and reorder lines."""
    lines = data.splitlines(keepends=True)
    for _ in range(rng.randint(1, 10)):
        if lines:
            at = rng.randrange(len(lines))
            change = rng.randrange(3)
            if change == 0:
                del lines[at]
            elif change == 1:
                lines.insert(rng.randrange(len(lines)), lines[at])
            else:
                rng.shuffle(lines[at : at + 10])
                lines[at : at + 10] = reversed(lines[at : at + 10])
    return b"".join(lines)


def with_other_boundaries(data, rng):
    """Boundaries that are absent, doubled, empty, prefixes of each other, or all the same."""
    change = rng.randrange(5)
    if change == 0:
        return data.replace(b"boundary", rng.choice([b"bound", b"boundary*0", b"boundary=;x"]))
    if change == 1:
        return data.replace(b"--==", rng.choice([b"--", b"--=", b"\n--=="]))
    if change == 2:
        return data.replace(b"==--", rng.choice([b"==", b"==-", b"==--x"]))
    if change == 3:
        return b'Content-Type: multipart/mixed; boundary=""\n\n--\n' + data
    return NESTED * rng.randint(1, 60) + data + b"\n--b--\n" * rng.randint(0, 60)


def with_other_header(data, rng):
    fields = [
        b"Content-Type: " + rng.randbytes(20),
        b"Content-Type: multipart/alternative",
        b"Content-Type: message/rfc822",
        b"Content-Type: text/html; charset=" + rng.randbytes(5),
        b"Content-Transfer-Encoding: " + rng.choice([b"base64", b"x-uuencode", b"quoted-printable", b"", b"\xff"]),
        b"Subject: =?utf-8?b?" + rng.randbytes(10) + b"?= =?" + rng.randbytes(3) + b"?q?=zz?=",
        b"Content-Disposition: attachment; filename*0*=" + rng.randbytes(10),
        b"X" * rng.choice([10, 100_000]) + b": y",
        b" folded",
        b":",
        b"From nobody",
    ]
    return b"\n".join(rng.sample(fields, rng.randint(1, 4))) + rng.choice([b"\n", b"\r\n", b"\r", b"\n\n"]) + data


def with_other_charset(data, rng):
    lie = rng.choice(
        [b"utf-16", b"utf-7", b"hz", b"idna", b"punycode", b"zlib", b"undefined", b"cp037", b"utf-32", b"\0"]
    )
    for charset in (b"utf-8", b"iso-8859-1", b"koi8-r", b"shift_jis", b"gb18030"):
        data = data.replace(charset, lie)
    return data


def with_other_encoding(data, rng):
    data = data.replace(b"base64", b"\1").replace(b"quoted-printable", b"base64")
    return data.replace(b"\1", rng.choice([b"quoted-printable", b"x-uuencode", b"8bit"]))


def with_long_lines(data, rng):
    unit = rng.choice([b"x", b" ", b"=", b"<", b"&", b"\0", b"=?", b'"', b"\r", b"\n", b"--", b"\xff", b"a="])
    at = rng.randrange(len(data) + 1)
    return data[:at] + unit * rng.choice([100, 10_000, 200_000]) + data[at:]


def with_nul(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + b"\0" * rng.randint(1, 50) + data[at:]


@lru_cache
def whole_mail(number):
    """A message that others are derived from."""
    return made_mail(random.Random(number)).as_bytes()


def spliced(data, rng):
    other = whole_mail(rng.randrange(100))
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[rng.randrange(len(other)) :]


def random_bytes(data, rng):
    return rng.randbytes(rng.choice([0, 1, 10, 1000, 50_000]))


def random_grammar(data, rng):
    """Pieces of messages in random order."""
    pieces = [
        b"\n", b"\r\n", b"\n\n", b"--b", b"--b--", b"--b\n", b"Content-Type: ", b"multipart/mixed; boundary=b\n",
        b"text/html\n", b"=?utf-8?q?", b"?=", b"<a href=", b"<script>", b"-->", b"<!--", b"&#x", b";", b'"',
        b"Subject: ", b"message/rfc822\n\n", b"begin 644 a\n", b"end\n", b"Content-Transfer-Encoding: base64\n",
        b"QUJD", b"\xc3", b" ", b"From a Thu Aug 22 13:17:22 2002\n", b"charset=utf-7",
    ]  # fmt: skip
    return b"".join(rng.choices(pieces, k=rng.choice([10, 100, 3000])))


MUTATIONS = [
    truncated,
    flipped,
    with_lines,
    with_other_boundaries,
    with_other_header,
    with_other_charset,
    with_other_encoding,
    with_long_lines,
    with_nul,
    spliced,
    random_bytes,
    random_grammar,
]


def mutated_mails(count, seed):
    """Damaged messages, each with the names of its mutations. A message with a given number never changes."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        data = whole_mail(number % 100)
        chosen = [MUTATIONS[number % len(MUTATIONS)], *rng.choices(MUTATIONS, k=rng.choice([0, 0, 1, 3]))]
        for mutation in chosen:
            data = mutation(data, rng)
        yield [mutation.__name__ for mutation in chosen], data
