"""Labels of a column as positions among the classes of a model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.numerics.types import Codes

__all__ = ["LabelPositions"]


class LabelPositions:
    """The classes of a model, followed by the other labels that the data contain.

    Attributes
    ----------
    all : list
        The classes, then each new label in order of appearance.

    Examples
    --------
    >>> import pyarrow as pa
    >>> labels = LabelPositions(["no", "yes"])
    >>> labels.codes(pa.chunked_array([["yes", "perhaps", "no", None]]))
    array([ 1,  2,  0, -1])
    >>> labels.all
    ['no', 'yes', 'perhaps']
    """

    def __init__(self, classes: Sequence[Hashable]) -> None:
        self.all = list(classes)
        self._position: dict[Hashable, int] = {label: i for i, label in enumerate(classes)}
        # A file may be read as text where the model was fitted on numbers, or the other way round.
        self._position_of_text = {str(label): i for i, label in enumerate(classes)}

    def codes(self, column: pa.ChunkedArray | pa.Array) -> Codes:
        """Return the position of each label in `all` (n,); −1 for a missing cell."""
        import pyarrow as pa

        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
        positions = np.array([self._position_of(label) for label in encoded.dictionary.to_pylist()], dtype=np.int64)
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return np.where(codes < 0, -1, np.append(positions, -1)[codes])

    def _position_of(self, label: Hashable) -> int:
        if label is None or label != label:  # None or NaN
            return -1
        if label not in self._position:
            self._position[label] = self._position_of_text.get(str(label), len(self.all))
            if self._position[label] == len(self.all):
                self.all.append(label)
        return self._position[label]
