"""The history of a sequence of looks as a file: the number of looks, their level, and the merges of the last windows.

Processes that look one after another, such as the runs of a scheduler, thereby share one sequential bound. The file has
the layout of a window file, and ``looks`` and ``level``. It is read, changed and replaced under a lock.
"""

from __future__ import annotations

import os
from typing import Any

from suffice.exceptions import InputError
from suffice.model_file.container import Arrays, FileKind, is_container, read_container
from suffice.model_file.disk import Path, as_path, write_whole
from suffice.model_file.lock import locked
from suffice.monitoring.monitor import Monitor
from suffice.monitoring.result import Drift
from suffice.monitoring.window import Window
from suffice.monitoring.window_file import PAGE, file_content, naming_page, refusing, windows_of

__all__ = ["is_history", "level_of_history", "next_look"]

HISTORY = FileKind("history", "suffice-history", "Use another copy of it, or begin a new history by removing the file.")
MOST_LOOKS = 1 << 53


def level_of_history(path: Path) -> float | None:
    """The level of the sequence that a file holds; None if there is no file."""
    file = as_path(path)
    with naming_page():
        return _read(file)[1] if os.path.lexists(file) else None


def is_history(path: str) -> bool:
    """Whether a path leads to a file that begins as a history does, perhaps a damaged one."""
    return is_container(path, HISTORY)


def next_look(path: Path, monitor: Monitor, window: Window, timeout: float = 60.0) -> Drift:
    """Make the next look of the sequence in a file, and replace the file; without a file, begin a sequence.

    Parameters
    ----------
    path : path-like
    monitor : Monitor
        Its own sequence is replaced by that of the file.
    window : Window
        An empty window does not count as a look and does not change the file.
    timeout : float
        Seconds to wait for another process that makes a look.

    Returns
    -------
    Drift

    Raises
    ------
    InputError
        If the sequence has another level, or is of another model.
    ModelFileError
        If the file cannot be read, locked or written, or is not a history. The file stays as it was.
    """
    file = as_path(path)
    with naming_page(), locked(file, timeout, HISTORY.noun):
        if os.path.lexists(file):
            _resume(file, monitor)
        if not window.n_rows:
            return monitor.update(window)
        drift = monitor.update(window)
        kept = [each for _, each in monitor.windows]
        content = file_content(HISTORY, window.layout, kept, file, looks=monitor.looks, level=monitor.level)
        write_whole(file, content, HISTORY.noun)
    return drift


def _resume(file: str, monitor: Monitor) -> None:
    looks, level, kept = _read(file)
    if level != monitor.level:
        raise InputError(
            f"The history {file!r} has the level {level:g}; got {monitor.level:g}. All looks of a history share one "
            "level. Use its level, or another file.",
            argument="level",
            page=PAGE,
        )
    if any(each.layout.digest != monitor.layout.digest for each in kept):
        raise InputError(
            f"The history {file!r} belongs to another model, or to this model before it learned other rows. Give "
            "another file, or remove this one to begin a new history.",
            argument="history",
            page=PAGE,
        )
    monitor.resume(looks, list(zip(_sizes(looks), kept, strict=True)))


def _sizes(looks: int) -> list[int]:
    """Numbers of windows in the merges that are kept after some looks, the oldest first.

    >>> _sizes(13)
    [8, 4, 1]
    """
    return [1 << i for i in range(looks.bit_length())[::-1] if looks >> i & 1]


def _read(file: str) -> tuple[int, float, list[Window]]:
    """Number of looks, level and kept windows of a file."""
    document, arrays = read_container(file, HISTORY)
    return _checked(document, arrays, file)


def _checked(document: dict[str, Any], arrays: Arrays, file: str) -> tuple[int, float, list[Window]]:
    windows, others = windows_of(document, arrays, HISTORY, file, ("looks", "level"))
    looks, level = others["looks"], others["level"]
    if type(looks) is not int or not 0 < looks < MOST_LOOKS or len(windows) != looks.bit_count():
        raise refusing(HISTORY, file, f"it holds {len(windows)} windows after {looks!r:.40} looks")
    if type(level) is not float or not 0 < level < 1:
        raise refusing(HISTORY, file, f"its level is {level!r:.40}")
    return looks, level, windows
