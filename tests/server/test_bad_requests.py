"""Bad input of every kind, sent to `suffice serve` in a process of its own.

Each is a 4xx with a sentence, or a cut connection. The server stays alive, and nothing is left: no memory, threads or
files.
"""

import contextlib
import gzip
import io
import json
import os
import re
import resource
import socket
import struct
import time
import urllib.parse
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from raw_http import SECONDS, Client, head, post, request
from running_server import running_server, text_of
from suffice import TextNaiveBayes
from suffice.server.rows.bodies import MEDIA_TYPES

LIMITS = {"document": 200_000, "body": 2_000_000, "rows": 5_000, "cells": 8_000, "head-seconds": 1, "idle-seconds": 1}
CSV, NDJSON, ARROW, PARQUET = (MEDIA_TYPES[each] for each in ("csv", "jsonl", "arrow", "parquet"))
JSON, TEXT, MAIL = (MEDIA_TYPES[each] for each in ("json", "text", "mail"))
OK = {"x": 1.5, "color": "red"}


def row(**cells):
    return json.dumps({"rows": [OK | cells]}).encode()


def labelled(labels, **members):
    return json.dumps({"rows": [OK] * len(labels), "labels": labels} | members).encode()


def written(table, kind, **options):
    """A table as the bytes of a file."""
    file = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, file, **options)
    else:
        with pa.ipc.new_stream(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table)
    return file.getvalue()


def good_table(n=100):
    return pa.table({"x": np.linspace(1, 8, n), "color": pa.array(["red", "blue"] * (n // 2))})


STREAM, FILE = written(good_table(), "arrow"), written(good_table(), "parquet")
BOMB = gzip.compress(bytes(50_000_000))
MEMBERS = gzip.compress(b"") * 9_000


def broken(content, place, piece):
    return content[:place] + piece + content[place + len(piece) :]


def texts_beyond_their_data():
    """An Arrow stream whose last text ends beyond the data."""
    texts = pa.array(["x"] * 100)
    stream = written(pa.table({"x": np.ones(100), "color": texts}), "arrow")
    return stream.replace(struct.pack("<3i", 98, 99, 100), struct.pack("<3i", 98, 99, 2_000_000_000))


def unpacked_bomb():
    """A few kilobytes of Parquet that are a million rows."""
    return written(pa.table({"x": np.ones(1_000_000), "color": pa.array(["red"] * 1_000_000)}), "parquet")


def page_of_two_gigabytes():
    """A Parquet file whose first page claims to have two gigabytes."""
    size = FILE.index(b"\x15\x04\x15\xc0\x0c\x15") + 7  # within the number of compressed bytes
    return FILE[:size] + b"\xff\xff\xff\x7f" + FILE[size:]


# name: (path, Content-Type, body, statuses, words)
DOCUMENTS = {
    "not json": ("/predict", JSON, b"size=1", 400, "not JSON"),
    "empty": ("/predict", JSON, b"", (400, 411), ""),
    "cut off": ("/predict", JSON, b'{"rows": [{"x": 1', 400, "not JSON"),
    "two documents": ("/predict", JSON, row() + row(), 400, "not JSON"),
    "comment": ("/predict", JSON, b"// hello\n" + row(), 400, "not JSON"),
    "trailing comma": ("/predict", JSON, b'{"rows": [{"x": 1,}]}', 400, "not JSON"),
    "single quotes": ("/predict", JSON, b"{'rows': [{'x': 1}]}", 400, "not JSON"),
    "nan": ("/predict", JSON, b'{"rows": [{"x": NaN, "color": "red"}]}', 400, "NaN"),
    "infinity": ("/predict", JSON, b'{"rows": [{"x": -Infinity, "color": "red"}]}', 400, "Infinity"),
    "overflow": ("/predict", JSON, b'{"rows": [{"x": 1e999, "color": "red"}]}', (400, 422), "'x'"),
    "huge whole number": ("/predict", JSON, b'{"rows": [{"x": 1' + b"0" * 400 + b', "color": "red"}]}', (400, 422), ""),
    "many digits": ("/predict", JSON, b'{"rows": [{"x": ' + b"9" * 100_000 + b', "color": "red"}]}', 400, "digits"),
    "nested lists": ("/predict", JSON, b"[" * 90_000, 400, ""),
    "nested objects": ("/predict", JSON, b'{"rows":' * 20_000, 400, ""),
    "nested cell": ("/predict", JSON, row(x=[[[[[1]]]]]), 422, "'x'"),
    "object as cell": ("/predict", JSON, row(x={"a": 1}), 422, "'x'"),
    "duplicate keys": ("/predict", JSON, b'{"rows": [{"x": 1, "x": 2, "color": "red"}]}', 400, "more than once"),
    "duplicate members": ("/predict", JSON, b'{"rows": [], "rows": []}', 400, "more than once"),
    "invalid utf-8": ("/predict", JSON, b'{"rows": [{"x": 1, "color": "\xff\xfe"}]}', 400, "UTF-8"),
    "utf-16": ("/predict", JSON, row().decode().encode("utf-16"), 400, "UTF-8"),
    "half a character": ("/predict", JSON, b'{"rows": [{"x": 1, "color": "\\ud800"}]}', 400, "surrogate"),
    "control character": ("/predict", JSON, b'{"rows": [{"x": 1, "color": "a\x00b"}]}', 400, "not JSON"),
    "number": ("/predict", JSON, b"5", 400, "a number"),
    "text": ("/predict", JSON, b'"rows"', 400, "a text"),
    "null": ("/predict", JSON, b"null", 400, "null"),
    "rows as text": ("/predict", JSON, b'{"rows": "all"}', 400, '"rows"'),
    "unknown member": ("/predict", JSON, b'{"rows": [], "model": 1}', 400, "model"),
    "two forms": ("/predict", JSON, b'{"rows": [], "columns": {}}', 400, "columns"),
    "text for a number": ("/predict", JSON, row(x="much"), 422, "'x'"),
    "truth value for a number": ("/predict", JSON, row(x=True), 422, "'x'"),
    "unknown columns": ("/predict", JSON, b'{"rows": [{"wrong": 1}]}', 422, "wrong"),
    "second row": ("/predict", JSON, json.dumps({"rows": [OK, OK | {"x": "much"}]}).encode(), 422, "row 1"),
    "uneven columns": ("/predict", JSON, b'{"columns": {"x": [1, 2], "color": ["red"]}}', 422, "color"),
    "columns as rows": ("/predict", JSON, b'{"columns": [1, 2]}', 400, "columns"),
    "too many rows": ("/predict", JSON, b"[" + b"{}," * 5_000 + b"{}]", 413, "5,000"),
    "too many cells": ("/predict", JSON, json.dumps({"rows": [OK] * 4_500}).encode(), 413, "8,000"),
    "too large": ("/predict", JSON, b" " * 200_001, 413, "200,000"),
    "too many to explain": ("/explain", JSON, json.dumps({"rows": [OK] * 1_001}).encode(), 413, "1,000"),
    "unknown class": ("/explain?class=purple", JSON, row(), 422, "purple"),
    "the same class": ("/explain?class=a&against=a", JSON, row(), 422, "same class"),
    "unknown parameter": ("/predict?rows=5", JSON, row(), 400, "rows"),
    "repeated parameter": ("/explain?class=a&class=b", JSON, row(), 400, "twice"),
    # what to draw
    "no rows to draw": ("/sample", JSON, b"{}", 400, "rows"),
    "many rows to draw": ("/sample", JSON, b'{"rows": 100000000}', 413, "100,000"),
    "negative rows to draw": ("/sample", JSON, b'{"rows": -1}', 422, "whole number"),
    "half a row to draw": ("/sample", JSON, b'{"rows": 1.5}', 422, "whole number"),
    "true rows to draw": ("/sample", JSON, b'{"rows": true}', 422, "whole number"),
    "huge number of rows": ("/sample", JSON, b'{"rows": 1e400}', (400, 422), ""),
    "huge seed": ("/sample", JSON, b'{"rows": 1, "seed": 99999999999999999999}', 422, "seed"),
    "unknown class to draw": ("/sample", JSON, b'{"rows": 1, "class": "purple"}', 422, "purple"),
    "list as class": ("/sample", JSON, b'{"rows": 1, "class": ["a"]}', 422, "class"),
    "drawn as a list": ("/sample", JSON, b"[]", 400, "rows"),
    # rows to learn
    "no labels": ("/learn", JSON, row(), 400, "labels"),
    "unknown label": ("/learn", JSON, labelled(["purple"]), 422, "purple"),
    "label of another type": ("/learn", JSON, labelled([5]), 422, "5"),
    "missing label": ("/learn", JSON, labelled(["a", None]), 422, "label"),
    "list as label": ("/learn", JSON, labelled([["a"]]), 422, "label"),
    "too few labels": ("/learn", JSON, json.dumps({"rows": [OK, OK], "labels": ["a"]}).encode(), 422, "labels"),
    "negative weight": ("/learn", JSON, labelled(["a"], weights=[-1]), 422, "weight"),
    "text as weight": ("/learn", JSON, labelled(["a"], weights=["much"]), 422, "weights"),
    "huge weight": (
        "/learn",
        JSON,
        b'{"rows": [{"x": 1, "color": "red"}], "labels": ["a"], "weights": [1e999]}',
        (400, 422),
        "",
    ),
    "unlearned too much": ("/unlearn", JSON, labelled(["a"] * 900), 422, ""),
    "unlearned label": ("/unlearn", JSON, labelled(["purple"]), 422, "purple"),
    "prior of unknown classes": ("/prior", JSON, b'{"prior": {"a": 0.5, "purple": 0.5}}', 422, "purple"),
    "prior of one class": ("/prior", JSON, b'{"prior": {"a": 1}}', 422, "no probability"),
    "prior that is negative": ("/prior", JSON, b'{"prior": {"a": -1, "b": 2}}', 422, "from 0 to 1"),
    "prior of sum 3": ("/prior", JSON, b'{"prior": {"a": 1, "b": 1, "c": 1}}', 422, ""),
    "prior by name": ("/prior", JSON, b'{"prior": "best"}', 422, "uniform"),
    "no prior": ("/prior", JSON, b"{}", 422, "prior"),
    # types of bodies
    "no type": ("/predict", "", row(), 415, "Content-Type"),
    "unknown type": ("/predict", "application/xml", b"<rows/>", 415, "application/xml"),
    "form": ("/predict", "application/x-www-form-urlencoded", b"x=1", 415, "Content-Type"),
    "files of a form": ("/predict", "multipart/form-data; boundary=x", b"--x--", 415, "Content-Type"),
    "charset": ("/predict", "application/json; charset=utf-16", row(), 415, "UTF-8"),
    "text for columns": ("/predict", TEXT, b"some text", (415, 422), ""),
    "mail for columns": ("/predict", MAIL, b"Subject: x\r\n\r\nbody", (415, 422), ""),
    "long type": ("/predict", "x" * 5_000, row(), 415, "Content-Type"),
    # tables
    "empty csv": ("/predict", CSV, b"", (400, 411, 422), ""),
    "csv without columns": ("/predict", CSV, b"wrong\n1\n", 422, "x"),
    "csv of another width": ("/predict", CSV, b"x,color\n1,red\n1,red,more\n", (400, 422), ""),
    "csv that is not utf-8": ("/predict", CSV, b"x,color\n1,\xff\xfe\n", (400, 422), ""),
    "csv with nul": ("/predict", CSV, b"x,color\n1,\x00\n", (400, 422), ""),
    "csv with text": ("/predict", CSV, b"x,color\nmuch,red\n", 422, "'x'"),
    "csv with twice a column": ("/predict", CSV, b"x,x,color\n1,2,red\n", (400, 422), "x"),
    "open quote": ("/predict", CSV, b'x,color\n1,"red\n' + b"2,blue\n" * 1_000, (400, 422), ""),
    "many columns": ("/predict", CSV, b",".join(b"c%d" % i for i in range(100_000)) + b"\n", (400, 413, 422), ""),
    "csv of too many rows": ("/predict", CSV, b"x,color\n" + b"1,red\n" * 6_000, 413, "5,000"),
    "csv that is too large": ("/predict", CSV, b"x,color\n" + b"1,red\n" * 400_000, 413, ""),
    "ndjson": ("/predict", NDJSON, b'{"x": 1, "color": "red"}\n{"x": ', (400, 422), ""),
    "ndjson with text": ("/predict", NDJSON, b'{"x": "much", "color": "red"}\n', 422, "'x'"),
    "nested ndjson": ("/predict", NDJSON, b'{"x": ' + b"[" * 90_000 + b"\n", (400, 422), ""),
    "not arrow": ("/predict", ARROW, b"x,color\n1,red\n", 400, ""),
    "arrow that ends": ("/predict", ARROW, STREAM[: len(STREAM) // 2], (400, 422), ""),
    "arrow schema only": ("/predict", ARROW, STREAM[:200], (400, 422), ""),
    "arrow of a huge schema": ("/predict", ARROW, b"\xff\xff\xff\xff\xff\xff\xff\x7f" + STREAM, (400, 413), ""),
    "arrow of a negative length": ("/predict", ARROW, b"\xff\xff\xff\xff\x00\x00\x00\x80" + STREAM, (400, 413), ""),
    "arrow with bad offsets": ("/predict", ARROW, texts_beyond_their_data(), (400, 422), ""),
    "not parquet": ("/predict", PARQUET, b"x,color\n1,red\n", 400, ""),
    "parquet that ends": ("/predict", PARQUET, FILE[: len(FILE) // 2], 400, ""),
    "parquet without a head": ("/predict", PARQUET, FILE[100:], 400, ""),
    "parquet of a huge footer": ("/predict", PARQUET, FILE[:-8] + b"\xff\xff\xff\x7fPAR1", 400, ""),
    "parquet of many rows": ("/predict", PARQUET, unpacked_bomb(), 413, "5,000"),
    "parquet page of two gigabytes": ("/predict", PARQUET, page_of_two_gigabytes(), 400, "damaged"),
    "table without labels": ("/learn", CSV, b"x,color\n1,red\n", (400, 422), ""),
    "table with an unknown label": ("/learn?target=y", CSV, b"x,color,y\n1,red,purple\n", 422, "purple"),
    "table without the target": ("/learn?target=z", CSV, b"x,color,y\n1,red,a\n", (400, 422), "z"),
    # texts
    "rows for a text model": ("/models/words/predict", JSON, row(), 422, ""),
    "text that is not utf-8": ("/models/words/predict", TEXT, b"\xff\xfe\xfd", (400, 422), "UTF-8"),
    "text that is too large": ("/models/words/predict", TEXT, b"word " * 50_000, 413, "200,000"),
    "text without a label": ("/models/words/learn", TEXT, b"hello", 400, "label"),
    "text with an unknown label": ("/models/words/learn?label=purple", TEXT, b"hello", 422, "purple"),
    "texts that are too long to draw": ("/models/words/sample", JSON, b'{"rows": 100000, "length": 10000}', 413, ""),
}
COMPRESSED = {
    "bomb": ("/predict", JSON, BOMB, 413, "200,000"),
    "bomb as csv": ("/predict", CSV, BOMB, (400, 413, 422), ""),
    "bomb in a bomb": ("/predict", JSON, gzip.compress(BOMB), 400, ""),
    "many empty members": ("/predict", JSON, MEMBERS, (400, 413), ""),
    "many empty members as csv": ("/predict", CSV, MEMBERS, (400, 413, 422), ""),
    "not gzip": ("/predict", JSON, row(), 400, "gzip"),
    "gzip that ends": ("/predict", JSON, gzip.compress(row())[:-4], 400, "gzip"),
    "gzip of a wrong checksum": ("/predict", JSON, broken(gzip.compress(row()), -8, b"\x00\x00\x00\x00"), 400, "gzip"),
    "gzip and more": ("/predict", JSON, gzip.compress(row()) + b"more", 400, "gzip"),
    "zlib": ("/predict", JSON, zlib.compress(row()), 400, "gzip"),
    "csv that is not gzip": ("/predict", CSV, b"x,color\n1,red\n", 400, "gzip"),
}
HEADERS = {
    "unknown encoding": (post("/predict", row(), "Content-Encoding: br"), 415, "br"),
    "two encodings": (post("/predict", row(), "Content-Encoding: gzip, gzip"), 415, "gzip"),
    "not acceptable": (post("/predict", row(), "Accept: image/png"), 406, "image/png"),
    "nothing acceptable": (post("/predict", row(), "Accept: */*;q=0"), 406, ""),
    "page in tables": (post("/predict?keep=all", row()), 400, "tables"),
    "long idempotency key": (
        post("/learn", labelled(["a"]), "Idempotency-Key: " + "k" * 5_000),
        422,
        "255 bytes",
    ),
    "get of predict": (head("GET", "/predict"), 405, "POST"),
    "delete of a model": (head("DELETE", "/models/m"), 405, "DELETE"),
    "put of a model": (head("PUT", "/model", "Content-Length: 3") + b"abc", 405, "PUT"),
    "post of a report": (post("/report", b"{}"), 405, "GET"),
    "patch": (head("PATCH", "/prior"), 405, "PATCH"),
    "trace": (head("TRACE", "/"), 405, "TRACE"),
    "options": (head("OPTIONS", "/predict"), 405, "OPTIONS"),
    "unknown path": (head("GET", "/nothing"), 404, "/openapi.json"),
    "unknown model": (head("GET", "/models/none"), 404, "none"),
    "html in a name": (head("GET", "/models/%3Cscript%3E"), 404, ""),
    "no model named": (head("POST", "/model"), (404, 405), ""),
    "dots": (head("GET", "/assets/../../../etc/passwd"), 400, "'..'"),
    "encoded dots": (head("GET", "/assets/%2e%2e/%2e%2e/etc/passwd"), 400, "'..'"),
    "encoded slash": (head("GET", "/assets/..%2f..%2fetc%2fpasswd"), 400, "'..'"),
    "backslash": (head("GET", "/assets/..%5c..%5cetc"), 400, "backslash"),
    "two slashes": (head("GET", "//predict"), 400, "'//'"),
    "nul": (head("GET", "/models/m%00"), 400, "control characters"),
    "line break": (head("GET", "/models/m%0d%0aX:%20y"), 400, "control characters"),
    "path that is not utf-8": (head("GET", "/models/%ff%fe"), 400, "UTF-8"),
    "long path": (head("GET", "/" + "a/" * 4_000), 404, ""),
    "longer path": (head("GET", "/" + "a" * 9_000), 414, ""),
    "many parameters": (post("/predict?" + "a=1&" * 1_500, row()), 400, "parameter"),
    "other host": (head("GET", "/", host="evil.example"), 421, "evil.example"),
    "other origin": (post("/learn", labelled(["a"]), "Origin: https://evil.example"), 403, "other sites"),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400, "Host"),
    "unknown method": (b"BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method"),
    "not http": (b"\x16\x03\x01\x00\xf4\x01\x00\x00\xf0\x03\x03", 400, "HTTP/1.1"),
    "no length": (head("POST", "/predict", f"Content-Type: {JSON}"), (400, 411), ""),
    "negative length": (head("POST", "/predict", "Content-Length: -1"), 400, "Content-Length"),
    "length and chunks": (head("POST", "/predict", "Content-Length: 1", "Transfer-Encoding: chunked"), 400, ""),
    "length of a terabyte": (post("/predict", b"").replace(b"Length: 0", b"Length: 1099511627776"), 413, ""),
    "csv of a terabyte": (post("/predict", b"", content_type=CSV).replace(b": 0", b": 1099511627776"), 413, ""),
}


def posted(path, kind, body, *lines):
    """A request with a body, with or without a type."""
    content = post(path, body, *lines, content_type=kind)
    return content if kind else content.replace(b"Content-Type: \r\n", b"")


CASES = {
    **{name: (posted(*each[:3]), *each[3:]) for name, each in DOCUMENTS.items()},
    **{name: (posted(*each[:3], "Content-Encoding: gzip"), *each[3:]) for name, each in COMPRESSED.items()},
    **HEADERS,
}
OF_MODEL = re.compile(rb"^([A-Z]+) /(predict|explain|score|sample|learn|unlearn|prior|report|model)\b")


def made_models(folder):
    """A model of a number and levels, and one of texts."""
    colors = ["red", "red", "blue", "green", "blue", "green"] * 20
    table = pa.table({"x": np.linspace(1, 8, 120), "color": colors, "y": ["a", "a", "b", "b", "c", "c"] * 20})
    suffice.fit(table, "y", model="naive-bayes", validate=False).save(folder / "m.suffice")
    texts = pa.table({"text": ["buy cheap pills now", "see you at lunch"] * 20})
    TextNaiveBayes().fit(texts, ["spam", "ham"] * 20).save(folder / "words.suffice")


class Running:
    """A server, and what its process uses."""

    def __init__(self, address, process):
        self.port = urllib.parse.urlsplit(address).port
        self.process = process
        self.files, self.folder = 0, None  # open files when the server has nothing to do; of the model files

    def used(self):
        """Open files, threads, and megabytes of memory."""
        proc = f"/proc/{self.process.pid}"
        with open(f"{proc}/status") as file:
            status = dict(line.split(":", 1) for line in file)
        return len(os.listdir(f"{proc}/fd")), int(status["Threads"]), int(status["VmRSS"].split()[0]) / 1024

    def is_healthy(self):
        """Whether the server predicts correctly."""
        answer = request(self.port, post("/models/m/predict", row()))
        return answer.status == 200 and len(json.loads(answer.body)["predictions"]) == 1


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    made_models(folder)
    limits = [word for name, value in LIMITS.items() for word in ("--limit", f"{name}={value}")]
    with running_server(folder, "m.suffice", "words.suffice", "--learn", "--port", 0, *limits) as (address, process):
        running = Running(address, process)
        assert running.is_healthy()
        running.files, running.folder = running.used()[0], folder
        yield running


def sent(server, name):
    """The answer to a bad request."""
    content = CASES[name][0]
    if name != "no model named":
        content = OF_MODEL.sub(rb"\1 /models/m/\2", content)
    return request(server.port, content)


@pytest.mark.parametrize("name", CASES)
def test_bad_requests_are_told_what_is_wrong(server, name):
    statuses, words = CASES[name][1:]
    answer = sent(server, name)
    assert answer.status in (statuses if isinstance(statuses, tuple) else (statuses,)), answer
    detail = answer.problem["detail"]
    assert words in detail
    assert len(detail) < 1_000
    assert "Traceback" not in detail
    assert server.is_healthy()


def chunked(path, kind, piece):
    """A body in chunks, without an end."""
    start = head("POST", path, f"Content-Type: {kind}", "Transfer-Encoding: chunked")
    return start + b"%x\r\n%b\r\n" % (len(piece), piece)


UNFINISHED = {
    "silent": (b"", None),
    "part of a head": (b"POST /models/m/predict HTTP/1.1\r\nHost: loc", 408),
    "wrong length": (post("/models/m/predict", row())[:-1], 408),
    "wrong length of a table": (post("/models/m/predict", row(), content_type=CSV)[:-1], 408),
    "chunks without an end": (chunked("/models/m/learn", JSON, b"{"), 408),
    "table without an end": (chunked("/models/m/predict", CSV, b"x,"), 408),
    "more than the length": (post("/models/m/predict", row()) + b"{more", 200),
    "many requests": (head("GET", "/health") * 500, 200),
}


def test_unfinished_requests_are_cut(server):
    with contextlib.ExitStack() as opened:
        clients = {name: opened.enter_context(Client(server.port)) for name in UNFINISHED}
        for name, client in clients.items():
            client.send(UNFINISHED[name][0])
        for name, client in clients.items():
            found = []
            with contextlib.suppress(ConnectionResetError):
                while len(found) < 500:
                    found.append(client.answer())
            assert [each.status for each in found[:1]] == [each for each in UNFINISHED[name][1:] if each], name
            assert len(found) < 500
            if found and found[0].status == 408:
                assert found[0].problem["detail"]
    assert server.is_healthy()


@pytest.mark.parametrize("kind", [JSON, CSV, ARROW, PARQUET])
@pytest.mark.parametrize("path", ["/models/m/predict", "/models/m/learn"])
def test_half_closed_connections_are_told(server, kind, path):
    with Client(server.port) as client:
        answer = client.send(post(path, row(), content_type=kind)[:-5]).end().answer()
        assert answer.status == 400
        assert "ended before" in answer.problem["detail"]
    with Client(server.port) as client:
        assert client.send(post("/models/m/predict", row())).end().answer().status == 200
    assert server.is_healthy()


def test_what_was_refused_changed_nothing(server):
    found = json.loads(request(server.port, head("GET", "/models/m")).body)
    assert (found["version"], found["rows"]) == (0, 120)


def test_ten_thousand_silent_connections_do_not_stop_a_healthy_client(server):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 10_000 if hard == resource.RLIM_INFINITY else min(10_000, hard - 200)
    with contextlib.ExitStack() as opened:
        opened.enter_context(files_allowed(wanted + 200))
        for i in range(wanted):
            opened.enter_context(socket.create_connection(("127.0.0.1", server.port), SECONDS))
            if i % 1_000 == 0:
                assert server.is_healthy()
        assert server.used()[0] < 2_100
        assert server.is_healthy()


@contextlib.contextmanager
def files_allowed(n):
    """Raise the limit of open files for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(n, soft), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_full_disk_refuses_changes_and_nothing_else(server):
    """The limit of the size of files takes the place of a full disk: writing fails in the same way."""
    learned = post("/models/m/learn", labelled(["a"]))
    pid = server.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    try:
        for _ in range(3):
            answer = request(server.port, learned)
            assert answer.status == 507
            assert "disk" in answer.problem["detail"]
        assert server.is_healthy()
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    answer = request(server.port, learned)
    assert (answer.status, json.loads(answer.body)["sequence"]) == (200, 1)
    assert request(server.port, learned.replace(b"/learn", b"/unlearn")).status == 200


def test_a_model_file_may_be_replaced_or_damaged_while_it_is_served(server):
    before = request(server.port, head("GET", "/models/words/model"))
    path, asked = server.folder / "words.suffice", post("/models/words/predict", b"cheap pills", content_type=TEXT)
    first = request(server.port, asked)
    assert first.status == 200
    size = path.stat().st_size
    for damage in (lambda: path.write_bytes(bytes(size)), lambda: path.write_bytes(b""), path.unlink):
        damage()
        assert request(server.port, asked).body == first.body
        assert request(server.port, head("GET", "/models/words/model")).body == before.body
        assert request(server.port, head("GET", "/models/words/report")).status == 200
    assert server.is_healthy()


def test_nothing_is_left(server):
    """Files are closed, threads end, and memory does not grow."""
    small = [name for name in CASES if len(CASES[name][0]) < 10_000]

    def once(names):
        for name in names:
            sent(server, name)
            with Client(server.port) as client:
                client.send(CASES[name][0][:-3])

    def settled():
        """Threads and megabytes, when all connections have ended."""
        end = time.monotonic() + SECONDS
        while server.used()[0] > server.files:
            assert time.monotonic() < end, (server.files, server.used())
            time.sleep(0.05)
        return server.used()[1:]

    once(CASES)
    once(small)
    threads, memory = settled()
    for _ in range(5):
        once(small)
    after = settled()
    assert after[0] <= threads + 8  # of pools that grow up to their size
    assert after[1] < memory + 30  # megabytes, after 1,400 requests
    assert server.is_healthy()


def test_no_request_took_much_memory(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    assert peak < 700 * 1024


def test_the_server_has_not_stumbled(server):
    """No mistake of the server is in its log, and no value of a request."""
    log = text_of(server.process.stderr)
    assert "Traceback" not in log
    assert "Error" not in log
    assert "purple" not in log
