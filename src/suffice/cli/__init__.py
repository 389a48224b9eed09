"""The command ``suffice``: models of files, from the shell.

``group`` has the list of commands, each of which is a file of its own with a ``command`` in it. What they share is in
``command`` (errors, notes, ``--debug``), ``reading`` and ``writing`` (data in and out), ``showing`` (tables and JSON)
and ``progress``. Nothing heavy is imported before a command runs, so that ``--help`` is quick.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

__all__ = ["main"]

TERMINATED, INTERRUPTED = 143, 130


def main() -> None:
    """Run the command."""
    try:
        signal.signal(signal.SIGTERM, _leave)  # so that what was begun is cleaned up
        try:
            import click  # noqa: F401
            import rich  # noqa: F401
        except ImportError as error:
            sys.exit(f"suffice: The command needs {error.name}: pip install 'suffice[cli]'")
        _prepare_streams()
        from suffice.cli.command import telling_of_output
        from suffice.cli.group import suffice

        with telling_of_output():
            suffice(prog_name="suffice")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _prepare_streams() -> None:
    """Let nothing that is printed fail: a stream may be closed, or lack a character."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _leave(*_: Any) -> None:
    sys.exit(TERMINATED)
