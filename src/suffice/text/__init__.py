"""Documents and mails, and how they become words."""

from suffice.text.word_counts import WordCounts

__all__ = ["WordCounts"]
