"""Rows for a model of texts: texts on the command line, lines of standard input, mails, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from suffice.cli.command import MISSING_DATA
from suffice.cli.reading import ReadingOptions, open_data, optional_data_argument

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.sources.files import Source

__all__ = ["data_or_texts", "open_rows", "text_column", "text_option"]

data_or_texts = optional_data_argument
text_option = click.option(
    "--text", "texts", multiple=True, metavar="TEXT", help="Text to use instead of DATA, for a text model. Repeatable."
)


def text_column(model: GenerativeClassifier) -> str | None:
    """Name of the column of a model that reads one column of texts, and nothing else; None for other models."""
    layout, blocks = model.fitted_.layout, model.fitted_.blocks
    if layout.n_columns != 1 or len(blocks) != 1 or blocks[0].family.reads != "documents":
        return None
    return str(layout.names[0]) if layout.feature_names is None else layout.feature_names[0]


def open_rows(
    model: GenerativeClassifier,
    data: Sequence[str],
    texts: Sequence[str],
    reading: ReadingOptions,
    columns: Sequence[str] | None,
    ignore: Sequence[str] | None,
    also: Sequence[str] = (),
) -> Source:
    """Open the rows that a fitted model is used on.

    For a model of texts, plain text on standard input, or in a file without a known suffix, is one text per line,
    unless its first line names the column of the model or an option names columns.
    """
    column = text_column(model)
    if texts:
        return _source_of(texts, data, column, model)
    if not data:
        raise click.UsageError(MISSING_DATA)
    named = columns is not None or any(name != column for name in also)
    return open_data(data, reading, columns, ignore, also=also, notes=False, text_column=None if named else column)


def _source_of(texts: Sequence[str], data: Sequence[str], column: str | None, model: GenerativeClassifier) -> Source:
    if data:
        raise click.UsageError(
            f"Give either --text or DATA, not both: --text is used instead of DATA, and {data[0]} is DATA."
        )
    if column is None:
        raise click.UsageError(
            f"--text needs a model of one column of texts; this is a {model.fitted_.specification.estimator} of "
            f"{model.fitted_.layout.n_columns:,} columns."
        )
    import pyarrow as pa

    from suffice.sources.files import open_source

    return open_source(pa.table({column: list(texts)}))
