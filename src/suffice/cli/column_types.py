"""Column types that a fitted model expects of a file, with notes for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.cli.command import note_reading

if TYPE_CHECKING:
    from suffice.estimators import GenerativeClassifier
    from suffice.sources.files import Source

__all__ = ["read_types_of_model"]


def read_types_of_model(
    model: GenerativeClassifier, source: Source, read: Sequence[str], target: str | None = None
) -> None:
    """Make a source read its columns with the types that the model knows, and print notes on the types of others."""
    from suffice.learning import column_types

    column_types.read_types_of_model(model.fitted_, source, read, target)
    note_reading(source)
