"""Provisional readers of text."""

import pyarrow.json
import pyarrow.csv
from .reader import Layout
from .batch import Batch, RowNumbers


def peek_csv(head, whole, path, reading):
    import io

    t = pyarrow.csv.read_csv(
        io.BytesIO(head if whole else head[: head.rindex(b"\n") + 1]),
        parse_options=pyarrow.csv.ParseOptions(delimiter=reading.delimiter or ","),
    )
    return Layout(t.schema.names, dict(zip(t.schema.names, t.schema.types)))


def read_csv(file, path, layout, columns, reading, faults):
    first = 0
    for b in pyarrow.csv.open_csv(file, parse_options=pyarrow.csv.ParseOptions(delimiter=reading.delimiter or ",")):
        t = pyarrow.Table.from_batches([b]).select(list(columns))
        yield Batch(t, RowNumbers(path, first))
        first += len(t)


def peek_json_lines(head, whole, path, reading):
    import io

    t = pyarrow.json.read_json(io.BytesIO(head if whole else head[: head.rindex(b"\n") + 1]))
    return Layout(t.schema.names, dict(zip(t.schema.names, t.schema.types)))


def read_json_lines(file, path, layout, columns, reading, faults):
    import io

    t = pyarrow.json.read_json(io.BytesIO(file.read())).select(list(columns))
    yield Batch(t.combine_chunks(), RowNumbers(path, 0))
