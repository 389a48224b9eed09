"""Models of large files, compared with the engine alone and with pandas and scikit-learn.

    python benchmarks/files.py FOLDER [--rows 10000000] [--csv-rows 2000000] [--rounds 3] [--only parquet|csv]

Creates FOLDER/big.parquet and FOLDER/big.csv (20 columns of numbers and a label of three classes) unless they exist.
Each job runs in its own process, in turns, with the file in the page cache. The table shows the best time without the
start of Python and imports, the time of the whole process, and the peak resident memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

COLUMNS = [f"x{j}" for j in range(20)]
LABELS = ["low", "middle", "high"]
ROW_GROUP = 1_000_000


# ---------------------------------------------------------------------- the files


def make(folder: Path, rows: int, csv_rows: int) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    if not (folder / "big.parquet").exists():
        with pyarrow.parquet.ParquetWriter(folder / "big.parquet", table(rng, 1).schema) as writer:
            for start in range(0, rows, ROW_GROUP):
                writer.write_table(table(rng, min(ROW_GROUP, rows - start)))
    if not (folder / "big.csv").exists():
        with pyarrow.csv.CSVWriter(folder / "big.csv", table(rng, 1).schema) as writer:
            for start in range(0, csv_rows, ROW_GROUP):
                writer.write_table(table(rng, min(ROW_GROUP, csv_rows - start)))


def table(rng, n):
    import pyarrow

    codes = rng.integers(0, len(LABELS), n)
    numbers = {name: rng.normal(codes * (j % 3) * 0.3, 1 + j % 4) for j, name in enumerate(COLUMNS)}
    labels = pyarrow.DictionaryArray.from_arrays(codes.astype(np.int32), LABELS).cast(pyarrow.string())
    return pyarrow.table({**numbers, "label": labels})


# ---------------------------------------------------------------------- the jobs, each in its own process


def read_parquet(path):
    import pyarrow.parquet

    def run():
        file = pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        return sum(batch.num_rows for batch in file.iter_batches(1 << 17))

    return run


def read_csv_stream(path):
    import pyarrow.csv

    return lambda: sum(batch.num_rows for batch in pyarrow.csv.open_csv(path))


def read_csv_whole(path):
    import pyarrow.csv

    return lambda: pyarrow.csv.read_csv(path).num_rows


def read_and_write(path):
    """The minimum work of a prediction: read all rows and write a table of the shape of the predictions."""
    import pyarrow
    import pyarrow.parquet

    from suffice.sources.files import open_source

    def run():
        rng, rows = np.random.default_rng(0), 0
        schema = pyarrow.schema([("label", pyarrow.string()), *((f"p{k}", pyarrow.float64()) for k in range(4))])
        answers = pyarrow.table({"label": ["middle"] * (1 << 17), **{f"p{k}": rng.random(1 << 17) for k in range(4)}})
        with pyarrow.parquet.ParquetWriter(f"{path}.copy", schema, use_dictionary=["label"]) as writer:
            for batch in open_source(path).batches():
                rows += len(batch)
                writer.write_table(answers.slice(0, len(batch)))
        return rows

    return run


def our_source(path):
    from suffice.sources.files import open_source

    return lambda: sum(len(batch) for batch in open_source(path).batches())


def our_fit(path, model="NaiveBayes", validate=True):
    import suffice.api

    made = getattr(suffice, model)()
    return lambda: suffice.fit(path, target="label", model=made, validate=validate).report_.n_rows


def our_command(*arguments):
    import suffice.api  # noqa: F401
    from suffice.cli import main

    def run():
        sys.argv[:] = ["suffice", *arguments]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"suffice {' '.join(arguments)} ended with {end.code}") from end
        return 0

    return run


def peer(path, *, predict=False):
    import pandas
    from sklearn.naive_bayes import GaussianNB

    def run():
        frame = pandas.read_parquet(path) if path.endswith(".parquet") else pandas.read_csv(path)
        X, y = frame.drop(columns="label"), frame["label"]
        model = GaussianNB().fit(X, y)
        if predict:
            answers = pandas.DataFrame(model.predict_proba(X), columns=[f"p({label})" for label in model.classes_])
            answers.insert(0, "label", model.predict(X))
            answers.to_parquet(f"{path}.peer") if path.endswith(".parquet") else answers.to_csv(f"{path}.peer")
        return len(frame)

    return run


def jobs(path: str) -> dict[str, object]:
    parquet, model = path.endswith(".parquet"), f"{path}.suffice"
    out = f"{path}.answers.{'parquet' if parquet else 'csv'}"
    engine = {"PyArrow reads it": read_parquet}
    if not parquet:
        engine = {"PyArrow reads it, open_csv": read_csv_stream, "PyArrow reads it, read_csv": read_csv_whole}
    return {
        **{name: lambda job=job: job(path) for name, job in engine.items()},
        "suffice reads it": lambda: our_source(path),
        "suffice.fit, NaiveBayes": lambda: our_fit(path, validate=False),
        "suffice.fit, NaiveBayes, with scores": lambda: our_fit(path),
        "suffice.fit, GaussianDiscriminant": lambda: our_fit(path, "GaussianDiscriminant", validate=False),
        "suffice.fit, GaussianDiscriminant, with scores": lambda: our_fit(path, "GaussianDiscriminant"),
        "suffice fit (the command)": lambda: our_command(
            "fit", path, "--target", "label", "--model", "naive-bayes", "-o", model
        ),
        "suffice reads it and writes a table like the predictions": lambda: read_and_write(path),
        "suffice predict (the command)": lambda: our_command("predict", model, path, "-o", out),
        "pandas + scikit-learn, fit": lambda: peer(path),
        "pandas + scikit-learn, fit and predict": lambda: peer(path, predict=True),
    }


def child(path: str, name: str) -> None:
    run = jobs(path)[name]()
    began = time.perf_counter()
    run()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak": peak}))


# ---------------------------------------------------------------------- the table


def measured(path: str, rounds: int) -> None:
    runs_of: dict[str, list[dict[str, float]]] = {}
    for _ in range(rounds):
        for name in jobs(path):
            began = time.perf_counter()
            done = subprocess.run([sys.executable, __file__, "--child", path, name], capture_output=True, text=True)
            whole = time.perf_counter() - began
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
            runs_of.setdefault(name, []).append({"whole": whole, **json.loads(done.stdout.splitlines()[-1])})
    best = {name: min(each["seconds"] for each in runs) for name, runs in runs_of.items()}
    base = min(seconds for name, seconds in best.items() if name.startswith("PyArrow"))
    print(f"\n{path}: {os.path.getsize(path) / 1e6:,.0f} MB; best of {rounds}\n")
    print("| job | seconds | relative to the engine alone | whole process | peak memory |\n|---|---|---|---|---|")
    for name, runs in runs_of.items():
        whole, peak = min(each["whole"] for each in runs), max(each["peak"] for each in runs)
        print(f"| {name} | {best[name]:.2f} | {best[name] / base:.2f}× | {whole:.2f} s | {peak:,.0f} MB |", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--csv-rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["parquet", "csv"])
    asked = parser.parse_args()
    make(asked.folder, asked.rows, asked.csv_rows)
    for kind in ("parquet", "csv"):
        if asked.only in (None, kind):
            measured(str(asked.folder / f"big.{kind}"), asked.rounds)


if __name__ == "__main__":
    main()
