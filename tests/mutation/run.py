"""Change the source in small ways, one at a time, and see whether the nearest tests notice.

    make mutate                                  # mutants of the files that differ from the last commit
    make mutate ARGS="--since main~5"            # ... from an older one
    make mutate ARGS="--sample 150 --seed 16"    # a sample over the whole package
    make mutate ARGS="--at src/suffice/bayes.py:40 --tests tests/package/test_bayes.py"

The first run records which test calls which function (`build/mutation`), as long as a run of all tests; `--record`
does so again. A mutant is caught by a failing test, an import that fails, or a run that takes far too long. Its tests
are the examples of its file and those that call its function: of these, the ones of the mirror folder first, then the
most specific, for about SECONDS seconds.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.machinery
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from functools import cache
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "mutation"), str(ROOT / "tests"), str(ROOT / "tests" / "support")]

from mutants import Mutant, mutants, mutated  # noqa: E402

PACKAGE = ROOT / "src" / "suffice"
RECORD = ROOT / "build" / "mutation"
SECONDS = 12.0
FEWEST, MOST = 8, 150
PATIENCE = 20.0
# Tests of processes, memory, threads and documents: they take long and call everything.
SLOW = (
    *("estimators/test_threads.py", "estimators/test_memory.py", "estimators/test_resources.py"),
    *("cli/test_documents.py", "cli/test_stopping.py", "cli/test_updates.py", "cli/test_demo.py"),
    *("model_file/test_damage.py", "model_file/test_saving.py", "comparison/test_claims.py", "fuzz"),
)
LIBRARIES = (
    *("narwhals", "pandas", "pyarrow.csv", "pyarrow.parquet", "pytest", "scipy.stats"),
    *("sklearn.discriminant_analysis", "sklearn.naive_bayes", "sklearn.utils.estimator_checks"),
)
# By the exit status of pytest. 2, 4: an import fails; 5: there are no tests; -1: no end.
OUTCOMES = {-1: "caught", 0: "survived", 1: "caught", 2: "caught", 4: "caught", 5: "untested"}


def main() -> int:
    arguments = _arguments()
    os.chdir(ROOT)
    os.environ["CI"] = "1"
    RECORD.mkdir(parents=True, exist_ok=True)
    if arguments.record or (not arguments.tests and not list(RECORD.glob("called-*.json"))):
        record()
    tests = {test: (60.0, []) for test in arguments.tests} if arguments.tests else _recorded()
    if arguments.at:
        chosen = [mutant for place in arguments.at for mutant in at(place)]
    else:
        chosen = sample(arguments.sample, arguments.seed) if arguments.sample else changed(arguments.since)
    part, parts = arguments.part
    chosen = chosen[part::parts]
    nearest = {mutant: arguments.tests or nearest_tests(mutant, tests) for mutant in chosen}
    _import_libraries()
    results = []
    for number, mutant in enumerate(chosen, start=1):
        outcome = run(mutant, nearest[mutant], tests)
        results.append((mutant, outcome))
        print(f"{number:4d}/{len(chosen)} {outcome:9s} {_place(mutant)}", flush=True)
    print(report(results))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="so many mutants over the whole package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="only part I of N of the mutants")
    parser.add_argument("--at", action="append", help="the mutants of a line, FILE:LINE")
    parser.add_argument("--tests", nargs="+", help="run these tests instead of the nearest")
    parser.add_argument("--since", default="HEAD", help="mutants of the files that differ from this commit")
    parser.add_argument("--record", action="store_true", help="record again which test calls which function")
    return parser.parse_args()


def record() -> None:
    """Run all tests once and write which functions each of them calls."""
    for old in RECORD.glob("called-*.json"):
        old.unlink()
    environment = {**os.environ, "SUFFICE_CALLED": str(RECORD), "PYTHONPATH": str(ROOT / "tests" / "mutation")}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-p", "called"]
    command += [f"--ignore=tests/{name}" for name in SLOW]
    subprocess.run(command, env=environment, cwd=ROOT, check=False)


def _recorded() -> dict[str, tuple[float, list[str]]]:
    tests = {}
    for file in sorted(RECORD.glob("called-*.json")):
        tests.update(json.loads(file.read_text()))
    return tests


def sample(count: int, seed: int) -> list[Mutant]:
    """A sample of all mutants of the package. A change of the source replaces only the mutants of the changed lines."""
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    drawn = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for mutant in mutants(path):
            name = (str(path.relative_to(PACKAGE)), mutant.function, mutant.before, mutant.after)
            seen[name] += 1
            drawn.append((blake2b(repr((seed, *name, seen[name])).encode()).digest(), mutant))
    chosen = [mutant for _, mutant in sorted(drawn, key=lambda each: each[0])[:count]]
    return sorted(chosen, key=lambda mutant: (mutant.path, mutant.place))


def changed(since: str) -> list[Mutant]:
    """All mutants of the files of the package that differ from a commit."""
    listed = subprocess.run(
        ["git", "diff", "--name-only", "--diff-filter=d", since, "--", "src/suffice/*.py"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [mutant for name in listed.stdout.split() for mutant in mutants(ROOT / name)]


def at(place: str) -> list[Mutant]:
    """The mutants of one line."""
    name, line = place.rsplit(":", 1)
    return [mutant for mutant in mutants(ROOT / name) if mutant.line == int(line)]


def nearest_tests(mutant: Mutant, tests: dict[str, tuple[float, list[str]]]) -> list[str]:
    """The tests that call the function of a mutant, the nearest first, for about `SECONDS`."""
    name = str(mutant.path.relative_to(PACKAGE))
    first = _function_line(mutant)
    called = _callers(name, first, tests)
    mirror = f"tests/{name.rsplit('/', 1)[0]}/" if "/" in name else "tests/package/"
    called.sort(key=lambda test: (not test.startswith(mirror), len(tests[test][1]) * (0.05 + tests[test][0])))
    chosen, seconds = [], 0.0
    for test in called:
        if len(chosen) >= MOST or (seconds > SECONDS and len(chosen) >= FEWEST):
            break
        if tests[test][0] < SECONDS:
            chosen.append(test)
            seconds += tests[test][0] + 0.01
    return chosen


def _callers(name: str, first: int | None, tests: dict[str, tuple[float, list[str]]]) -> list[str]:
    if first is not None:
        return [test for test, (_, functions) in tests.items() if f"{name}:{first}" in functions]
    return [test for test, (_, functions) in tests.items() if any(each.startswith(f"{name}:") for each in functions)]


def _function_line(mutant: Mutant) -> int | None:
    """First line of the innermost function around a mutant, as its code object has it; None: code of the module."""
    line = None
    for node in ast.walk(ast.parse(mutant.path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.lineno <= mutant.line <= (node.end_lineno or 0):
            start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            line = start if line is None else max(line, start)
    return line


def _import_libraries() -> None:
    """Import what the tests import, but not the package, so that each fork starts from here."""
    for name in LIBRARIES:
        importlib.import_module(name)


def run(mutant: Mutant, chosen: list[str], tests: dict[str, tuple[float, list[str]]]) -> str:
    """Run the chosen tests with the change. A test that fails without it as well does not count."""
    while True:
        limit = PATIENCE + 8 * sum(tests[test][0] for test in chosen)
        status = _forked(chosen, limit, mutant)
        if status not in OUTCOMES and status > 0:
            raise RuntimeError(f"pytest cannot run the tests of {mutant}; see {_output(mutant)}")
        failed = _failed(_output(mutant)) if status == 1 else []
        unsound = [test for test in failed if not _passes(test)]
        if not unsound:
            return OUTCOMES.get(status, "caught")
        chosen = [test for test in chosen if test not in unsound]


@cache
def _passes(test: str) -> bool:
    return _forked([test], 600.0, None) == 0


def _failed(output: Path) -> list[str]:
    lines = output.read_text().splitlines()
    return [line.split(" - ")[0].split(" ", 1)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]


def _output(mutant: Mutant | None, process: int | None = None) -> Path:
    return RECORD / f"{'without' if mutant is None else 'with'}-{process or os.getpid()}.txt"


def _forked(chosen: list[str], limit: float, mutant: Mutant | None) -> int:
    """Exit status of pytest in a forked process; -1: it took longer than the limit."""
    child = os.fork()
    if not child:
        try:
            status = _in_child(chosen, mutant)
        except Exception:  # the changed file cannot be imported
            status = 2
        os._exit(status)
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def _in_child(chosen: list[str], mutant: Mutant | None) -> int:
    os.setpgid(0, 0)
    output = os.open(_output(mutant, os.getppid()), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if mutant is not None:
        _install(mutant)
        # Before pytest, which compiles the files on its command line by itself.
        importlib.import_module(".".join(mutant.path.relative_to(PACKAGE.parent).with_suffix("").parts))
    import pytest

    examples = [] if mutant is None else [str(mutant.path)]
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-rfE", "--doctest-modules"]
    return int(pytest.main([*options, *examples, *chosen]))


def _install(mutant: Mutant) -> None:
    """Let imports of the mutant's file give the changed code."""
    code = compile(mutated(mutant), str(mutant.path), "exec")
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        return code if self.path == str(mutant.path) else original(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code


@cache
def _package(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "suffice"


def _place(mutant: Mutant) -> str:
    return str(mutant).replace(f"{ROOT}/", "")


def report(results: list[tuple[Mutant, str]]) -> str:
    """A table by package, and the mutants that survived."""
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for mutant, outcome in results:
        for key in (_package(mutant.path), "all"):
            table[key][0] += outcome == "caught"
            table[key][1] += 1
    lines = ["", f"{'package':24s} caught of"]
    lines += [f"{key:24s} {caught:6d} {total:4d}  {caught / total:4.0%}" for key, (caught, total) in table.items()]
    others = [f"  {outcome}: {_place(mutant)}" for mutant, outcome in results if outcome != "caught"]
    lines += ["", "not caught:", *others]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
