"""Tables of query engines and clusters: which engine an object belongs to, and what every engine can do.

Each engine has one module, the only one that imports it, and only after the user has passed one of its objects.
"""

from __future__ import annotations

import contextlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from suffice.exceptions import InputError, at_start, did_you_mean, listed
from suffice.numerics.types import Array
from suffice.sources.engine_types import ArrowReader, ArrowSchema, ArrowTable, NativeFrame

__all__ = [
    "SAMPLE_SEED",
    "AnswerPart",
    "Answers",
    "EngineTable",
    "PartitionedTable",
    "StreamedTable",
    "SummarizePart",
    "check_names",
    "engine_table",
]

SAMPLE_SEED = 1_389_640_137
"""Seed of samples. Users draw data with the seed 0, and a sample of the same seed would depend on their values."""

MODULES = {
    "_duckdb": "duckdb",
    "duckdb": "duckdb",
    "polars": "polars",
    "ibis": "ibis",
    "pyspark": "spark",
    "dask": "dask",
    "distributed": "dask",
    "ray": "ray",
}
"""The module of this package for each package that defines tables."""


class EngineTable(ABC):
    """A table or query of an engine.

    Attributes
    ----------
    engine : str
        Name of the engine, as in "DuckDB".
    described : str
        The table in messages, as in "the DuckDB relation".
    names : list of str
        Names of the columns.
    native : object
        The table as the engine has it.
    is_elsewhere : bool
        Whether the rows are in another process or on other machines.
    positional : bool
        Whether it is an array, whose columns have positions instead of names.
    has_labels_apart : bool
        Whether the labels were given apart from the user's table.
    most_values : int or None
        Values of a row, with their products, up to which its aggregates are faster than another way; None if always.
    """

    engine: str
    described: str
    names: list[str]
    native: NativeFrame
    is_elsewhere: bool = False
    positional: bool = False
    has_labels_apart: bool = False
    most_values: int | None = None

    @abstractmethod
    def select(self, names: Sequence[str]) -> Self:
        """The table with these columns alone."""

    @abstractmethod
    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, in order; all rows if ``n_rows`` is None."""

    @abstractmethod
    def count(self) -> int:
        """The number of rows."""

    @abstractmethod
    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """About so many of all rows, drawn at random, the same ones each time if the engine allows it."""

    def errors(self) -> contextlib.AbstractContextManager[None]:
        """Turns errors of the engine into `InputError`, and stops its work if the call is interrupted."""
        return contextlib.nullcontext()

    @property
    def queried(self) -> NativeFrame | None:
        """The table in a form whose aggregates the engine can compute; None if it cannot."""
        return self.native

    @property
    def queried_names(self) -> list[str]:
        """The names of the columns there, in the order of ``names``."""
        return self.names


class StreamedTable(EngineTable):
    """A table whose rows come into this process as a stream."""

    @abstractmethod
    def stream(self) -> ArrowReader:
        """A new reader of all rows."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.stream().__arrow_c_stream__(requested_schema)


class SummarizePart(Protocol):
    """Summarises the rows of a partition where they are; the result is bytes."""

    def __call__(self, part: int | None, rows: object) -> bytes:
        """Summarise the rows of partition ``part``: an Arrow table or stream, or a function that reads one.

        The rows of an array may be a pandas frame.
        """


class AnswerPart(Protocol):
    """Answers a prediction method for rows of a partition where they are."""

    def __call__(self, rows: ArrowTable | NativeFrame) -> ArrowTable:
        """Answer for these rows: an Arrow table, or the pandas frame of an array."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to a prediction method for all rows of a table.

    Attributes
    ----------
    evaluate : AnswerPart
        Answers for some rows.
    schema : pyarrow.Schema
        The columns of an answer.
    labels : array of shape (K,)
        The classes.
    of_classes : bool
        Whether an answer has one number for each class.
    columns : list of str
        The columns of the table that the model can read.
    """

    evaluate: AnswerPart
    schema: ArrowSchema
    labels: Array
    of_classes: bool
    columns: list[str]


class PartitionedTable(EngineTable):
    """A table whose partitions are on several machines or in several processes.

    Functions that run there must be functions of a module, or partial applications of them to plain values.

    Attributes
    ----------
    keeps_columns : bool
        Whether answers are columns beside those of the table.
    """

    is_elsewhere = True
    keeps_columns: bool = True

    def with_labels(self, y: object, sample_weight: object) -> tuple[Self, str, str | None]:
        """The table with labels and weights that are not columns of it, and the names of these columns."""
        raise InputError(
            f"The labels and weights of {self.described} are columns of it. Give their names, such as y='label'.",
            argument="y",
        )

    def head_by_partition(self, n_rows: int | None) -> Iterator[tuple[int, ArrowTable]]:
        """The first rows with the numbers of their partitions, for errors; nothing if the engine cannot tell them."""
        return iter(())

    @abstractmethod
    def summaries(self, summarize: SummarizePart, merge: Callable[[Sequence[bytes]], bytes]) -> Iterator[bytes]:
        """Summarise each partition where it is, merge the results there in groups, and return those of few groups."""

    @abstractmethod
    def mapped(self, answers: Answers) -> NativeFrame:
        """A lazy table of the engine with the answers for all rows."""


def check_names(names: Sequence[str], available: Sequence[str], described: str) -> None:
    """Raise `InputError` if a name is not a column; the message suggests a similar name."""
    for name in names:
        if name not in available:
            hint = did_you_mean(name, available)
            raise InputError(
                f"{at_start(described)} has no column {name!r:.80}.{hint} It has {listed(available)}.",
                column=name,
            )


def engine_table(data: object) -> EngineTable | None:
    """The table of an engine that an object is; None for anything else."""
    kind = type(data)
    name = MODULES.get(kind.__module__.partition(".")[0])
    if name is None:
        return data if isinstance(data, EngineTable) else None
    found: EngineTable | None = importlib.import_module(f"suffice.sources.{name}").table_of(data)
    return found
