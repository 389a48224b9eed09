"""Progress bars on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from suffice.cli.command import is_quiet, note_reading
from suffice.cli.output import row_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from suffice.sources.files import Source

__all__ = ["reading_progress", "step_progress"]


@contextlib.contextmanager
def reading_progress(source: Source, description: str, output: str = "") -> Iterator[None]:
    """Show how much of a source has been read, and print notes on what was found while it was read.

    No progress is shown if standard error is not a terminal, or if rows are written to the same terminal.
    """
    with _progress_bar(source, description, output):
        yield
    note_reading(source)  # what was found behind the first rows


@contextlib.contextmanager
def _progress_bar(source: Source, description: str, output: str) -> Iterator[None]:
    if is_quiet() or not sys.stderr.isatty() or (output == "-" and sys.stdout.isatty()):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    class SourceProgress(Progress):
        """A bar that reads the state of the source each time it is drawn."""

        def get_renderables(self) -> Iterable[RenderableType]:
            for task in self.task_ids:
                self.update(task, total=source.total_bytes, completed=source.done_bytes, rows=row_count(source.n_rows))
            return super().get_renderables()

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]}")
    console = Console(file=sys.stderr, markup=False, emoji=False)
    with SourceProgress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        bar.add_task(description, total=source.total_bytes, rows="")
        yield


@contextlib.contextmanager
def step_progress(description: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function of (steps done, steps in all) that moves a bar; None if there is no terminal to show it on."""
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr, markup=False, emoji=False), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
