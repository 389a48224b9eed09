"""Reading of documents and counting of their words; ``suffice.text.mail`` reads mails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.text.word_counts import WordCounts

__all__ = ["WordCounts"]


def __getattr__(name: str) -> object:
    # Imported on first use: WordCounts is a CountVectorizer, whose module takes long to import.
    if name == "WordCounts":
        from suffice.text.word_counts import WordCounts

        return WordCounts
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
