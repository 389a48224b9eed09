"""The command ``suffice``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command."""
    raise SystemExit("not yet")
