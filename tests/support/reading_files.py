"""Read bytes as a file of a format would be read."""

import io

from suffice.sources.files.csv import peek_csv, read_csv
from suffice.sources.files.json_lines import peek_json_lines, read_json_lines
from suffice.sources.files.reader import ReadOptions, SkippedRows

READERS = {"csv": (peek_csv, read_csv), "jsonl": (peek_json_lines, read_json_lines)}


class Read:
    """All rows of a file: ``cells`` by column, ``locations`` of the rows, ``layout``, ``skipped`` and ``batches``."""

    def __init__(self, data, kind="csv", path=None, columns=None, head=None, layout=None, **options):
        peek, read = READERS[kind]
        path = path or f"data.{kind}"
        options = ReadOptions(**options)
        head_bytes = data if head is None else data[:head]
        self.layout = layout or peek(head_bytes, len(head_bytes) == len(data), path, options)
        self.skipped = SkippedRows(skip=options.bad_rows == "skip")
        names = self.layout.names if columns is None else columns
        self.batches = list(read(io.BytesIO(data), path, self.layout, names, options, self.skipped))
        self.cells = {name: [] for name in names}
        for batch in self.batches:
            assert batch.rows.column_names == list(names)
            assert len(batch) <= options.batch_rows
            assert all(column.num_chunks == 1 for column in batch.rows.columns)
            for name in names:
                self.cells[name] += batch.rows[name].to_pylist()
        self.n_rows = sum(len(batch) for batch in self.batches)

    @property
    def locations(self):
        return [str(batch.locations.of(row)) for batch in self.batches for row in range(len(batch))]
