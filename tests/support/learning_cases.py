"""Models that learn while they are served, and rows for them."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes, loads
from suffice.naive_bayes import GaussianNB

__all__ = ["LEARNING", "Case", "base_of", "case_of"]

FITTED = 300  # rows that the model has learned before


@dataclass
class Case:
    """A fitted model, as it was read from its file, and rows that it has not learned."""

    model: object
    rows: pa.Table
    labels: np.ndarray


def _rows(n):
    rng = np.random.default_rng(5)
    labels = rng.choice(["ham", "spam", "other"], n)
    k = np.searchsorted(["ham", "other", "spam"], labels)
    missing = rng.random(n) < 0.1
    mixed = {
        "size": rng.normal(k, 1),
        "share": pa.array(rng.exponential(1 + k), mask=missing),
        "colour": pa.array([f"c{each}" for each in rng.integers(0, 30, n)]).dictionary_encode(),
        "count": rng.poisson(1 + k),
        "zip": rng.integers(0, 5, n),
        "known": rng.random(n) < 0.2 + 0.2 * k,
    }
    numbers = {f"x{j}": rng.normal(k * 0.3, 1 + j) for j in range(4)}
    words = np.array([f"word{i}" for i in range(300)])
    texts = {"text": [" ".join(words[rng.zipf(1.5, 8) % 300]) for _ in range(n)]}
    return labels, {"mixed": pa.table(mixed), "numbers": pa.table(numbers), "texts": pa.table(texts)}


LEARNING = {
    "mixed": ("mixed", lambda: NaiveBayes({"count": "poisson", "zip": "categorical"})),
    "numbers": ("numbers", NaiveBayes),
    "histogram": ("numbers", lambda: NaiveBayes("histogram")),
    "shared covariance": ("numbers", GaussianDiscriminant),
    "own covariances": ("numbers", lambda: GaussianDiscriminant("own")),
    "averaged dependence": ("mixed", AveragedDependence),
    "ensemble": ("mixed", GenerativeEnsemble),
    "texts": ("texts", TextNaiveBayes),
    "drop-in": ("numbers", GaussianNB),
}


def case_of(name, n=60, *, positional=False):
    """A model of the first rows, and ``n`` further rows; ``positional``: a model of arrays, which knows no names."""
    table, make = LEARNING[name]
    labels, tables = _rows(FITTED + n)
    rows, model = tables[table], make()
    if positional:
        model.fit(np.column_stack(rows.slice(0, FITTED).columns), labels[:FITTED])
    else:
        source = rows.append_column("label", pa.array(labels)).slice(0, FITTED)
        model.fit(source.to_reader(), "label")
    return Case(loads(model.to_bytes()), rows.slice(FITTED), labels[FITTED:])


def base_of(model):
    """The digest of the model file."""
    return hashlib.sha256(model.to_bytes()).hexdigest()
