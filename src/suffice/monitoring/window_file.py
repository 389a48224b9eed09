"""Windows as bytes and files: the layout of model files, with a checksum and without pickle.

The document has ``format``, ``library`` (the version that wrote it), ``layout`` (what the windows count) and
``windows``. A file that cannot come from Suffice is refused: every array must have the type and shape that the layout
requires, and hold weights or sums that rows can have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from suffice.exceptions import ModelFileError
from suffice.model_file.container import (
    FORMAT,
    Arrays,
    FileKind,
    container_bytes,
    is_container,
    read_bytes,
    read_container,
)
from suffice.model_file.disk import Path, as_path, write_whole
from suffice.model_file.encoding import NotStorableError, ValueReader, ValueWriter
from suffice.model_file.record import library_version
from suffice.monitoring.window import Layout, Window
from suffice.numerics.types import Float
from suffice.tables import Levels

__all__ = [
    "PAGE",
    "file_content",
    "is_window_file",
    "naming_page",
    "read_window",
    "refusing",
    "window_bytes",
    "window_of_bytes",
    "windows_of",
    "write_window",
]

PAGE = "docs/monitoring.md"
WINDOW = FileKind("window", "suffice-window", "Use another copy of it, or make the window again from its rows.")
WINDOW_FIELDS = tuple(each.name for each in fields(Window) if each.name != "layout")
LAYOUT_FIELDS = tuple(each.name for each in fields(Layout))
COUNTS = ("bins", "levels", "unseen", "words", "posterior", "impossible", "labels", "other_labels", "calibration")
NOT_NEGATIVE = frozenset(("weight", "squares", *COUNTS))
LARGEST = 1e60  # of a weight or a sum; tests multiply some of them
SAMPLED = ("keys", "ratios")


def window_bytes(window: Window) -> bytes:
    """Return a window as bytes, which `window_of_bytes` reads."""
    return bytes(file_content(WINDOW, window.layout, [window]))


def window_of_bytes(content: bytes | bytearray | memoryview) -> Window:
    """Read a window from bytes. Raises `ModelFileError` if they are not a window, or damaged."""
    with naming_page():
        return _only(*read_bytes(content, WINDOW), "")


def write_window(path: Path, window: Window) -> None:
    """Write a window to a file, which is replaced in one step. Raises `ModelFileError` if that fails."""
    file = as_path(path)
    with naming_page():
        write_whole(file, file_content(WINDOW, window.layout, [window], file), WINDOW.noun)


def read_window(path: Path) -> Window:
    """Read a window from a file. Raises `ModelFileError` if it is not a window, or damaged."""
    file = as_path(path)
    with naming_page():
        return _only(*read_container(file, WINDOW), file)


def is_window_file(path: str) -> bool:
    """Whether a path leads to a file that begins as a window does, perhaps a damaged one."""
    return is_container(path, WINDOW)


@contextlib.contextmanager
def naming_page() -> Iterator[None]:
    """Let errors about a file name the page about monitoring, not that about model files."""
    try:
        yield
    except ModelFileError as error:
        error.page = PAGE
        raise


def _only(document: dict[str, Any], arrays: Arrays, file: str) -> Window:
    windows, _ = windows_of(document, arrays, WINDOW, file)
    if len(windows) != 1:
        raise refusing(WINDOW, file, f"it holds {len(windows)} windows; expected 1")
    return windows[0]


def file_content(
    kind: FileKind, layout: Layout, windows: Sequence[Window], path: str = "", **others: float
) -> bytearray:
    """The content of a file of windows with one layout, and other numbers; the path is for messages."""
    writer = ValueWriter()
    try:
        document = {
            "format": FORMAT,
            "library": library_version(),
            "layout": {name: writer.value(getattr(layout, name), "layout", name) for name in LAYOUT_FIELDS},
            "windows": [
                {name: writer.value(getattr(window, name), "windows", i, name) for name in WINDOW_FIELDS}
                for i, window in enumerate(windows)
            ],
            **others,
        }
    except NotStorableError as error:
        raise ModelFileError(
            f"The {kind.noun} cannot be saved{f' to {path!r}' if path else ''}: it holds {error.value!r:.80}, a "
            f"{type(error.value).__name__}. Convert the column to strings, numbers or dates, and fit the model again.",
            file=path or None,
        ) from None
    return container_bytes(document, writer.arrays, path, kind)


def windows_of(
    document: dict[str, Any], arrays: Arrays, kind: FileKind, file: str, others: Sequence[str] = ()
) -> tuple[list[Window], dict[str, Any]]:
    """The windows of a file and its other parts; raises `ModelFileError` if a value cannot come from rows."""
    try:
        reader = ValueReader(arrays)
        wrong = sorted(set(document) ^ {"format", "library", "layout", "windows", *others})
        if wrong:
            raise ValueError(f"it lacks the part {wrong[0]!r}, or should not have it")
        layout = _layout({name: reader.value(document["layout"][name]) for name in LAYOUT_FIELDS})
        windows = [_window(layout, reader, each) for each in document["windows"]]
        reader.finish()
        return windows, {name: document[name] for name in others}
    except ModelFileError:
        raise
    except Exception as error:  # anyone can write a file with a valid checksum: what its values break is its fault
        raise refusing(kind, file, str(error).rstrip(".") or type(error).__name__) from error


def refusing(kind: FileKind, file: str, reason: str) -> ModelFileError:
    """The error of a file whose values are not valid."""
    where = f"in {file!r}" if file else "in the bytes"
    return ModelFileError(f"The {kind.noun} {where} cannot be read: {reason}. {kind.again}", file=file or None)


def _layout(values: Mapping[str, Any]) -> Layout:
    layout = Layout(**values)
    named = (*layout.numbers, *layout.levels, *layout.words)
    valid = (
        isinstance(layout.digest, str)
        and all(isinstance(each, tuple) and len(each) == 2 for each in named)
        and all(isinstance(scale, str) for _, scale in layout.numbers)
        and all(isinstance(levels, Levels) for _, levels in layout.levels)
        and all(isinstance(words, tuple) for _, words in layout.words)
        and len(layout.cuts) == len(layout.numbers)
        and all(isinstance(cuts, tuple) and _ascends(cuts) for cuts in layout.cuts)
        and isinstance(layout.classes, tuple)
    )
    hash((layout.classes, *(name for name, _ in named)))  # raises if a name or a class is a list
    if not valid:
        raise ValueError("the description of its columns is not valid")
    return layout


def _ascends(cuts: tuple[object, ...]) -> bool:
    return all(isinstance(each, float) for each in cuts) and bool((np.diff(np.array([*cuts, np.inf])) > 0).all())


def _window(layout: Layout, reader: ValueReader, stored: Mapping[str, Any]) -> Window:
    if set(stored) != set(WINDOW_FIELDS):
        raise ValueError("a window lacks a part, or has one too many")
    window = Window(layout, **{name: reader.value(stored[name]) for name in WINDOW_FIELDS})
    zero = Window.zero(layout)
    if type(window.n_rows) is not int or window.n_rows < 0:
        raise ValueError(f"{window.n_rows!r:.40} is not a number of rows")
    for name in WINDOW_FIELDS:
        _check(name, getattr(window, name), getattr(zero, name))
    if len(window.keys) != len(window.ratios):
        raise ValueError("keys and ratios have different lengths")
    _check_weights(window)
    return window


def _check_weights(window: Window) -> None:
    """Raise if a count is of more rows than the window has, or its weights cannot be those of so many rows."""
    most = window.weight * (1 + 1e-6)
    counts = [window.bins, window.moments[0], window.posterior, window.labels, window.calibration, *window.levels]
    if any((each > most).any() for each in (*counts, *window.words, np.array(window.impossible))):
        raise ValueError("it counts more rows than it has")
    if abs(window.calibration[0].sum() - window.scores[0]) > 1e-6 * window.weight:
        raise ValueError("the rows of its calibration are not those of its scores")
    if window.weight**2 > window.squares * window.n_rows * (1 + 1e-6):
        raise ValueError("its weights do not match its number of rows")


def _check(name: str, value: object, zero: object) -> None:
    """Raise unless a part of a window has the type and shape of that of no rows, and values of some rows."""
    if isinstance(zero, tuple):
        if not isinstance(value, tuple) or len(value) != len(zero):
            raise ValueError(f"{name} belongs to other columns")
        for mine, none in zip(value, zero, strict=True):
            _check(name, mine, none)
        return
    if isinstance(zero, Mapping):
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} is not a table of weights")
        numbers = np.array([0.0, *value.values()], dtype=np.float64)
    elif isinstance(zero, np.ndarray):
        if not (isinstance(value, np.ndarray) and value.dtype == zero.dtype and _has_shape(name, value, zero)):
            raise ValueError(f"{name} does not match the columns")
        numbers = np.asarray(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        numbers = np.array([float(value)])
    else:
        raise ValueError(f"{name} is not a number")
    if name in NOT_NEGATIVE and not ((numbers >= 0) & (numbers <= LARGEST)).all():
        raise ValueError(f"{name} holds a number that is negative, too large or NaN")
    if name == "moments" and not (numbers[[0, 2]] >= 0).all():
        raise ValueError("moments holds a weight or a variance that is negative or NaN")
    if name == "scores" and not (np.abs(numbers) <= LARGEST).all():
        raise ValueError("scores holds a number that is too large or NaN")


def _has_shape(name: str, value: Float, zero: Float) -> bool:
    """Whether an array has the shape of that of no rows; a sample may have any number of rows."""
    free = int(name in SAMPLED)
    return value.ndim == zero.ndim and value.shape[free:] == zero.shape[free:]
