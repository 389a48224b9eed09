"""Receipts of the newest requests that had a key, so that a repeated request gets the receipt of the first one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from suffice.exceptions import ModelFileError
from suffice.model_file.container import Arrays, FileKind, read_container, write_container
from suffice.server.log.changes import Receipt
from suffice.server.problems import Problem

__all__ = ["MOST_KEYS", "Receipts", "StoredReceipts", "read_receipts", "write_receipts"]

MOST_KEYS = 100_000
KEYS = FileKind("list of request keys", "suffice-keys", "Restore the folder from a copy.")
FORMAT = 1


class Receipts:
    """Receipts by key; the oldest are forgotten when there are more than ``most``."""

    def __init__(self, most: int = MOST_KEYS, known: Iterable[tuple[str, bytes, Receipt]] = ()) -> None:
        self._most = most
        self._known = OrderedDict((each[0], each) for each in known)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, key: str, digest: bytes, receipt: Receipt) -> None:
        """Keep a receipt."""
        self._known[key] = key, digest, receipt
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def find(self, key: str, digest: bytes) -> Receipt | None:
        """The receipt of an earlier request; raises `Problem` if that had another body."""
        found = self._known.get(key)
        if found is None:
            return None
        check_same(key, found[1], digest)
        return replace(found[2], repeated=True)

    def all(self) -> list[tuple[str, bytes, Receipt]]:
        """All keys with their digests and receipts, the oldest first."""
        return list(self._known.values())


def check_same(key: str, known: bytes, digest: bytes) -> None:
    """Raise `Problem` if two requests with one key have other bodies."""
    if known != digest:
        raise Problem(
            409,
            f"The key {key!r:.80} belongs to an earlier request with another body. Give each request a key of its own, "
            "and repeat a key only to repeat the request.",
        )


@dataclass(frozen=True)
class StoredReceipts:
    """What a file of receipts holds: the sequence that it belongs to, the base of the model, and the receipts."""

    sequence: int
    base: str
    receipts: list[tuple[str, bytes, Receipt]]


def write_receipts(path: str, stored: StoredReceipts) -> None:
    """Write the file; raises `ModelFileError`."""
    keys = [key.encode() for key, _, _ in stored.receipts]
    digests = [digest for _, digest, _ in stored.receipts]
    receipts = [receipt for _, _, receipt in stored.receipts]
    arrays: Arrays = {
        "sequence": np.array([each.sequence for each in receipts], dtype=np.int64),
        "version": np.array([each.version for each in receipts], dtype=np.int64),
        "rows": np.array([each.rows for each in receipts], dtype=np.int64),
        "weight": np.array([each.weight for each in receipts], dtype=np.float64),
    }
    for name, texts in (("key", keys), ("digest", digests)):
        arrays[name] = np.frombuffer(b"".join(texts), dtype=np.uint8)
        arrays[f"{name}.ends"] = np.cumsum([len(each) for each in texts], dtype=np.int64)
    write_container(path, {"format": FORMAT, "sequence": stored.sequence, "base": stored.base}, arrays, KEYS)


def read_receipts(path: str) -> StoredReceipts:
    """Read the file; raises `ModelFileError`."""
    document, arrays = read_container(path, KEYS)
    try:
        sequence, base = document["sequence"], document["base"]
        keys = [each.decode() for each in _split(arrays["key"], arrays["key.ends"])]
        digests = _split(arrays["digest"], arrays["digest.ends"])
        columns = [arrays[name].tolist() for name in ("sequence", "rows", "version", "weight")]
        found = [Receipt(s, r, v, False, w) for s, r, v, w in zip(*columns, strict=True)]
        return StoredReceipts(sequence, base, list(zip(keys, digests, found, strict=True)))
    except (KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"The file {path!r} does not hold request keys. {KEYS.again}", file=path) from error


def _split(joined: np.ndarray, ends: np.ndarray) -> list[bytes]:
    content, at = joined.tobytes(), [0, *ends.tolist()]
    return [content[a:b] for a, b in pairwise(at)]
