"""A bar on standard error that follows a source while it is read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from suffice.cli.command import is_quiet

__all__ = ["following"]


@contextlib.contextmanager
def following(source: Any, what: str, output: str = "") -> Iterator[None]:
    """Show how much of a source is read, if there is a terminal to show it on, and rows are not written there."""
    if is_quiet() or not sys.stderr.isatty() or (output == "-" and sys.stdout.isatty()):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    class Following(Progress):
        """A bar that looks at the source each time it is drawn, so that nobody has to tell it."""

        def get_renderables(self) -> Any:
            for task in self.task_ids:
                self.update(task, total=source.total_bytes, completed=source.done_bytes, rows=f"{source.n_rows:,} rows")
            return super().get_renderables()

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]}")
    console = Console(file=sys.stderr, markup=False, emoji=False)
    with Following(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        bar.add_task(what, total=source.total_bytes, rows="")
        yield
