"""Locks of open files. The operating system releases a lock when its holder ends, however it ends."""

from __future__ import annotations

import errno
import os
import sys

__all__ = ["NO_LINKS", "is_current", "try_lock", "unlock"]

BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)


def is_current(path: str, descriptor: int) -> bool:
    """Whether the path still leads to the open file. An open file keeps its inode, so the inode is not reused."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def try_lock(descriptor: int) -> bool:
    """Lock an open file unless another process or thread has locked it; return whether this succeeded."""
    try:
        _lock(descriptor)
    except OSError as error:
        if error.errno in BUSY:
            return False
        raise
    return True


if sys.platform == "win32":
    import msvcrt

    NO_LINKS = 0

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def unlock(descriptor: int) -> None:
        """Release the lock of a file."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    NO_LINKS = os.O_NOFOLLOW  # a link planted there must not make this process create a file elsewhere

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(descriptor: int) -> None:
        """Release the lock of a file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
