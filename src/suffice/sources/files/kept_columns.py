"""Columns of the data that are copied to predictions, as the data have them.

Cells of text files are texts: those of CSV as they are written, those of JSON lines as JSON, which a column is marked
with. Cells of typed files have their types. If CSV becomes a typed file, columns that the model reads as numbers, times
or yes/no have these types; other columns are texts, since a type that is inferred could change them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.sources.files import Source

__all__ = ["KeptColumns"]


class KeptColumns:
    """The kept columns of a source.

    Parameters
    ----------
    source : Source
    names : sequence of str
    read : sequence of str
        Columns that the model reads.
    typed : bool
        Whether the output has types.
    """

    def __init__(self, source: Source, names: Sequence[str], read: Sequence[str] = (), *, typed: bool = False) -> None:
        self.source, self.names = source, list(names)
        typed_columns = [name for name in read if source.types[name] not in ("text", "category")]
        self._typed = typed_columns if typed and source.written_as == "text" else []
        self.written = [name for name in self.names if name not in self._typed]

    def of(self, rows: pa.Table) -> pa.Table:
        """Kept columns of the rows of a batch, which was read with these ``written``."""
        from suffice.sources.files.batch import written

        columns = [written(name) if name in self.written else name for name in self.names]
        return self._marked(rows.select(columns).rename_columns(self.names))

    def of_no_rows(self) -> pa.Table:
        """Return a table without rows."""
        return self._marked(self.source.no_rows(self.names, written=self.written))

    def _marked(self, rows: pa.Table) -> pa.Table:
        import pyarrow as pa

        from suffice.sources.files.table_writing import JSON

        columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in rows.columns]
        mark = JSON if self.source.written_as == "json" else None
        fields = [pa.field(name, c.type, metadata=mark) for name, c in zip(self.names, columns, strict=True)]
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))
