"""Learning from a source: rows that come in batches, of which each is read once.

`Streaming` is what estimators mix in. `labels` turns a column into classes, `batches` reads a batch and drops its bad
rows, `passes` sums all of them, and `kept_rows` keeps a uniform sample for what is judged by rows that are left out.
"""

from suffice.streaming.estimators import Streaming
from suffice.streaming.kept_rows import MOST_ROWS, KeptRows
from suffice.streaming.report import FitReport

__all__ = ["MOST_ROWS", "FitReport", "KeptRows", "Streaming"]
