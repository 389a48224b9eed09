"""Rows from files of any kind, streamed in batches of bounded memory.

PyArrow is the engine, and is imported when a source is opened: the extra ``files`` brings it.
"""

from suffice.sources.files.batch import Batch, Places
from suffice.sources.files.opening import Source, is_labelled_source, is_source, open_source

__all__ = ["Batch", "Places", "Source", "is_labelled_source", "is_source", "open_source"]
