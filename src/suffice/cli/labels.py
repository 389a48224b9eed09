"""Labels of a column as places among the classes of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Labels"]


class Labels:
    """The classes of a model, and the labels beyond them that were met.

    >>> import pyarrow as pa
    >>> labels = Labels(["no", "yes"])
    >>> labels.codes(pa.chunked_array([["yes", "perhaps", "no", None]]))
    array([ 1,  2,  0, -1])
    >>> labels.all
    ['no', 'yes', 'perhaps']
    """

    def __init__(self, classes: list[Any]) -> None:
        self.all = list(classes)
        self._at: dict[Any, int] = {label: i for i, label in enumerate(classes)}
        # A file may have been read as texts where the model has seen numbers, or the other way round.
        self._spelled = {str(label): i for i, label in enumerate(classes)}

    def codes(self, column: Any) -> NDArray[np.int64]:
        """The place of each label, those that are new at the end; −1 where there is none."""
        encoded = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        encoded = encoded if hasattr(encoded, "dictionary") else encoded.dictionary_encode()
        place = np.array([self._place(each) for each in encoded.dictionary.to_pylist()], dtype=np.int64)
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return np.where(codes < 0, -1, np.append(place, -1)[codes])

    def _place(self, label: Any) -> int:
        if label is None or label != label:
            return -1
        if label not in self._at:
            self._at[label] = self._spelled.get(str(label), len(self.all))
            if self._at[label] == len(self.all):
                self.all.append(label)
        return self._at[label]
