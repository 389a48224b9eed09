"""Rows from files of any format, streamed in batches of bounded memory.

PyArrow reads the files. It is imported when a source is opened; the extra ``files`` installs it.
"""

from suffice.sources.files.batch import Batch, RowLocation, RowLocations
from suffice.sources.files.cell_formats import CellFormat
from suffice.sources.files.opening import is_labelled_source, is_source, open_source
from suffice.sources.files.source import Source

__all__ = [
    "Batch",
    "CellFormat",
    "RowLocation",
    "RowLocations",
    "Source",
    "is_labelled_source",
    "is_source",
    "open_source",
]
