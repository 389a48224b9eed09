"""Columns of folder names such as ``year=2024``, as Hive and Spark partition files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from suffice.exceptions import InputError, listed
from suffice.sources.engine_types import ArrowTable, ArrowType
from suffice.sources.files.batch import written

__all__ = ["Partitions", "find_partitions"]

MISSING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Partitions:
    """Columns whose value is the same in all rows of a file.

    Attributes
    ----------
    values : list of dict
        Texts of each file by column; None for a missing value.
    types : dict of str to pyarrow.DataType
    """

    values: Sequence[Mapping[str, str | None]] = ()
    types: dict[str, ArrowType] = field(default_factory=dict)

    def add_to(self, rows: ArrowTable, file: int, columns: Sequence[str], as_written: Sequence[str] = ()) -> ArrowTable:
        """Rows of a file with their values: ``columns`` in order, and then the ``as_written`` columns."""
        import pyarrow as pa

        order = [(name, name) for name in columns] + [(name, written(name)) for name in as_written]
        for name, returned in order:
            if name in self.types:
                value = pa.scalar(self.values[file][name], pa.string()).cast(self.types[name])
                rows = rows.append_column(returned, pa.repeat(value, len(rows)))
        return rows.select([returned for _, returned in order])


def find_partitions(paths: Sequence[str], names: Sequence[str], requested: Mapping[str, str]) -> Partitions:
    """Find the columns in the folder names of files.

    Whole numbers are read as numbers if all values are, everything else as text.

    Parameters
    ----------
    paths : sequence of str
    names : sequence of str
        Columns that the files have themselves; they are not read from folder names.
    requested : mapping of str to str
        Types that the caller requests; "text" and "category" keep whole numbers as text.

    Examples
    --------
    >>> found = find_partitions(["data/year=2023/a.parquet", "data/year=2024/b.parquet"], ["size"], {})
    >>> found.types, [each["year"] for each in found.values]
    ({'year': DataType(int64)}, ['2023', '2024'])
    """
    import pyarrow as pa

    values = [_values(path) for path in paths]
    columns = [name for name in (values[0] if values else {}) if name not in names]
    for path, each in zip(paths, values, strict=True):
        if [name for name in each if name not in names] != columns:
            raise InputError(
                f"The folders of {path} name the columns {listed([*each]) or 'none'}; those of {paths[0]} name "
                f"{listed(columns) or 'none'}. Read files with the same columns.",
                file=path,
            )
    types = {}
    for name in columns:
        texts = [each[name] for each in values if each[name] is not None]
        whole = bool(texts) and all(text is not None and _is_whole(text) for text in texts)
        types[name] = pa.int64() if whole and requested.get(name) not in ("text", "category") else pa.string()
    return Partitions(values, types)


def _values(path: str) -> dict[str, str | None]:
    parts = [part.partition("=") for part in os.path.dirname(path).split(os.sep)]
    texts = {unquote(name): unquote(value) for name, equals, value in parts if equals and name}
    return {name: None if value == MISSING else value for name, value in texts.items()}


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0") and len(digits) < 19
