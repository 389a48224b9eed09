"""An advisory lock on a model file, for processes that load it, change the model and save it to the same path.

The lock belongs to ``<path>.lock``, not to the model file itself: saving replaces the model file, so a lock on it would
be lost at the first save. The operating system releases the lock when its holder ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from suffice.exceptions import ModelFileError
from suffice.model_file.disk import Path, as_path, reason
from suffice.model_file.file_locks import NO_LINKS, is_current, try_lock, unlock

__all__ = ["is_same_file", "locked"]

POLL_SECONDS = 0.05


@contextlib.contextmanager
def locked(path: Path, timeout: float = 60.0, noun: str = "model") -> Iterator[None]:
    """Hold the lock of a model file, or of another file that is read, changed and replaced.

    Parameters
    ----------
    path : path-like
        Path of the model file, which need not exist yet. Links are followed, so all paths to one file share a lock.
    timeout : float
        Seconds to wait for another holder.
    noun : str
        What the file holds, for messages.

    Raises
    ------
    ModelFileError
        If another process or thread still holds the lock after ``timeout`` seconds, or if no lock file can be made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(f"{folder}/mail.suffice"):
    ...     os.listdir(folder)
    ['mail.suffice.lock']
    """
    name = as_path(path)
    try:
        lock_path = f"{os.path.realpath(name)}.lock"
        descriptor = _acquire(lock_path, time.monotonic() + timeout)
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL character
        raise ModelFileError(
            f"The {noun} file {name!r} cannot be locked: {reason(error)}. Save the updated {noun} to another path, in "
            "a folder that you can write to.",
            file=name,
        ) from error
    if descriptor is None:
        raise ModelFileError(
            f"The {noun} file {name!r} is being updated by another process (lock file {lock_path!r}). Try again when "
            "it has finished.",
            file=name,
        )
    try:
        yield
    finally:
        _release(lock_path, descriptor)


def is_same_file(a: Path, b: Path) -> bool:
    """Whether two paths lead to one file, or would once it exists.

    >>> is_same_file("mail.suffice", "./mail.suffice"), is_same_file("mail.suffice", "other.suffice")
    (True, False)
    """
    if os.path.realpath(as_path(a)) == os.path.realpath(as_path(b)):
        return True
    try:
        return os.path.samefile(a, b)  # also knows file systems that ignore case
    except OSError:
        return False


def _acquire(lock_path: str, deadline: float) -> int | None:
    """Open and lock the lock file: its descriptor, or None if it was still locked at the deadline.

    A holder removes the lock file before it lets go. A process that gets the lock of a removed file has locked nothing
    that others can see, and starts again with the file that the path now leads to.
    """
    while True:
        descriptor, kept = _open(lock_path), False
        try:
            while not try_lock(descriptor):
                if time.monotonic() >= deadline:
                    return None
                time.sleep(POLL_SECONDS)  # short sleeps, not a blocking call: signals are handled in between
            kept = is_current(lock_path, descriptor)
            if kept:
                return descriptor
        finally:
            if not kept:
                os.close(descriptor)


def _open(lock_path: str) -> int:
    try:
        return os.open(lock_path, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o666)
    except PermissionError as error:
        try:
            return os.open(lock_path, os.O_RDONLY | NO_LINKS)  # made by another user; reading is enough to lock it
        except FileNotFoundError:  # it could not be made
            raise error from None


def _release(lock_path: str, descriptor: int) -> None:
    """Remove the lock file, then unlock it; in the other order the file could already be another holder's.

    A lock file that cannot be removed, or that a killed process left behind, is harmless: it is not locked.
    Windows does not remove open files.
    """
    with contextlib.suppress(OSError):
        os.unlink(lock_path)
    unlock(descriptor)
    os.close(descriptor)
