"""Settings for reading messages, checked once and used for every message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suffice.exceptions import InputError, listed

__all__ = ["DEFAULT_HEADERS", "Rules", "make_rules"]

DEFAULT_HEADERS = (
    "from",
    "reply-to",
    "return-path",
    "sender",
    "subject",
    "x-mailer",
    "user-agent",
    "content-type",
)
"""Fields that the sender writes. Fields such as Received and To say more about the mailbox than about the message."""

ALTERNATIVES = ("shown", "plain", "all")


@dataclass(frozen=True)
class Rules:
    """The settings of :func:`read_mail`, where they are documented."""

    headers: tuple[str, ...] = ()
    alternatives: str = "shown"
    max_bytes: int = 10_000_000
    max_text_bytes: int = 1_000_000
    max_attachment_bytes: int = 0


def make_rules(
    headers: bool | Iterable[str],
    alternatives: str,
    max_bytes: int,
    max_text_bytes: int,
    max_attachment_bytes: int,
) -> Rules:
    """Check the settings; raise `InputError` for an invalid one."""
    if alternatives not in ALTERNATIVES:
        raise InputError(
            f"alternatives must be one of {listed(ALTERNATIVES)}; got {alternatives!r}.", argument="alternatives"
        )
    sizes = {"max_bytes": max_bytes, "max_text_bytes": max_text_bytes, "max_attachment_bytes": max_attachment_bytes}
    for name, size in sizes.items():
        least = 0 if name == "max_attachment_bytes" else 1
        if isinstance(size, bool) or not isinstance(size, int) or size < least:
            raise InputError(f"{name} must be a whole number of bytes, {least} or more; got {size!r}.", argument=name)
    return Rules(_names(headers), alternatives, max_bytes, max_text_bytes, max_attachment_bytes)


def _names(headers: bool | Iterable[str]) -> tuple[str, ...]:
    if isinstance(headers, bool):
        return DEFAULT_HEADERS if headers else ()
    if isinstance(headers, (str, bytes)) or not isinstance(headers, Iterable):
        raise InputError(
            f"headers must be True, False or a list of names such as ['from', 'subject']; got {headers!r}.",
            argument="headers",
        )
    names = []
    for name in headers:
        if not isinstance(name, str) or not name.strip().rstrip(":"):
            raise InputError(f"headers must name header fields such as 'from'; got {name!r}.", argument="headers")
        names.append(name.strip().rstrip(":").lower())
    return tuple(names)
