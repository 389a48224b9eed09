"""Documents, and how they become words; ``suffice.text.mail`` reads mails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.text.word_counts import WordCounts

__all__ = ["WordCounts"]


def __getattr__(name: str) -> Any:
    # It is a CountVectorizer, and scikit-learn's module of those takes long to import.
    if name == "WordCounts":
        from suffice.text.word_counts import WordCounts

        return WordCounts
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
