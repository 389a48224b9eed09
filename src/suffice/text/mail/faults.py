"""Faults of a message: what could not be read as declared."""

from __future__ import annotations

__all__ = ["MailFaults", "quoted"]

MOST = 20  # sentences


class MailFaults:
    """Distinct sentences about faults, in the order in which they were noted; at most 20.

    >>> faults = MailFaults()
    >>> faults.note("its base64 is damaged")
    >>> faults.note("its base64 is damaged")
    >>> faults.sentences()
    ('its base64 is damaged',)
    """

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}

    def note(self, sentence: str) -> None:
        """Add a sentence, unless there are already 20."""
        if len(self._noted) < MOST:
            self._noted[sentence] = None

    def add(self, others: MailFaults) -> None:
        """Add the sentences of another collection."""
        for sentence in others.sentences():
            self.note(sentence)

    def sentences(self) -> tuple[str, ...]:
        """All sentences."""
        return tuple(self._noted)


def quoted(name: str) -> str:
    """A name from a message, quoted for a sentence: shortened, and without control characters.

    >>> quoted("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    shown = ascii(name[:40])[1:-1]
    return f"'{shown}'" if len(name) <= 40 and len(shown) <= 40 else f"'{shown[:31]}...'"
