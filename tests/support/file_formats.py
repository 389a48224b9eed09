"""A table written in every format that sources read, by writers of other libraries."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

__all__ = ["WRITERS", "mixed_table", "rows_of"]


def mixed_table(n_rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "size": rng.normal(size=n_rows).round(6),
            "count": rng.integers(-5, 9, n_rows),
            "kind": rng.choice(["red", "green", "blue, or so", 'a "quoted" one'], n_rows).tolist(),
            "member": (rng.random(n_rows) < 0.3).tolist(),
            "hole": [None if rng.random() < 0.2 else float(value) + 0.5 for value in range(n_rows)],
            "label": rng.choice(["bad", "good"], n_rows).tolist(),
        }
    )


def rows_of(source, columns=None, **options):
    """All rows of a source as Python objects."""
    return [row for batch in source.batches(columns, **options) for row in batch.rows.to_pylist()]


def _csv(table, path, delimiter=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows([["" if cell is None else cell for cell in row.values()] for row in table.to_pylist()])


def _tsv(table, path):
    _csv(table, path, "\t")


def _json_lines(table, path):
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()), encoding="utf-8")


def _parquet(table, path):
    pyarrow.parquet.write_table(table, path, row_group_size=300)


def _polars_parquet(table, path):
    pl.from_arrow(table).write_parquet(path)


def _feather(table, path):
    pyarrow.feather.write_feather(table, path, compression="lz4", chunksize=170)


def _arrow_file(table, path):
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def _arrow_stream(table, path):
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=77)


def _polars_arrow(table, path):
    pl.from_arrow(table).write_ipc(path)


WRITERS = {
    "data.csv": _csv,
    "data.tsv": _tsv,
    "data.jsonl": _json_lines,
    "data.parquet": _parquet,
    "polars.pq": _polars_parquet,
    "data.feather": _feather,
    "data.arrow": _arrow_file,
    "stream.arrows": _arrow_stream,
    "polars.ipc": _polars_arrow,
}
