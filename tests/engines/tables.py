"""The mixed table that every engine is tested with."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

LABELS = ("disputed", "no", "yes")
COLUMNS = ("amount", "rating", "visits", "country", "channel", "express", "ordered", "comment")
"""The columns to learn from; ``weight`` and ``returned`` are the weights and the label."""
COUNTRIES = ("at", "de", "fr", "us")
CHANNELS = ("phone", "shop", "web")
WORDS = ("late", "broken", "fits", "great", "small", "money", "back", "thanks", "colour", "wrong", "again", "the")
WORDS_OF_A_COMMENT = 6


def mixed_table(n: int = 2_000, seed: int = 0) -> pa.Table:
    """Orders with numbers, integers, categories, yes/no, times and texts; about a tenth of some cells is missing.

    Columns: ``amount`` and ``rating`` (double, with nulls), ``visits`` (int64), ``country`` (text, with nulls),
    ``channel`` (text), ``express`` (bool, with nulls), ``ordered`` (timestamp of microseconds, without a zone, with
    nulls), ``comment`` (text of six words), ``weight`` (double, above 0) and ``returned`` (text, the label). Every
    column says something about the label. ``mixed_table(n, seed).to_pandas()`` is the same table in pandas.
    """
    rng = np.random.default_rng(seed)
    label = rng.choice(len(LABELS), n, p=(0.04, 0.7, 0.26))

    def levels(names, *shares):
        """A column of names, drawn with the shares of the class of each row."""
        ends = np.cumsum(np.array(shares), axis=1)[label]
        return pa.array(names).take(pa.array((rng.random(n)[:, None] > ends[:, :-1]).sum(axis=1)))

    def holes(array):
        return pc.if_else(pa.array(rng.random(n) < 0.1), None, array)

    days = rng.integers(0, 700, n) + 30 * label
    seconds = days * 86_400 + rng.integers(0, 86_400, n)
    weights = np.ones((len(LABELS), len(WORDS)))
    weights[0, :4], weights[1, 2:8], weights[2, 4:11] = 4, 3, 2.5
    words = [levels(WORDS, *(weights / weights.sum(axis=1, keepdims=True)).tolist()) for _ in range(WORDS_OF_A_COMMENT)]
    return pa.table(
        {
            "amount": holes(pa.array(rng.lognormal(3 + 0.5 * label, 0.8))),
            "rating": holes(pa.array(rng.normal(3 - 0.6 * label, 1.0))),
            "visits": pa.array(rng.poisson(2 + label), pa.int64()),
            "country": holes(levels(COUNTRIES, (0.1, 0.4, 0.2, 0.3), (0.2, 0.4, 0.3, 0.1), (0.1, 0.2, 0.2, 0.5))),
            "channel": levels(CHANNELS, (0.6, 0.2, 0.2), (0.2, 0.3, 0.5), (0.2, 0.2, 0.6)),
            "express": holes(pa.array(rng.random(n) < np.array([0.8, 0.3, 0.5])[label])),
            "ordered": holes(pa.array((1_500_000_000 + seconds) * 1_000_000, pa.timestamp("us"))),
            "comment": pc.binary_join_element_wise(*words, " "),
            "weight": pa.array(rng.integers(1, 9, n) / 4),
            "returned": pa.array(LABELS).take(pa.array(label)),
        }
    )
