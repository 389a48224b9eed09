"""Driver of the readers: tables, mails, model files and windows with random changes."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import tempfile
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import suffice
from fuzz.law import Driver
from suffice.model_file.container import MODEL, FileKind, read_container, write_container
from suffice.monitoring.history_file import HISTORY, next_look
from suffice.monitoring.window_file import WINDOW, read_window, write_window
from suffice.sources.files import open_source
from suffice.text.mail import read_mail
from text.mail.mutations import mutated_mails

__all__ = ["FILES"]

PIECES = [
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xe9",
    b"{",
    b"}",
    b"\\ud800",
    b"1e999",
    b"9" * 30,
    b"NaN",
    b"[" * 50,
]
ENCODINGS = [
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-16",
    "utf-32",
    "latin-1",
    "cp1252",
    "punycode",
    "utf-7",
    "hz",
    "a\0b",
    "big5",
]
JUNK: list[Any] = [
    *[None, True, -1, 0, 2**80, 1.5, "", "x", [], [[]], {}, {"list": 3}, {"array": {}}, {"dict": [[[], 1]]}],
    *[{"float": "nan"}, {"dtype": "<f8"}, {"axis": 1}, {"family": ["gaussian", {"mix": "a"}]}, {"Moments": {}}],
    *[{"Levels": {"values": [[]]}}, {"ClassAxis": {"labels": 3}}, {"date": "x"}, {"tuple": []}, {"set": [1, "a"]}],
]


def changed(data: bytes, rng: random.Random) -> bytes:
    """The bytes with a few changes."""
    out = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 3, 20])):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            out[at : at + 1] = rng.randbytes(1)
        elif kind == 1:
            del out[at : at + rng.choice([1, 40])]
        elif kind == 2:
            out[at:at] = rng.choice(PIECES)
        elif kind == 3:
            out[at:at] = out[at : at + 50] * rng.choice([1, 30])
        else:
            out[at : at + rng.randrange(2)] = rng.choice(PIECES)
    return bytes(out)


@cache
def tables() -> dict[str, bytes]:
    """A small table in every format."""
    n = 40
    table = pa.table(
        {
            "age": pa.array([i if i % 7 else None for i in range(n)]),
            "size": [i / 4 for i in range(n)],
            "word": pa.array([f"word {i % 5}" for i in range(n)]).dictionary_encode(),
            "when": pa.array([i * 10**9 for i in range(n)], pa.timestamp("us")),
            "label": ["ab"[i % 2] for i in range(n)],
        }
    )
    rows = table.to_pylist()
    csv = "age,size,word,when,label\n" + "".join(
        f'{r["age"]},{r["size"]},"{r["word"]}",{r["when"]},{r["label"]}\n' for r in rows
    )
    made = {"csv": csv.encode(), "jsonl": "".join(json.dumps(r, default=str) + "\n" for r in rows).encode()}
    parquet, file, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pa.parquet.write_table(table, parquet, row_group_size=17)
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=11)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=11)
    return made | {"parquet": parquet.getvalue(), "arrow": file.getvalue(), "arrow stream": stream.getvalue()}


def read_table(rng: random.Random) -> object:
    """Read a damaged table, or fit a model to it."""
    kind = rng.choice(list(tables()))
    data = changed(tables()[kind], rng)
    options: dict[str, Any] = {"bad_rows": rng.choice(["error", "skip"]), "format": kind.split()[0]}
    if kind in ("csv", "jsonl"):
        options["encoding"] = rng.choice(ENCODINGS)
        if rng.random() < 0.1:
            data = rng.choice([b"x\n", b'"\n', b'1,"\n', b"{\n", b"\xff\n", b"\r", b",,\n", b"[]\n"]) * rng.choice(
                [10, 3000]
            )
    source = open_source(io.BytesIO(data), batch_rows=rng.choice([3, 1000]), **options)
    if rng.random() < 0.3:
        return suffice.fit(source, target="label", model="naive-bayes")
    for batch in source.batches():
        batch.rows.validate(full=True)
        batch.locations.of(0)
    return source.skipped


@cache
def models() -> list[tuple[Any, Any, dict[str, Any], dict[str, Any]]]:
    """Models with rows, and the content of their files."""
    rng = np.random.default_rng(0)
    x, y = np.abs(rng.normal(size=(30, 3)).round(1)), np.array(["a", "b", "c"] * 10)
    fitted: list[tuple[Any, Any]] = [
        (suffice.NaiveBayes().partial_fit(x, y, classes=["a", "b", "c", "d"]), x),
        (suffice.NaiveBayes().fit([[str(v) for v in row] for row in x], y), [[str(v) for v in x[0]]]),
        (suffice.GaussianDiscriminant("own").fit(x, y), x),
        (suffice.naive_bayes.MultinomialNB().fit(x, y), x),
        (suffice.AveragedDependence().fit(x, y), x),
        (suffice.NaiveBayes("histogram").fit(x, y), x),
        (suffice.TextNaiveBayes().fit([f"word{v}" for v in x[:, 0]], y), ["word1"]),
    ]
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for model, some in fitted:
            path = os.path.join(folder, "model")
            model.save(path)
            out.append((model, some, *read_container(path)))
    return out


def places(value: Any, trail: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [trail, *(each for key, inner in items for each in places(inner, (*trail, key)))]


def write_damaged(
    path: str, document: dict[str, Any], arrays: dict[str, Any], rng: random.Random, kind: FileKind = MODEL
) -> None:
    """Write a file with a changed value and a valid checksum, or one whose bytes are changed, too."""
    document, arrays = copy.deepcopy(document), dict(arrays)
    if rng.random() < 0.8:
        *trail, last = rng.choice([trail for trail in places(document) if trail])
        at = document
        for key in trail:
            at = at[key]
        at[last] = rng.choice(JUNK)
    else:
        name = rng.choice(list(arrays))
        array = arrays[name]
        arrays[name] = np.ascontiguousarray(rng.choice([array[:-1], array[None], np.zeros(3), -array.astype(float)]))
    write_container(path, document, arrays, kind)
    if rng.random() < 0.2:
        with open(path, "rb+") as file:
            data = changed(file.read(), rng)
            file.seek(0)
            file.write(data)


@cache
def windows() -> tuple[Any, Any, dict[str, tuple[dict[str, Any], dict[str, Any]]]]:
    """A model, a window of rows, and the content of the files of a window and of a history."""
    rng = np.random.default_rng(0)
    x = np.array([[str(v) for v in row] for row in rng.integers(0, 4, (30, 2))])
    model = suffice.fit(x, np.array(["a", "b"] * 15), model="naive-bayes")
    window = model.monitor().window(x, np.array(["a", "b", "c"] * 10))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "window")
        write_window(path, window)
        content = {"window": read_container(path, WINDOW)}
        path = os.path.join(folder, "history")
        for _ in range(3):
            next_look(path, model.monitor(), window)
        content["history"] = read_container(path, HISTORY)
    return model, window, content


def read_watched(rng: random.Random) -> object:
    """Read a damaged window or history, and compare it with the model."""
    model, window, content = windows()
    name = rng.choice(list(content))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        write_damaged(path, *content[name], rng, WINDOW if name == "window" else HISTORY)
        if name == "history":
            return next_look(path, model.monitor(), window).to_json()
        return model.monitor().check(read_window(path).merge(window)).to_json()


def load_model(rng: random.Random) -> object:
    """Load a damaged model file, or one with a valid checksum that Suffice did not write, and use the model."""
    model, rows, document, arrays = rng.choice(models())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        write_damaged(path, document, arrays, rng)
        found = suffice.load(path)
        how = rng.randrange(5)
        if how == 0:
            return found.merge(model)
        if how == 1:
            return model.merge(found)
        if how == 2:
            return found.partial_fit(rows, ["a"] * len(rows))
        if how == 3:
            return found.save(path)
        return found.predict_proba(rows)


def read_damaged_mail(rng: random.Random) -> object:
    """Read a damaged mail."""
    return [read_mail(data, headers=True) for _, data in mutated_mails(1, str(rng.random()))]


def call(rng: random.Random, _: np.random.Generator) -> object:
    """Read one file."""
    return rng.choice([read_table, read_table, load_model, read_watched, read_damaged_mail])(rng)


FILES = Driver("files", call)
