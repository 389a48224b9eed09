"""What could not be read of a mail, said once each."""

from __future__ import annotations

__all__ = ["Faults", "quoted"]

MOST = 20


class Faults:
    """Sentences in the order in which they were noted, each once, and not more than a reader would read.

    >>> faults = Faults()
    >>> faults.note("its base64 is damaged")
    >>> faults.note("its base64 is damaged")
    >>> faults.sentences()
    ('its base64 is damaged',)
    """

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}

    def note(self, sentence: str) -> None:
        """Remember a sentence, unless there are too many."""
        if len(self._noted) < MOST:
            self._noted[sentence] = None

    def add(self, others: Faults) -> None:
        """Remember what others hold."""
        for sentence in others.sentences():
            self.note(sentence)

    def sentences(self) -> tuple[str, ...]:
        """What was noted."""
        return tuple(self._noted)


def quoted(name: str) -> str:
    """A name out of a mail as a sentence may hold it: short, and without what would break the line.

    >>> quoted("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    shown = ascii(name[:40])[1:-1]
    return f"'{shown}'" if len(name) <= 40 and len(shown) <= 40 else f"'{shown[:31]}...'"
