"""Filters that learn from a stream.

    python benchmarks/streams.py DATA            DATA has lingspam/bare.jsonl.gz

The mails of Ling-Spam come in batches of 100: each batch is predicted before it is learned, and the final counts equal
those of one fit. Then a million documents, with new words in every batch, are hashed to 2²⁰ slots to show the resident
memory.
"""

import sys
import time
from pathlib import Path

import numpy as np

from filters import rows_of
from suffice import TextNaiveBayes

BATCH = 100


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    judge_then_learn(rows_of(folder / "lingspam" / "bare.jsonl.gz"))
    endless()


def judge_then_learn(rows):
    X, y = [row["text"] for row in rows], np.array([row["label"] for row in rows])
    model, right, begun = TextNaiveBayes(max_words=None, binary=True, smoothing=0.1), [], time.perf_counter()
    for start in range(0, len(X), BATCH):
        part, labels = X[start : start + BATCH], y[start : start + BATCH]
        if start:
            right += (model.predict(part) == labels).tolist()
        model.partial_fit(part, labels, classes=["ham", "spam"])
    seconds = time.perf_counter() - begun
    shown = ", ".join(f"{len(part)} mails {np.mean(part):.2%}" for part in np.array_split(np.array(right), 5))
    print(f"Ling-Spam in batches of {BATCH}: {np.mean(right):.2%} right before learning ({shown}); {seconds:.1f} s")
    whole = TextNaiveBayes(max_words=None, binary=True, smoothing=0.1).fit(X, y)
    same = (
        whole.vocabulary_ == model.vocabulary_
        and np.array_equal(whole.word_count_, model.word_count_)
        and np.array_equal(whole.document_count_, model.document_count_)
        and np.array_equal(whole.class_count_, model.class_count_)
    )
    print(f"  {len(whole.vocabulary_):,} words; counts equal those of one fit: {same}", flush=True)


def endless(n=1_000_000, batch=1000):
    rng = np.random.default_rng(0)
    model, begun = TextNaiveBayes(slots=2**20, max_words=None), time.perf_counter()
    for start in range(0, n, batch):
        # Half of the words are new in every batch.
        words = np.where(rng.random((batch, 20)) < 0.5, rng.integers(0, 5000, (batch, 20)), start * 20 + np.arange(20))
        texts = [" ".join(f"w{each:x}" for each in row) for row in words.tolist()]
        model.partial_fit(texts, rng.integers(0, 2, batch), classes=[0, 1])
        if (start + batch) % 100_000 == 0:
            resident = float(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1024
            print(
                f"{start + batch:,} documents: {resident:.0f} MB resident, {time.perf_counter() - begun:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
