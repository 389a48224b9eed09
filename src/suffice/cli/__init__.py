"""The command ``suffice``: fit and use models of files from the shell.

``group`` lists the commands; each is a module of its own with a ``command`` in it. They share ``command`` (errors,
notes, ``--debug``), ``spelling`` (arguments as options), ``reading`` and ``writing`` (data in and out), ``output``
(tables and JSON) and ``progress``. Nothing heavy is imported before a command runs, so ``--help`` is quick.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from typing import NoReturn

__all__ = ["main"]

TERMINATED, INTERRUPTED = 143, 130


def main() -> None:
    """Run the command."""
    try:
        signal.signal(signal.SIGTERM, _exit)  # unwinds the stack, so temporary files are removed
        try:
            import click  # noqa: F401
            import rich  # noqa: F401
        except ImportError as error:
            sys.exit(f"suffice: The command needs {error.name}: pip install 'suffice[cli]'")
        _prepare_streams()
        from suffice.cli.command import output_errors
        from suffice.cli.group import suffice
        from suffice.cli.pandas_free import keep_pandas_out

        with output_errors():
            suffice(prog_name="suffice", obj=keep_pandas_out)
    except KeyboardInterrupt:
        print("suffice: stopped; nothing was written.", file=sys.stderr)
        _end_interrupted()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _end_interrupted()
        raise


def _end_interrupted() -> NoReturn:
    """Exit with the code of Ctrl-C.

    If it arrives in Python code that a library runs from C, such as DuckDB, Python would end by the signal later.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # of a stream that is closed
            stream.flush()
    os._exit(INTERRUPTED)


def _prepare_streams() -> None:
    """Keep printing from failing when a stream is closed or its encoding lacks a character."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _exit(*_: object) -> None:
    sys.exit(TERMINATED)
