"""Snapshots of a model that learns: the folder has the newest one, and the logs of what was learned since.

    snapshot-<sequence>.keys      receipts of the newest requests with keys
    snapshot-<sequence>.suffice   the model after the change of this number, a model file like any other
    log-<sequence>                changes from this number on

A snapshot consists of its model file: it is written last, so a snapshot without it was never finished.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass

from suffice.exceptions import ModelFileError
from suffice.learning.fitted import Fitted
from suffice.model_file import model_bytes, read_model
from suffice.model_file.disk import write_whole
from suffice.server.log.receipts import StoredReceipts, read_receipts, write_receipts

__all__ = ["Contents", "Snapshot", "keys_path", "log_path", "model_path", "read_snapshot", "write_snapshot"]

NAME = re.compile(r"(?:log-(\d{20})|snapshot-(\d{20})\.(keys|suffice))")


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that was read."""

    fitted: Fitted
    stored: StoredReceipts


@dataclass(frozen=True)
class Contents:
    """The files of a folder, by the number of their first change, or of the last change of a snapshot, in order."""

    logs: tuple[int, ...]
    models: tuple[int, ...]
    keys: tuple[int, ...]

    @classmethod
    def of(cls, folder: str) -> Contents:
        """List a folder; raises `OSError`."""
        found: dict[str, list[int]] = {"log": [], "suffice": [], "keys": []}
        for name in sorted(os.listdir(folder)):
            match = NAME.fullmatch(name)
            if match is not None:
                found[match[3] or "log"].append(int(match[1] or match[2]))
        return cls(tuple(found["log"]), tuple(found["suffice"]), tuple(found["keys"]))


def log_path(folder: str, first: int) -> str:
    """The log whose first change has this number."""
    return os.path.join(folder, f"log-{first:020d}")


def model_path(folder: str, sequence: int) -> str:
    """The model file of a snapshot."""
    return os.path.join(folder, f"snapshot-{sequence:020d}.suffice")


def keys_path(folder: str, sequence: int) -> str:
    """The receipts of a snapshot."""
    return os.path.join(folder, f"snapshot-{sequence:020d}.keys")


def write_snapshot(folder: str, fitted: Fitted, stored: StoredReceipts) -> None:
    """Write a snapshot, and remove older ones and the logs before it; raises `ModelFileError`."""
    content = model_bytes(fitted)
    write_receipts(keys_path(folder, stored.sequence), stored)
    write_whole(model_path(folder, stored.sequence), content)
    remove_older(folder, stored.sequence)


def remove_older(folder: str, sequence: int) -> None:
    """Remove what the snapshot of this number replaces; files that cannot be removed now are removed later."""
    with contextlib.suppress(OSError):
        contents = Contents.of(folder)
        later = [first for first in contents.logs if first > sequence]
        gone = [log_path(folder, first) for first in contents.logs if later and first <= sequence]
        gone += [model_path(folder, each) for each in contents.models if each < sequence]
        gone += [keys_path(folder, each) for each in contents.keys if each != sequence]
        for path in gone:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def read_snapshot(folder: str, sequence: int) -> Snapshot:
    """Read a snapshot; raises `ModelFileError`."""
    path = keys_path(folder, sequence)
    stored = read_receipts(path)
    if stored.sequence != sequence:
        raise ModelFileError(
            f"The file {path!r} belongs to snapshot {stored.sequence}. Restore the folder from a copy.", file=path
        )
    return Snapshot(read_model(model_path(folder, sequence)), stored)
