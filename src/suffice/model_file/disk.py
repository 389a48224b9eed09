"""Bytes to and from the disk: a file is replaced as a whole or not at all, and only a regular file is read."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO

from suffice.exceptions import ModelFileError, ModelFileMissingError

__all__ = ["NOTHING_CHANGED", "NotAFileError", "OpenFile", "as_path", "place_of", "reason", "replacing", "write_whole"]

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def as_path(path: Path) -> str:
    """The path as a text.

    >>> import pathlib
    >>> as_path(pathlib.PurePosixPath("models/mail.suffice"))
    'models/mail.suffice'
    """
    return os.fsdecode(path)


def write_whole(path: str, content: Any) -> None:
    """Put ``content`` in the place of the file, so that at any moment there is the old file or the new one."""
    try:
        with replacing(path) as file:
            file.write(content)
    except NotAFileError as error:
        raise ModelFileError(f"The model cannot be saved to {path!r}: {error}") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise ModelFileError(f"The model cannot be saved to {path!r}: {reason(error)}. {NOTHING_CHANGED}") from error


NOTHING_CHANGED = (
    "Nothing was changed there; give a path in a folder that exists, may be written to, and has space left."
)


class NotAFileError(Exception):
    """There is something else where a file is to be written; ``str`` says what, and what to do."""


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file, which takes the place of the old one as a whole when the block ends; an error leaves the old one.

    The bytes are written to a file beside it, forced to the disk, and renamed. A link stays, and what it points to is
    replaced; the permissions of an old file stay, too.

    Raises
    ------
    NotAFileError, OSError, ValueError
        As the system has them: who writes knows what to call it.
    """
    target, mode = place_of(path)
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".suffice-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    try:
        # The system takes the umask off these permissions, as from those of any new file.
        with os.fdopen(os.open(beside, flags, 0o666), "wb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    # The new name lasts through a power cut only once the folder is on the disk; some systems have no such call.
    with contextlib.suppress(OSError):
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)


def place_of(path: str) -> tuple[str, int | None]:
    """Where a file is written, links followed, and the permissions of one that is there; None if there is none."""
    target = os.path.realpath(path)
    try:
        found = os.stat(target)
    except FileNotFoundError:
        if os.path.basename(path) in ("", ".", ".."):
            raise
        return target, None
    if not stat.S_ISREG(found.st_mode):
        raise NotAFileError(f"there is {_kind(found.st_mode)}, not a file. Give the path of a file.")
    return target, stat.S_IMODE(found.st_mode)


class OpenFile:
    """A regular file that is open for reading, with its size: a context manager.

    A directory, a pipe or a device is refused without waiting for it or reading from it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._check(os.stat(path))
            # What was a file a moment ago may be a pipe now: do not wait for its writer.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
            self._file = os.fdopen(os.open(path, flags), "rb", buffering=0)
        except ModelFileError:
            raise
        except FileNotFoundError as error:
            raise ModelFileMissingError(f"There is no file {path!r}. Give the path of a saved model.") from error
        except (OSError, ValueError) as error:
            raise ModelFileError(f"The file {path!r} cannot be read: {reason(error)}.") from error
        try:
            found = os.fstat(self._file.fileno())
            self._check(found)
        except BaseException:
            self._file.close()
            raise
        self.size = found.st_size

    def _check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError(
                f"{self.path!r} is {_kind(found.st_mode)}, not a file. Give the path of a saved model."
            )

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytearray:
        """The next bytes; fewer where the file ends."""
        out = bytearray(size)
        view, done = memoryview(out), 0
        try:
            while done < size:
                got = self._file.readinto(view[done:])
                if not got:
                    break
                done += got
        except OSError as error:
            raise ModelFileError(f"The file {self.path!r} cannot be read: {reason(error)}.") from error
        view.release()
        del out[done:]
        return out


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")


def reason(error: Exception) -> str:
    """What the system says is wrong, as the middle of a sentence."""
    return (getattr(error, "strerror", None) or str(error)).rstrip(".").lower()
