"""Requests to an application in the same thread, with headers exactly as given."""

import asyncio
import json
from dataclasses import dataclass


@dataclass
class Reply:
    """What an application sent."""

    status: int
    headers: list
    body: bytes

    def header(self, name):
        """The value of a header that is there at most once; None if it is not there."""
        found = [value.decode() for key, value in self.headers if key.lower() == name.encode()]
        assert len(found) < 2, f"{name} is there {len(found)} times"
        return found[0] if found else None

    @property
    def problem(self):
        """The problem document; asserts that it is one, with a sentence."""
        assert self.header("content-type") == "application/problem+json", self
        document = json.loads(self.body)
        assert document["status"] == self.status
        assert document["detail"].endswith((".", "?", ".)")), document
        return document


def ask(app, method, path, headers=(), body=b"", *, query="", host="localhost"):
    """The answer of an application; ``host`` None sends no Host header."""
    return asyncio.run(asked(app, method, path, headers, body, query=query, host=host))


async def asked(app, method, path, headers=(), body=b"", *, query="", host="localhost"):
    """The answer of an application, within an event loop."""
    sent = []
    named = [] if host is None else [(b"host", host.encode("latin-1"))]
    if body:
        named.append((b"content-length", str(len(body)).encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogateescape"),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [*named, *((name.lower().encode(), value.encode("latin-1")) for name, value in headers)],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8000),
    }
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        if not messages:
            await asyncio.Event().wait()  # the client stays
        return messages.pop()

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    start, *rest = sent
    assert start["type"] == "http.response.start"
    assert not rest[-1].get("more_body")
    return Reply(start["status"], start["headers"], b"".join(each.get("body", b"") for each in rest))
