"""A column of texts of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.text import Documents
from suffice.text.analysis import Analysis

__all__ = ["Texts"]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts of a batch, with None where one is missing."""

    values: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> Texts:
        """Those of rows start..stop−1."""
        return Texts(self.values[start:stop])

    def take(self, index: NDArray[np.intp]) -> Texts:
        """Those at some places."""
        return Texts([self.values[i] for i in index])

    def documents(self, analysis: Analysis) -> Documents:
        """The texts, ready to be read by ``analysis.reading``."""
        return Documents.of_strings(self.values)
