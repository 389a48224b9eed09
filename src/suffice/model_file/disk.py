"""Files on disk: writing replaces a file completely or not at all; reading accepts only regular files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO

from suffice.exceptions import ModelFileError, ModelFileMissingError, short, similar_name, without_password
from suffice.model_file.file_locks import NO_LINKS, is_current, try_lock

__all__ = [
    "NOTHING_CHANGED",
    "NotAFileError",
    "OpenFile",
    "as_path",
    "reason",
    "replacing",
    "similar_path",
    "sync_folder",
    "write_target",
    "write_whole",
]

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

NOTHING_CHANGED = "Nothing was changed; give a path in an existing, writable folder with enough free space."
NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF)  # some systems have none
PREFIX, SUFFIX = ".suffice-", ".tmp"  # of the names of temporary files
NONBLOCKING = 0 if sys.platform == "win32" else os.O_NONBLOCK


def as_path(path: Path) -> str:
    """Return the path as a string.

    >>> import pathlib
    >>> as_path(pathlib.PurePosixPath("models/mail.suffice"))
    'models/mail.suffice'
    """
    return os.fsdecode(path)


def write_whole(path: str, content: bytes | bytearray, noun: str = "model") -> None:
    """Write ``content`` in place of the file; at any moment either the old file or the new one is there.

    Messages call it by ``noun``.
    """
    try:
        with replacing(path) as file:
            file.write(content)
    except NotAFileError as error:
        raise ModelFileError(f"The {noun} cannot be saved to {path!r}: {error}", file=path) from None
    except UnsyncedError as error:
        raise ModelFileError(
            f"The {noun} was written to {path!r}, but it may not survive a power failure, because the folder cannot "
            f"be brought to disk: {reason(error)}. Check the disk, and save the {noun} again.",
            file=path,
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a path that contains NUL
        raise ModelFileError(
            f"The {noun} cannot be saved to {path!r}: {reason(error)}. {NOTHING_CHANGED}", file=path
        ) from error


class UnsyncedError(OSError):
    """The file was replaced, but it is unknown whether that is on disk."""


class NotAFileError(Exception):
    """The path to write to is not a regular file; the message names what it is and what to do."""


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Open a new file that replaces the old one when the block ends; after an error the old file stays.

    The bytes are written to a file in the same folder, flushed to disk, and renamed. A symbolic link is kept and its
    target replaced; the new file gets the permissions of the old one. Temporary files of killed processes in the folder
    are removed.

    Raises
    ------
    NotAFileError, OSError, ValueError
        Unchanged, so that the caller can name what it was writing.
    """
    target, mode = write_target(path)
    folder = os.path.dirname(target)
    _remove_stale(folder)
    temporary, descriptor = _open_temporary(folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    try:
        sync_folder(folder)
    except OSError as error:
        raise UnsyncedError(error.errno, error.strerror, path) from error


def sync_folder(folder: str) -> None:
    """Make files that were created, renamed or removed in a folder survive a power failure; raises `OSError`.

    Nothing is done on systems that cannot sync a folder, and for folders that this process may not read.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def _open_temporary(folder: str) -> tuple[str, int]:
    """Create a file for the new content, and lock it for as long as it is open."""
    while True:
        temporary = os.path.join(folder, f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}")
        # The system applies the umask to these permissions, as for any new file.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            if try_lock(descriptor) and is_current(temporary, descriptor):
                return temporary, descriptor
        except OSError:  # some file systems have no locks
            return temporary, descriptor
        os.close(descriptor)  # another process took the file for a stale one, and has removed it


def _remove_stale(folder: str) -> None:
    """Remove temporary files of this user whose writers were killed, and which therefore are not locked.

    Errors are ignored: on a file system without locks, or if another process is faster, the files stay or are gone.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):
                    _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR | NO_LINKS | NONBLOCKING)
    try:
        status = os.fstat(descriptor)
        own = sys.platform == "win32" or status.st_uid == os.geteuid()
        if own and stat.S_ISREG(status.st_mode) and try_lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)


def write_target(path: str) -> tuple[str, int | None]:
    """Return the path to write to, with links resolved, and the permissions of an existing file; None without one."""
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
    except FileNotFoundError:
        if os.path.basename(path) in ("", ".", ".."):
            raise
        return target, None
    if not stat.S_ISREG(status.st_mode):
        raise NotAFileError(f"the path is {_kind(status.st_mode)}, not a file. Give the path of a file.")
    return target, stat.S_IMODE(status.st_mode)


class OpenFile:
    """A regular file opened for reading, with its size; a context manager.

    Directories, pipes and devices are refused without waiting for them or reading from them. Messages call the content
    by ``noun``.
    """

    def __init__(self, path: str, noun: str = "model") -> None:
        self.path, self._noun = path, noun
        try:
            self._check(os.stat(path))
            # The file may have been replaced by a pipe since: O_NONBLOCK avoids waiting for a writer.
            self._file = os.fdopen(os.open(path, os.O_RDONLY | NONBLOCKING), "rb", buffering=0)
        except ModelFileError:
            raise
        except FileNotFoundError as error:
            near = similar_path(path)
            hint = f"Give the path of a saved {noun}." if near is None else f"Did you mean {short(near)}?"
            shown = without_password(path)
            raise ModelFileMissingError(f"There is no file {shown!r}. {hint}", file=shown) from error
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error
        try:
            status = os.fstat(self._file.fileno())
            self._check(status)
        except BaseException:
            self._file.close()
            raise
        self.size = status.st_size

    def _check(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(
                f"{self.path!r} is {_kind(status.st_mode)}, not a file. Give the path of a saved {self._noun}.",
                file=self.path,
            )

    def _unreadable(self, error: Exception) -> ModelFileError:
        return ModelFileError(f"The file {self.path!r} cannot be read: {reason(error)}.", file=self.path)

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytearray:
        """Return the next ``size`` bytes; fewer at the end of the file."""
        out = bytearray(size)
        view, done = memoryview(out), 0
        try:
            while done < size:
                count = self._file.readinto(view[done:])
                if not count:
                    break
                done += count
        except OSError as error:
            raise self._unreadable(error) from error
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
    return kinds.get(stat.S_IFMT(mode), "a special file")


def similar_path(path: str) -> str | None:
    """An existing path whose first part that is wrong is replaced by the most similar name in that folder."""
    folder, name = os.path.split(path.rstrip(os.sep))
    if os.path.isfile(folder):
        return folder
    if folder and not os.path.isdir(folder):
        near = similar_path(folder)
        whole = None if near is None else os.path.join(near, name)
        return whole if whole is not None and os.path.lexists(whole) else near
    try:
        near = similar_name(name, sorted(os.listdir(folder or os.curdir)))
    except OSError:
        return None
    return None if near is None else os.path.join(folder, near)


def reason(error: Exception) -> str:
    """Return the system's description of an error, in lower case and without a full stop."""
    described = error.strerror if isinstance(error, OSError) else None
    return (described or str(error)).rstrip(".").lower()
