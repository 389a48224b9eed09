"""Costs of models of partitions, measured on the functions of workers: bytes, time of a row, and time of a merge."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

import suffice
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.engines.summary import Summary
from suffice.sources.engine_tables import Answers, PartitionedTable, SummarizePart

CLASSES = 3
PARTITIONS = 64
CATEGORIES = {f"c{j}": "categorical" for j in range(8)}
WORDS_OF_A_TEXT, DICTIONARY = 50, 200_000


@dataclass(frozen=True)
class Cost:
    """The costs of a model of partitions.

    Attributes
    ----------
    name : str
    row_bytes : float
        Size of a row in Arrow.
    sent, summary : int
        Bytes that a worker gets, and that it returns.
    row_seconds, merge_seconds, driver_seconds : float
        Time to summarise a row of a large partition on one core, to merge two summaries on a worker, from bytes to
        bytes, and to take one into the model on the driver.
    """

    name: str
    row_bytes: float
    sent: int
    summary: int
    row_seconds: float
    merge_seconds: float
    driver_seconds: float


class LocalPartitions(PartitionedTable):
    """Partitions in this process, for which the functions of workers are called and timed."""

    engine = "this process"
    described = "the partitions"

    def __init__(self, parts: Sequence[pa.Table]) -> None:
        self.parts, self.names, self.native = parts, parts[0].column_names, None
        self.log: dict[str, float] = {}

    def select(self, names):
        out = LocalPartitions([part.select(names) for part in self.parts])
        out.log = self.log
        return out

    def head(self, n_rows):
        return pa.concat_tables(self.parts).slice(0, n_rows)

    def count(self) -> int:
        return sum(part.num_rows for part in self.parts)

    def sample(self, n_rows, of_rows):
        return pa.concat_tables(self.parts).take(np.random.default_rng(0).choice(of_rows, n_rows, replace=False))

    @property
    def queried(self) -> None:
        return None

    def summaries(self, summarize: SummarizePart, merge: Callable[[Sequence[bytes]], bytes]) -> Iterator[bytes]:
        found = [summarize(part, rows) for part, rows in enumerate(self.parts)]
        large = pa.concat_tables(self.parts)
        begun = time.perf_counter()
        summarize(0, large)
        self.log["summarise"] = time.perf_counter() - begun
        begun = time.perf_counter()
        whole = merge(found)
        self.log["merge"] = (time.perf_counter() - begun) / len(found)
        begun = time.perf_counter()
        Summary.from_bytes(found[0]).merge(Summary.from_bytes(found[1]))
        self.log["driver"] = (time.perf_counter() - begun) / 2
        self.log["bytes"] = len(whole)
        self.log["sent"] = len(merge.keywords["prototype"].content)
        yield whole

    def mapped(self, answers: Answers) -> None:
        raise NotImplementedError("The benchmark predicts nothing.")


def costs() -> list[Cost]:
    """The costs of each kind of model."""
    return [
        cost("naive Bayes, 20 numbers", NaiveBayes(), partial(numbers, 20), 20_000),
        cost("naive Bayes, 10 numbers, 8 categories, 2 yes/no", NaiveBayes(CATEGORIES), mixed, 20_000),
        cost("shared covariance, 20 numbers", GaussianDiscriminant(), partial(numbers, 20), 20_000),
        cost("own covariances, 200 numbers", GaussianDiscriminant("own"), partial(numbers, 200), 4_000),
        cost("averaged dependence, 20 numbers", AveragedDependence(), partial(numbers, 20), 20_000),
        cost("ensemble, 20 numbers", GenerativeEnsemble(), partial(numbers, 20), 20_000),
        cost("text, all words", TextNaiveBayes(max_words=None), texts, 4_000),
        cost("text, 2²⁰ slots", TextNaiveBayes(max_words=None, slots=2**20), texts, 4_000),
    ]


def cost(name: str, model, rows: Callable[[int, int], pa.Table], n: int) -> Cost:
    """Fit a model to partitions of n rows."""
    parts = [rows(part, n) for part in range(PARTITIONS)]
    table = LocalPartitions(parts)
    suffice.fit(table, "y", model=model, validate=False)
    log = table.log
    found = Cost(
        name,
        sum(column.nbytes for column in parts[0].columns) / n,
        int(log["sent"]),
        int(log["bytes"]),
        log["summarise"] / (n * PARTITIONS),
        log["merge"],
        log["driver"],
    )
    print(found, flush=True)
    return found


def numbers(d: int, part: int, n: int) -> pa.Table:
    rng = np.random.default_rng(part)
    y = rng.integers(0, CLASSES, n)
    X = rng.standard_normal((d, n)) + 0.3 * (np.arange(d) % 3)[:, None] * y
    return pa.table({f"x{j}": column for j, column in enumerate(X)} | {"y": y})


def mixed(part: int, n: int) -> pa.Table:
    """Ten numbers, eight categories of 4 to 512 levels and two yes/no columns; a tenth of the cells is missing."""
    rng = np.random.default_rng(part)
    own = numbers(10, part, n)
    for j in range(8):
        levels = pa.array([f"level {i}" for i in range(2 ** (j + 2))])
        own = own.append_column(
            f"c{j}", levels.take(pa.array(rng.integers(0, len(levels), n), mask=rng.random(n) < 0.1))
        )
    for j in range(2):
        own = own.append_column(f"b{j}", pa.array(rng.random(n) < 0.3, mask=rng.random(n) < 0.1))
    return own


def texts(part: int, n: int) -> pa.Table:
    """Texts of 50 words that are drawn by Zipf's law from 200,000."""
    rng = np.random.default_rng(part)
    shares = np.cumsum(1 / np.arange(1, DICTIONARY + 1))
    words = np.searchsorted(shares / shares[-1], rng.random((n, WORDS_OF_A_TEXT)))
    rows = [" ".join(f"w{word:x}" for word in row) for row in words.tolist()]
    return pa.table({"text": rows, "y": rng.integers(0, 2, n)})
