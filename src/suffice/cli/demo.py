"""``suffice demo``: the main job step by step, on real data, with the commands that do it."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from suffice.cli.command import command as _command
from suffice.cli.output import Page

__all__ = ["command"]

EXAMPLES = """
suffice demo
suffice demo demonstration
"""
TARGET, N_TRAIN = "grower", 120
FEW = 3  # lines that are shown of what has been seen before


@dataclass(frozen=True)
class Step:
    """A sentence, the commands it is about, and what is to be seen in the files that they made.

    What the commands in ``briefly`` print looks like what others have printed, and is cut short.
    """

    text: str
    lines: Sequence[str]
    briefly: Sequence[str] = ()
    seen: Callable[[], str] | None = None


@_command("demo", "See the main job, step by step.", EXAMPLES)
@click.argument("folder", required=False, type=click.Path())
def command(folder: str | None) -> None:
    """Fit, evaluate, explain, merge and compare on real data, showing each command and what it prints.

    The data are chemical analyses of 178 wines of three growers of one region in Italy (Forina and others, 1986), which
    come with scikit-learn. All files are made in FOLDER, which must be new or empty, to go on with; without it they are
    removed at the end.
    """
    page = Page()
    with _in_folder(folder):
        write_data()
        page.line("178 wines of three growers, each with 13 measures of its chemistry: whose wine is it?")
        page.line(
            f"train.csv has {N_TRAIN} of them, test.csv the others; half-1.csv and half-2.csv are train.csv in two."
        )
        for number, step in enumerate(steps(), 1):
            page.heading(f"{number}. {step.text}")
            for line in [*step.briefly, *step.lines]:
                page.heading(f"$ {line}")
                _run(line, briefly=line in step.briefly)
            if step.seen is not None:
                page.line()
                page.line(step.seen())
    page.heading("Next")
    if folder is None:
        page.line("suffice demo FOLDER keeps the files, to try the commands on.")
    else:
        page.line(
            f"The files are in {folder}: try suffice inspect {shlex.quote(os.path.join(folder, 'whole.suffice'))}"
        )
    page.line(
        "Your own data: suffice fit DATA --target COLUMN -o model.suffice (CSV, JSON lines, Parquet, Arrow, mails)."
    )
    page.line(
        "suffice --help lists all commands; README.md has the same in Python; docs/comparison.md who wins, and why."
    )


def steps() -> list[Step]:
    """The demonstration."""
    fit = f"suffice fit {{}} --target {TARGET} --model discriminant -o {{}}"
    drawn = f"suffice compare train.csv --target {TARGET} --sizes 12,24,48,96 --repeats 6"
    return [
        Step(
            "Fit a model in one pass: Gaussian discriminant analysis. Each row is then left out of it, and judged.",
            [fit.format("train.csv", "whole.suffice")],
        ),
        Step(
            "Evaluate it on rows that it has never seen.",
            [f"suffice evaluate whole.suffice test.csv --target {TARGET}"],
        ),
        Step(
            "Ask why: the log-odds of a row are a sum, with a part for each column.",
            ["suffice explain whole.suffice test.csv --row 0 --most 6"],
        ),
        Step(
            "Fit the halves apart, and merge the models: statistics add, so that the result is the model of all rows.",
            [
                "suffice merge half-1.suffice half-2.suffice -o merged.suffice",
                "suffice predict whole.suffice test.csv -o whole.csv --quiet",
                "suffice predict merged.suffice test.csv -o merged.csv --quiet",
            ],
            briefly=[fit.format(f"{half}.csv", f"{half}.suffice") for half in ("half-1", "half-2")],
            seen=_difference,
        ),
        Step(
            "Compare with logistic regression, the discriminative twin.",
            [f"{drawn} --plot curves.svg" if _draws() else drawn],
        ),
    ]


def write_data() -> None:
    """Write the data to the current folder, as CSV: shuffled, so that every part has all kinds of rows."""
    import numpy as np
    from sklearn.datasets import load_wine

    data = load_wine()
    order = np.random.default_rng(0).permutation(len(data.target))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    half = N_TRAIN // 2
    for name, rows in {"train": train, "test": test, "half-1": train[:half], "half-2": train[half:]}.items():
        with open(f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow([*data.feature_names, TARGET])
            out.writerows([*data.data[row].tolist(), f"grower {data.target[row] + 1}"] for row in rows)


def _run(line: str, *, briefly: bool) -> None:
    """Run a line in this process, as the shell would; its end is the demonstration's, if it fails."""
    from suffice.cli.group import suffice

    _, *words = shlex.split(line)
    with contextlib.redirect_stdout(io.StringIO()) if briefly else contextlib.nullcontext() as printed:
        suffice.main(words, prog_name="suffice", standalone_mode=False)
    if printed is not None:
        click.echo("\n".join([*printed.getvalue().splitlines()[:FEW], "…"]))


def _difference() -> str:
    """The largest difference between the probabilities of the two models."""
    largest = 0.0
    with open("whole.csv", newline="", encoding="utf-8") as a, open("merged.csv", newline="", encoding="utf-8") as b:
        for here, there in zip(csv.DictReader(a), csv.DictReader(b), strict=True):
            same = [abs(float(here[name]) - float(there[name])) for name in here if name.startswith("p(")]
            largest = max(largest, *same)
    return f"Largest difference of any probability between whole.csv and merged.csv: {largest:.1g}"


def _draws() -> bool:
    """Whether there is Matplotlib to draw with."""
    import importlib.util

    return importlib.util.find_spec("matplotlib") is not None


@contextlib.contextmanager
def _in_folder(folder: str | None) -> Iterator[Any]:
    """Work in a folder that is new or empty, or in one that is removed at the end."""
    from suffice.exceptions import InputError

    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="suffice-demo-")) if folder is None else folder
        if folder is not None:
            try:
                os.makedirs(folder, exist_ok=True)
                there = os.listdir(folder)
            except OSError as error:
                raise InputError(f"Nothing can be written to {folder!r}: {str(error.strerror).lower()}.") from None
            if there:
                raise InputError(f"The folder {folder!r} is not empty; give a new one to the demonstration.")
        stack.enter_context(contextlib.chdir(place))
        yield
