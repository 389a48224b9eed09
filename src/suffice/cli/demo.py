"""``suffice demo``: the main commands step by step, on real data."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import click

from suffice.cli.command import command as _command
from suffice.cli.output import Page

__all__ = ["command"]

EXAMPLES = """
suffice demo
suffice demo demonstration
"""
TARGET, N_TRAIN = "grower", 120
REPORT = "report.html"
N_SHORT_LINES = 3  # lines of an output that is cut short


@dataclass(frozen=True)
class Step:
    """A step of the demonstration.

    Attributes
    ----------
    text : str
        What the step does.
    lines : sequence of str
        The commands.
    short_lines : sequence of str
        Commands that run first. Their output, of which earlier steps have examples, is cut short.
    conclusion : callable, optional
        Returns a sentence about the files that the commands wrote.
    """

    text: str
    lines: Sequence[str]
    short_lines: Sequence[str] = ()
    conclusion: Callable[[], str] | None = None


@_command("demo", "Show the main commands step by step.", EXAMPLES)
@click.argument("folder", required=False, type=click.Path())
def command(folder: str | None) -> None:
    """Fit, evaluate, explain, merge, report and compare models of real data, showing each command and its output.

    The data are chemical analyses of 178 wines of three growers in one region of Italy (Forina et al., 1986), which
    come with scikit-learn. The files are written to FOLDER, which must be new or empty. Without FOLDER they are removed
    at the end.
    """
    page = Page()
    with _working_folder(folder):
        write_data()
        page.line("178 wines of three growers, with 13 chemical measurements each. Who grew a wine?")
        page.line(
            f"train.csv has {N_TRAIN} wines and test.csv the others; half-1.csv and half-2.csv are the halves of "
            "train.csv."
        )
        for number, step in enumerate(steps(), 1):
            page.heading(f"{number}. {step.text}")
            for line in [*step.short_lines, *step.lines]:
                page.heading(f"$ {line}")
                _run(line, short=line in step.short_lines)
            if step.conclusion is not None:
                page.line()
                page.line(step.conclusion())
    page.heading("Next steps")
    if folder is None:
        page.line("Keep the files and try the commands: suffice demo FOLDER")
    else:
        page.line(
            f"The files are in {folder}. Try: suffice inspect {shlex.quote(os.path.join(folder, 'whole.suffice'))}"
        )
        if os.path.exists(os.path.join(folder, REPORT)):
            page.line(f"Open the report in a browser: {os.path.join(folder, REPORT)}")
    page.line("Use your own data (CSV, JSON lines, Parquet, Arrow, mails): suffice fit DATA --target COLUMN -o FILE")
    page.line("List all commands: suffice --help")
    page.line("Do the same in Python: README.md. Read which model wins when: docs/comparison.md.")


def steps() -> list[Step]:
    """The steps of the demonstration."""
    fit = f"suffice fit {{}} --target {TARGET} --model discriminant -o {{}}"
    compare = f"suffice compare train.csv --target {TARGET} --sizes 12,24,48,96 --repeats 6"
    return [
        Step(
            "Fit Gaussian discriminant analysis in one pass. Each row is scored by the model of all other rows.",
            [fit.format("train.csv", "whole.suffice")],
        ),
        Step(
            "Evaluate the model on rows that it has not seen.",
            [f"suffice evaluate whole.suffice test.csv --target {TARGET}"],
        ),
        Step(
            "Explain a prediction: the log-odds of a row are a sum with a part for each column.",
            ["suffice explain whole.suffice test.csv --row 0 --most 6"],
        ),
        Step(
            "Fit each half and merge the models. Statistics add, so the result is the model of all rows.",
            [
                "suffice merge half-1.suffice half-2.suffice -o merged.suffice",
                "suffice predict whole.suffice test.csv -o whole.csv --quiet",
                "suffice predict merged.suffice test.csv -o merged.csv --quiet",
            ],
            short_lines=[fit.format(f"{half}.csv", f"{half}.suffice") for half in ("half-1", "half-2")],
            conclusion=_largest_difference,
        ),
        Step(
            "Test what the model assumes, and write a report with a form to try rows in.",
            [
                f"suffice inspect whole.suffice train.csv --target {TARGET} --assumptions",
                *([f"suffice report whole.suffice train.csv -o {REPORT}"] if _has("jinja2") else []),
            ],
        ),
        Step(
            "Compare with logistic regression.",
            [f"{compare} --plot curves.svg" if _has("matplotlib") else compare],
        ),
    ]


def write_data() -> None:
    """Write the data to the current folder as CSV, shuffled so that every file has rows of all classes."""
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


def _run(line: str, *, short: bool) -> None:
    """Run a command line in this process. If it fails, the demonstration ends with its error."""
    from suffice.cli.group import suffice

    _, *words = shlex.split(line)
    with contextlib.redirect_stdout(io.StringIO()) if short else contextlib.nullcontext() as printed:
        suffice.main(words, prog_name="suffice", standalone_mode=False)
    if printed is not None:
        click.echo("\n".join([*printed.getvalue().splitlines()[:N_SHORT_LINES], "…"]))


def _largest_difference() -> str:
    """Compare the probabilities of the two models."""
    largest = 0.0
    with open("whole.csv", newline="", encoding="utf-8") as a, open("merged.csv", newline="", encoding="utf-8") as b:
        for whole, merged in zip(csv.DictReader(a), csv.DictReader(b), strict=True):
            differences = [abs(float(whole[name]) - float(merged[name])) for name in whole if name.startswith("p(")]
            largest = max(largest, *differences)
    return f"Largest difference between the probabilities in whole.csv and merged.csv: {largest:.1g}"


def _has(package: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(package) is not None


@contextlib.contextmanager
def _working_folder(folder: str | None) -> Iterator[None]:
    """Work in a folder that is new or empty, or in a temporary one."""
    from suffice.exceptions import InputError

    with contextlib.ExitStack() as stack:
        if folder is None:
            path = stack.enter_context(tempfile.TemporaryDirectory(prefix="suffice-demo-"))
        else:
            path = folder
            try:
                os.makedirs(folder, exist_ok=True)
                files = os.listdir(folder)
            except OSError as error:
                raise InputError(f"Cannot write to {folder!r}: {str(error.strerror).lower()}.", file=folder) from None
            if files:
                raise InputError(f"The folder {folder!r} is not empty. Choose a new one.", file=folder)
        stack.enter_context(contextlib.chdir(path))
        yield
