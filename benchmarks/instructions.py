"""Count the instructions of the main jobs under valgrind, and compare them with stored counts.

    python benchmarks/instructions.py              compare; fail if a count is more than 2 % above the stored one
    python benchmarks/instructions.py --write      store the counts

Counts do not depend on the load of the machine, so they reveal a slower kernel where a clock would not. They depend on
the compiler, on Python and on the libraries: their versions are stored too, and if they differ the counts are only
shown. Each job has two counts: instructions in the compiled kernels (with the mathematics of the C library), and all
instructions. Those of Python vary a little from run to run, so the second may grow by 5 %.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

STORED = Path(__file__).with_name("instructions.json")
TOLERANCE = {"kernels": 0.02, "all": 0.05}
KERNELS = ("_core.", "libm.so", "libm-", "libmvec")
MARK = "getppid"  # a call of this function ends the counts of one job and starts those of the next

SCRIPT = f"""
import os, sys, warnings
sys.path.insert(0, {str(Path(__file__).parent)!r})
warnings.simplefilter("ignore")
import data
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

JOBS = [
    ("GaussianNB", GaussianNB(), data.numbers(20_000)),
    ("LinearDiscriminantAnalysis", LinearDiscriminantAnalysis(), data.numbers(20_000)),
    ("QuadraticDiscriminantAnalysis", QuadraticDiscriminantAnalysis(), data.numbers(20_000)),
    ("BernoulliNB", BernoulliNB(), data.answers(20_000)),
    ("MultinomialNB", MultinomialNB(), data.counts(20_000)),
    ("CategoricalNB", CategoricalNB(), data.categories(20_000)),
    ("MultinomialNB, CSR", MultinomialNB(), data.words(2_000)),
    ("BernoulliNB, CSR", BernoulliNB(), data.words(2_000)),
    ("GaussianNB, iris", GaussianNB(), data.iris()),
    ("LinearDiscriminantAnalysis, iris", LinearDiscriminantAnalysis(), data.iris()),
]
names = []
for name, model, (X, y) in JOBS:
    model.fit(X, y), model.predict_proba(X)  # one-time initialisation is not counted
    for verb, run in (("fit", lambda: model.fit(X, y)), ("predict_proba", lambda: model.predict_proba(X))):
        os.{MARK}()
        run()
        os.{MARK}()
        names.append(f"{{name}}, {{verb}}")
print("\\n".join(names))
"""


def count() -> dict[str, dict[str, int]]:
    """Return the instruction counts of each job."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        command = ["valgrind", "--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={out}", "--quiet"]
        # Valgrind does not support AVX-512; one thread and a fixed hash seed make counts repeatable.
        fixed = {"SUFFICE_INSTRUCTION_SET": "avx2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment = os.environ | fixed | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run([*command, sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"valgrind failed:\n{run.stderr[-3000:]}")
        # Dumps are numbered: odd ones end before a job, even ones end after it.
        dumps = sorted(Path(folder).glob("counts.*"), key=lambda path: int(path.suffix[1:]))
        names = run.stdout.splitlines()
        return {name: _sums(dumps[2 * i + 1]) for i, name in enumerate(names)}


def _sums(dump: Path) -> dict[str, int]:
    """Return the instructions in the kernels, and all instructions."""
    objects: dict[str, str] = {}
    cost: Counter[str] = Counter()
    here, called = "", False
    for line in dump.read_text().splitlines():
        if line.startswith("ob="):
            number, _, name = line[3:].partition(" ")
            here = objects.setdefault(number, name)
        elif line.startswith("calls="):
            called = True  # the next line is the cost of the called function, which is counted there
        elif line.startswith("cob="):
            number, _, name = line[4:].partition(" ")
            objects.setdefault(number, name)
        elif line and (line[0] in "+-*" or line[0].isdigit()):
            if not called:
                cost[here] += int(line.split()[1])
            called = False
    kernels = sum(n for name, n in cost.items() if any(part in Path(name).name for part in KERNELS))
    return {"kernels": kernels, "all": sum(cost.values())}


def versions() -> dict[str, str]:
    """Versions that the counts depend on."""
    import numpy
    import scipy
    import sklearn

    compiler = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    libraries = {"numpy": numpy.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
    return {"machine": platform.machine(), "c++": compiler, "python": platform.python_version(), **libraries}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the counts")
    write = parser.parse_args().write
    if shutil.which("valgrind") is None:
        print("valgrind is not installed, so no instructions were counted or compared.")
        return
    current, counted = versions(), count()
    if write:
        STORED.write_text(json.dumps({"versions": current, "instructions": counted}, indent=1) + "\n")
    stored = json.loads(STORED.read_text())
    comparable = stored["versions"] == current
    worse = []
    print(f"{'millions of instructions':46} {'kernels':>10} {'stored':>10} {'all':>10} {'stored':>10}")
    for job, counts in counted.items():
        before = stored["instructions"].get(job)
        cells = []
        for kind, tolerance in TOLERANCE.items():
            old = before[kind] if before else None
            cells.append(f"{counts[kind] / 1e6:10.2f} {'–' if old is None else f'{old / 1e6:.2f}':>10}")
            if old is not None and counts[kind] > old * (1 + tolerance):
                worse.append(f"{job}: {counts[kind] / max(old, 1) - 1:+.1%} ({kind})")
        print(f"{job:46} {' '.join(cells)}")
    if not comparable:
        print(f"\nNot compared: counted with {current}, stored with {stored['versions']}.")
    elif worse:
        sys.exit("\nMore instructions than stored:\n" + "\n".join(worse))


if __name__ == "__main__":
    main()
