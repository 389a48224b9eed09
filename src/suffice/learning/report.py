"""What a fit of a source has read, and how good its model is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from suffice.learning.scores import Scores

__all__ = ["FitReport"]


@dataclass(frozen=True)
class FitReport:
    """What a fit of a source has read, and how good the model is.

    Attributes
    ----------
    source : str
        What was read, in words.
    files : list of str
    n_rows, skipped : int
        Rows that were learned, and rows that were left out because they are bad.
    faults : list of str
        A sentence for each of the first of those.
    types : dict of str to str
        What each column was read as.
    seconds : float
    scores : Scores or None
        None where they were not asked for, or there are none (``why_no_scores`` says why).
    """

    source: str
    files: list[str]
    n_rows: int
    skipped: int
    faults: list[str]
    types: dict[str, str]
    seconds: float
    scores: Scores | None = None
    why_no_scores: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
