"""The folder of a model that learns: it belongs to one server at a time, and to one model file."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time

from suffice.exceptions import ModelFileError
from suffice.model_file.disk import reason, sync_folder
from suffice.model_file.file_locks import NO_LINKS, try_lock, unlock
from suffice.server.log.journal import is_in_place

__all__ = ["StateFolder"]

LOCK = "lock"
ENDING = 2.0  # seconds that a server which was killed has to release its files


class StateFolder:
    """A folder that this process has locked; it is made if it does not exist.

    Parameters
    ----------
    path : str

    Raises
    ------
    ModelFileError
        If it cannot be used, or if another process uses it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.path = os.path.realpath(path)
        except ValueError as error:  # the path contains a NUL character
            raise self.unusable(error) from error
        try:
            self._make()
            self._descriptor = os.open(os.path.join(self.path, LOCK), os.O_RDWR | os.O_CREAT | NO_LINKS, 0o600)
        except OSError as error:
            raise self.unusable(error) from error
        try:
            self._lock()
        except BaseException:
            os.close(self._descriptor)
            raise

    def _make(self) -> None:
        try:
            os.mkdir(self.path, 0o700)  # the rows may be private
        except FileExistsError:
            mode = os.stat(self.path).st_mode
            if not stat.S_ISDIR(mode):
                raise ModelFileError(
                    f"{self.path!r} is not a folder, so what the model learns cannot be kept there. Give another "
                    "folder, or move the file away.",
                    file=self.path,
                ) from None
            if sys.platform != "win32" and mode & stat.S_IWOTH:
                raise ModelFileError(
                    f"Every user of this machine can write to the folder {self.path!r}, and so change what the model "
                    f"has learned. Run chmod o-w {self.path!r}.",
                    file=self.path,
                ) from None
        sync_folder(os.path.dirname(self.path))  # also if a server that made it was killed before it did this

    def _lock(self) -> None:
        try:
            locked = self._locked()
        except OSError as error:
            raise self.unusable(error) from error
        if not locked:
            other = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise ModelFileError(
                f"Another server (process {other}) learns in the folder {self.path!r}. Stop it, or serve a copy of the "
                "model file with a folder of its own.",
                file=self.path,
            )
        with contextlib.suppress(OSError):  # the number is for messages only
            os.pwrite(self._descriptor, f"{os.getpid():<20}".encode(), 0)

    def _locked(self) -> bool:
        """Lock the folder; a process that ends may hold it for a moment longer."""
        patience = time.monotonic() + ENDING
        while not try_lock(self._descriptor):
            if time.monotonic() >= patience:
                return False
            time.sleep(0.05)
        return True

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to the folder that is locked."""
        return is_in_place(os.path.join(self.path, LOCK), self._descriptor)

    def unusable(self, error: Exception) -> ModelFileError:
        """The error for a folder in which files cannot be made."""
        return ModelFileError(
            f"The folder {self.path!r}, which is to keep what the model learns, cannot be used: {reason(error)}. Give "
            "a folder on a disk with free space in which the server can make files.",
            file=self.path,
        )

    def release(self) -> None:
        """Let other processes use the folder."""
        unlock(self._descriptor)
        os.close(self._descriptor)
