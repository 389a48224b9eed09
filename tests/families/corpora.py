"""Small random corpora, and posteriors to compare."""

import numpy as np


def corpus(rng, n=200, n_words=40, n_classes=3, longest=15, missing=0.0):
    """Documents of random words with class codes; words are drawn from shares of each class."""
    words = np.array([f"w{i:02}" for i in range(n_words)])
    share = rng.dirichlet(np.full(n_words, 0.4), n_classes)
    codes = rng.integers(0, n_classes, n)
    docs = [" ".join(rng.choice(words, rng.integers(0, longest), p=share[k])) for k in codes]
    return [None if rng.random() < missing else each for each in docs], codes


def relative(scores):
    """Scores of each row against its largest; −1e6 for −∞, and all 0 where no class is possible."""
    most = scores.max(axis=1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    return np.where(np.isfinite(scores), scores - most, -1e6)
