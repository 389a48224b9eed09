"""Column types that a fitted model expects of a file.

Cells of CSV are text, and their type is inferred from the first rows. A few rows of new data may suggest another type
than the data that the model was fitted on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from suffice.learning.fitted import Fitted
from suffice.sources.files import Source

__all__ = ["read_types_of_model"]

TEXT_TYPES = ("text", "category")  # types of a source that hold text


def read_types_of_model(fitted: Fitted, source: Source, read: Sequence[str], target: str | None = None) -> None:
    """Make a source read its columns with the types that the model knows.

    A model of the levels ``"7a"`` and ``"12"`` may be given a file that contains only ``12``, which then is text. A
    word in a column that the model knows as numbers is an error in that row, and does not make the column text. Cells
    are read in the format that they had when the model was fitted: ``1,234`` does not change its meaning.

    Parameters
    ----------
    fitted : Fitted
    source : Source
        Not read yet.
    read : sequence of str
        The columns that the model reads, in its order.
    target : str, optional
        The column of labels to learn or to remove.
    """
    expected = {name: kind for name, kind in _expected_types(fitted, read) if name in source.names}
    if target is not None and all(isinstance(label, str) for label in fitted.classes.labels.tolist()):
        expected[target] = "text"
    source.read_numbers(fitted.reader.number_columns(read, fitted.layout))
    formats = {name: form for name, form in fitted.layout.formats.items() if name in read}
    source.read_as(
        {
            name: kind
            for name, kind in expected.items()
            if name not in formats and (kind == "text") != (source.types[name] in TEXT_TYPES)
        },
        formats,
        fitted.layout.nulls,
    )
    source.note_only([*read, target] if target is not None else read)


def _expected_types(fitted: Fitted, read: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the columns that must be "text", "number" or "time"."""
    kinds = fitted.layout.schema.kinds
    estimate, known = fitted.estimate, fitted.layout.feature_names
    alone = len(read) == estimate.n_columns == 1  # a text model reads a column of any name
    names = read if known is None or len(known) != estimate.n_columns or alone else known
    if len(names) != estimate.n_columns:  # the model itself raises a better error when it reads the rows
        return
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        for j, position in enumerate(block.positions(estimate.n_columns)):
            kind = block.family.expected_kind(parameters, j)
            if kind is not None:
                yield names[position], "time" if (kind, kinds[position]) == ("number", "time") else kind
