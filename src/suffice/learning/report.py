"""`FitReport`: what a fit of a source has read, and the scores of its model."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.learning.scores import Scores

__all__ = ["FitReport"]


@dataclass(frozen=True)
class FitReport:
    """What a fit of a source has read, and the scores of the model.

    Attributes
    ----------
    source : str
        Description of the source.
    files : list of str
    n_rows, skipped : int
        Number of rows learned, and of bad rows skipped.
    faults : list of str
        One sentence for each of the first problems with skipped rows.
    types : dict of str to str
        The type that each column was read as.
    seconds : float
    scores : Scores or None
        None if scores were not requested or could not be computed; ``why_no_scores`` gives the reason.
    why_no_scores : str
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
