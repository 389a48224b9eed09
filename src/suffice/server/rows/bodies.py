"""Request bodies: what form they have, how large they may be, and their bytes."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterable, Mapping
from itertools import chain
from typing import Literal, get_args

from starlette.types import Receive

from suffice.exceptions import did_you_mean, short
from suffice.server.problems import Problem
from suffice.server.settings import Limits

__all__ = ["MEDIA_TYPES", "TABLES", "Form", "Gunzip", "answer_form", "body_form", "body_pieces", "read_whole"]

Form = Literal["json", "csv", "jsonl", "arrow", "parquet", "text", "mail"]
"""The form of a body: a JSON document, a table in one of the formats of files, or one text or mail."""

MEDIA_TYPES: dict[Form, str] = {
    "json": "application/json",
    "csv": "text/csv",
    "jsonl": "application/x-ndjson",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
    "text": "text/plain",
    "mail": "message/rfc822",
}
TABLES: tuple[Form, ...] = ("csv", "jsonl", "arrow", "parquet")
ANSWERS: tuple[Form, ...] = ("json", *TABLES)
SYNONYMS: dict[str, Form] = {
    "application/ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/x-jsonlines": "jsonl",
    "application/csv": "csv",
    "application/vnd.apache.arrow.file": "arrow",
    "application/x-parquet": "parquet",
    "text/json": "json",
}
FORMS: dict[str, Form] = {**{media: form for form, media in MEDIA_TYPES.items()}, **SYNONYMS}
GZIP = ("gzip", "x-gzip")
SMALL = 1 << 12  # compressed bytes that are decompressed at once, without a thread
PIECE = 1 << 20  # most bytes that are decompressed in one step
COMPRESSED = 1 << 16  # compressed bytes in one step: what is left of them is copied many times
MOST_MEMBERS = 10_000  # of a gzip body
Headers = Iterable[tuple[bytes, bytes]]


# ---------------------------------------------------------------------- forms


def body_form(headers: Headers, accepted: Iterable[Form] = get_args(Form)) -> Form:
    """The form of a body by its Content-Type; raises `Problem` 415 for a type that is not read.

    >>> body_form([(b"content-type", b"text/csv; charset=utf-8")])
    'csv'
    """
    given = header(headers, b"content-type")
    media, parameters = _media_type(given)
    form = FORMS.get(media)
    accepted = tuple(accepted)
    if form is None or form not in accepted:
        known = [MEDIA_TYPES[each] for each in accepted]
        problem = "The request has no Content-Type." if not media else f"Content-Type {short(media)} is not read here."
        raise Problem(
            415,
            f"{problem}{did_you_mean(media, known)} Send one of {', '.join(known)}.",
            {"Accept-Post": ", ".join(known)},
        )
    charset = parameters.get("charset", "utf-8").lower().replace("_", "-")
    if charset not in ("utf-8", "utf8", "us-ascii") and form not in ("arrow", "parquet", "mail"):
        raise Problem(415, f"The charset {short(charset)} is not read here. Send UTF-8.")
    return form


def answer_form(headers: Headers, given: Form, offered: Iterable[Form] = ANSWERS) -> Form:
    """The form of an answer by Accept; without a preference, that of the body if it can be, or JSON.

    Raises `Problem` 406 if none of the accepted types is offered.

    >>> answer_form([(b"accept", b"text/html, text/csv;q=0.8")], "json")
    'csv'
    >>> answer_form([(b"accept", b"*/*")], "arrow"), answer_form([], "mail")
    ('arrow', 'json')
    """
    forms = tuple(offered)
    own: Form = given if given in forms else "json"
    accept = header(headers, b"accept")
    if not accept or accept == "*/*":
        return own
    ranges = sorted(_ranges(accept), key=lambda each: (-each[1], each[0].count("*")))
    refused = {media for media, quality in ranges if quality <= 0}
    for media, quality in ranges:
        if quality <= 0:
            continue
        for form in (own, *forms):
            names = {MEDIA_TYPES[form], *(name for name, each in SYNONYMS.items() if each == form)}
            if not names & refused and (media in names or _is_range_of(media, MEDIA_TYPES[form])):
                return form
    raise Problem(
        406,
        f"Accept {short(accept)} has no type that is written here. "
        f"Accept one of {', '.join(MEDIA_TYPES[each] for each in forms)}.",
    )


def header(headers: Headers, name: bytes) -> str:
    """The value of a header; several are joined by commas, and none is empty."""
    return ", ".join(value.decode("latin-1") for key, value in headers if key == name)


def _media_type(value: str) -> tuple[str, Mapping[str, str]]:
    """A media type in lower case, and its parameters."""
    media, *rest = value.split(";")
    pairs = (each.partition("=") for each in rest)
    return media.strip().lower(), {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def _ranges(accept: str) -> list[tuple[str, float]]:
    """The media ranges of Accept, and their quality."""
    found = []
    for each in accept.split(",")[:50]:
        media, parameters = _media_type(each)
        try:
            quality = float(parameters.get("q", "1"))
        except ValueError:
            quality = 0.0
        if media:
            found.append((media, quality))
    return found


def _is_range_of(wanted: str, media: str) -> bool:
    return wanted in ("*/*", f"{media.partition('/')[0]}/*")


# ---------------------------------------------------------------------- bytes


async def body_pieces(headers: Headers, receive: Receive, most: int) -> AsyncIterator[bytes]:
    """The bytes of a body as they arrive; raises `Problem` 413 after ``most`` of them.

    A body that ends early, because the client has closed the connection, is a `Problem`.
    """
    headers = list(headers)
    length = header(headers, b"content-length")
    if length.isdigit() and int(length) > most:
        raise too_large(most)
    seen = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "The connection was closed before the body was complete.")
        piece = message.get("body", b"")
        seen += len(piece)
        if seen > most:
            raise too_large(most)
        if piece:
            yield piece
        if not message.get("more_body", False):
            return


def too_large(most: int) -> Problem:
    """The problem of a body of too many bytes."""
    return Problem(
        413,
        f"The body has more than {most:,} bytes, the limit of this server for requests of this kind. Send fewer rows "
        "at a time; rows to predict may also be CSV, NDJSON, an Arrow stream or Parquet, which are read as they "
        "arrive.",
        limit=most,
    )


async def read_whole(headers: Headers, receive: Receive, limits: Limits) -> bytes:
    """A whole body, decompressed, of at most ``limits.document`` bytes."""
    headers = list(headers)
    zipped, most = is_gzip(headers), limits.document
    pieces = [piece async for piece in body_pieces(headers, receive, most)]
    body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    if not zipped:
        return body
    return gunzipped(body, most) if len(body) <= SMALL else await asyncio.to_thread(gunzipped, body, most)


def is_gzip(headers: Headers) -> bool:
    """Whether a body is compressed with gzip; raises `Problem` 415 for any other encoding."""
    encodings = [each.strip().lower() for each in header(headers, b"content-encoding").split(",") if each.strip()]
    coded = [each for each in encodings if each != "identity"]
    if not coded:
        return False
    if len(coded) > 1 or coded[0] not in GZIP:
        raise Problem(
            415,
            f"Content-Encoding {short(', '.join(coded))} is not read here. Send the body with gzip, or as it is.",
            {"Accept-Encoding": "gzip"},
        )
    return True


def gunzipped(body: bytes, most: int) -> bytes:
    """A body without gzip; raises `Problem` 413 after ``most`` bytes, before more memory is used."""
    gunzip = Gunzip(most)
    pieces = [body[start : start + COMPRESSED] for start in range(0, len(body), COMPRESSED)]
    return b"".join([*chain.from_iterable(map(gunzip.decompressed, pieces)), *gunzip.ended()])


class Gunzip:
    """Decompresses a gzip body piece by piece, up to ``most`` bytes in total."""

    def __init__(self, most: int) -> None:
        self._most, self._seen = most, 0
        self._member = zlib.decompressobj(wbits=31)
        self._began, self._members = False, 1

    def decompressed(self, piece: bytes) -> Iterable[bytes]:
        """The bytes that a piece holds, at most a megabyte at a time."""
        while piece:
            if self._member.eof:  # another member follows
                self._member = zlib.decompressobj(wbits=31)
                self._members += 1
                if self._members > MOST_MEMBERS:
                    raise Problem(400, f"The gzip body has more than {MOST_MEMBERS:,} members. Compress it as one.")
            self._began = True
            try:
                out = self._member.decompress(piece, PIECE)
            except zlib.error as error:
                raise Problem(400, f"The body is not valid gzip ({error}).") from None
            self._seen += len(out)
            if self._seen > self._most:
                raise too_large(self._most)
            if out:
                yield out
            piece = self._member.unused_data if self._member.eof else self._member.unconsumed_tail

    def ended(self) -> Iterable[bytes]:
        """The last bytes; raises `Problem` 400 if the body is cut off."""
        if not self._began:
            return
        if not self._member.eof:
            out = self._member.flush()
            self._seen += len(out)
            if self._seen > self._most:
                raise too_large(self._most)
            if out:
                yield out
            if not self._member.eof:
                raise Problem(400, "The body is not valid gzip: it ends before its last byte.")
