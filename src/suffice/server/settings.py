"""Settings of the server: limits that protect it, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Access", "Limits", "Settings", "Verb"]

Access = Literal["open", "read", "learn"]
"""What an address needs: nothing, or a token of the scope read or learn."""

Verb = Literal["predicted", "explained", "scored", "sampled", "learned", "unlearned"]
"""What was done with rows."""

KILO, MEGA, GIGA = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True)
class Limits:
    """The most that one client may ask for.

    Attributes
    ----------
    body : int
        Bytes of a request body, after it is decompressed.
    document : int
        Bytes of a body that is read whole: JSON, a text, a mail, or rows to learn.
    rows, cells : int
        Of one request.
    columns : int
        Columns of one request that the model does not read.
    explained, sampled : int
        Rows that one request may have explained or drawn.
    large : int
        Bodies that are read at once if they are tables, compressed, or larger than a megabyte. Each of them, and what
        is made of it, may be in memory.
    head : int
        Bytes of the request line and the headers.
    connections : int
        Open connections. Beyond it, the one that has been idle longest is closed.
    requests : int
        Requests that are answered at once.
    head_seconds : float
        Time for a client to send the head of a request.
    idle_seconds : float
        Time between two pieces of a body, or two requests of a connection, and for a client to read a piece of an
        answer.
    request_seconds : float
        Time to answer one request.
    """

    body: int = 4 * GIGA
    document: int = 64 * MEGA
    rows: int = 20_000_000
    cells: int = 1_000_000_000
    columns: int = 10_000
    explained: int = 1_000
    sampled: int = 100_000
    large: int = 32
    head: int = 16 * KILO
    connections: int = 2_000
    requests: int = 1_000
    head_seconds: float = 10.0
    idle_seconds: float = 30.0
    request_seconds: float = 600.0


@dataclass(frozen=True)
class Settings:
    """What the server may do.

    Attributes
    ----------
    learn : bool
        Whether clients may change the models.
    new_classes : bool
        Whether a learned row may have a class that the model does not know.
    host_names : tuple of str
        Names by which clients reach the server, besides those of the loopback interface.
    window_seconds : float
        Length of the windows in which rows are watched for drift.
    level : float
        Probability of a false alarm that the watching of a model may have.
    limits : Limits
    """

    learn: bool = False
    new_classes: bool = False
    host_names: tuple[str, ...] = ()
    window_seconds: float = 3600.0
    level: float = 0.05
    limits: Limits = field(default_factory=Limits)
