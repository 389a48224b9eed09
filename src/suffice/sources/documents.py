"""Documents as rows: a column of texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import Argument, InputError, listed, warn_user
from suffice.sources.columns import kind_of_values
from suffice.sources.engine_types import ArrowArray, ArrowTable
from suffice.sources.files import Source
from suffice.sources.frames import as_frame
from suffice.sources.labels import read_labels
from suffice.sources.row_reader import ReadRows, RowLayout, RowReader, SampledColumn
from suffice.tables import Table
from suffice.tables.levels import is_missing
from suffice.tables.table import Schema
from suffice.text.recognition import are_documents
from suffice.text.table import TextTable
from suffice.text.texts import Texts, cells

__all__ = ["COLUMN", "DocumentReader", "are_texts"]

COLUMN = "text"  # the name of the column of documents in messages


@dataclass(frozen=True, eq=False)
class _ArrowDocuments:
    """The column of documents of an Arrow table, and its name."""

    column: ArrowArray
    name: str


@dataclass(frozen=True)
class DocumentReader(RowReader):
    """Reads documents: strings, or bytes in an encoding.

    Parameters
    ----------
    estimator : str
        Name of the estimator, for messages.
    encoding : str
        Of documents that are bytes.
    decode_error : {"strict", "replace", "ignore"}
    """

    estimator: str
    encoding: str = "utf-8"
    decode_error: str = "strict"

    def texts(self, X: object) -> Texts:
        """The documents."""
        documents = X.column if isinstance(X, _ArrowDocuments) else X
        return Texts.of(documents, encoding=self.encoding, decode_error=self.decode_error)

    def training(self, X: object, y: object, layout: RowLayout | None = None, min_rows: int = 1) -> ReadRows:
        """Documents to learn from, their labels, and the layout of one column."""
        texts = self.texts(X)
        if len(texts) < min_rows:
            raise InputError("X holds no documents. Give at least one document of each class.", argument="X")
        labels = read_labels(y, len(texts), self.estimator)
        if layout is None:
            names = (X.name,) if isinstance(X, _ArrowDocuments) else None
            layout = RowLayout(Schema([COLUMN], ["text"], named=True), names)
        return TextTable(texts, [COLUMN]), labels, layout

    def rows(self, X: object, layout: RowLayout) -> Table:
        """Documents to predict for."""
        return TextTable(self.texts(X), [COLUMN])

    def from_arrow(self, rows: ArrowTable) -> _ArrowDocuments:
        """The first column of an Arrow table."""
        return _ArrowDocuments(rows.column(0), rows.column_names[0])

    def write(self, columns: list[SampledColumn], layout: RowLayout) -> object:
        """Sampled documents."""
        return columns[0]

    def source_columns(self, source: Source, names: list[str], layout: RowLayout | None) -> list[str]:
        """The column of documents: that of the first fit, the only column of texts, or the one named "text"."""
        if layout is not None and layout.feature_names is not None:
            source.check_column(layout.feature_names[0])
            return [layout.feature_names[0]]
        texts = [name for name in names if source.types[name] in ("text", "category")]
        texts = [COLUMN] if COLUMN in texts else texts
        if len(texts) != 1:
            problem = f"{listed(texts)} hold texts" if texts else f"none of {listed(names)} holds texts"
            raise InputError(
                f"{self.estimator} reads one column of texts, but {problem}. Choose the column of documents with ",
                Argument("columns"),
                ".",
            )
        return texts

    def absent_columns(self, read: Sequence[str], layout: RowLayout) -> list[str]:
        """None: the column of documents may have another name."""
        return []

    def prediction_columns(
        self,
        source: Source,
        besides: Sequence[str | None],
        kept: Sequence[str],
        layout: RowLayout,
        optional: Collection[object] = (),
    ) -> list[str]:
        """The column of documents: that of the first fit, the only column, the only one of texts, or "text"."""
        available = [name for name in source.names if name not in besides]
        if layout.feature_names is not None and layout.feature_names[0] in available:
            return [layout.feature_names[0]]
        available = [name for name in available if name not in kept] or available
        texts = [name for name in available if source.types.get(name) in ("text", "category")]
        for choice in (available, texts, [name for name in available if name == COLUMN]):
            if len(choice) == 1:
                if layout.feature_names is not None and not source.documents:
                    warn_user(
                        f"Column {choice[0]!r:.80} of {source.name or 'the source'} is read instead of "
                        f"{layout.feature_names[0]!r:.80}, the column that the model was fitted on."
                    )
                return choice
        raise InputError(
            f"{source.name} has the columns {listed(available)}, but the model reads one column of texts. "
            "Choose it with ",
            Argument("columns"),
            ".",
        )


def are_texts(X: object) -> bool:
    """Whether rows are texts: a list, an array or a column of strings, or a frame with one column of documents.

    >>> are_texts(["a free prize", None]), are_texts([[1.0], [2.0]]), are_texts(np.array([1.0, 2.0]))
    (True, False, False)
    """
    frame = as_frame(X)
    if frame is not None:
        values = frame.get_column(frame.columns[0]).to_list() if len(frame.columns) == 1 else []
        return kind_of_values(values) == "text" and are_documents(values)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "UTSO" and _all_strings(X.tolist())
    listed_cells = cells(X)
    return isinstance(listed_cells, list | tuple) and _all_strings(listed_cells)


def _all_strings(values: Sequence[object]) -> bool:
    kinds = {type(value) for value in values if not is_missing(value)}
    return bool(kinds) and all(issubclass(kind, str | bytes) for kind in kinds)
