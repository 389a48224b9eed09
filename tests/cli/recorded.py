"""Runs that are recorded in documents: lines after ``$`` in fenced blocks of the language ``console``.

``python tests/cli/recorded.py docs/command.md`` runs them in an empty folder and writes what they print below them.
"""

import contextlib
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A line of the shell, perhaps with others that go on with it, and what it prints."""

    command: str
    expected: str


def steps_of(block: str) -> list[Step]:
    """The steps of a block."""
    steps: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:], ""))
        elif line.startswith("> ") and not steps[-1].expected:
            steps[-1] = Step(f"{steps[-1].command}\n{line[2:]}", "")
        else:
            steps[-1] = Step(steps[-1].command, f"{steps[-1].expected}{line}\n")
    return steps


def matches(expected: str, printed: str) -> bool:
    """Whether that was printed; ``...`` stands for anything."""
    return re.fullmatch(".*?".join(map(re.escape, expected.split("..."))), printed, re.DOTALL) is not None


def printed_by(command: str, folder: Path) -> str:
    """What a step prints, errors among the rest."""
    from cli.made import run, shell, words_of

    words = words_of(command)
    if words is not None:  # without the second that a process takes
        with contextlib.chdir(folder):
            return run(*words).output
    return shell(f"exec 2>&1\n{command}", folder).stdout


def record(path: Path) -> None:
    """Write what the steps of a document print in their places; what still matches stays."""
    with tempfile.TemporaryDirectory() as folder:

        def again(found: re.Match[str]) -> str:
            lines = []
            for step in steps_of(found[1]):
                printed = printed_by(step.command, Path(folder))
                first, *more = step.command.splitlines()
                kept = step.expected if step.expected and matches(step.expected, printed) else printed
                lines += [f"$ {first}\n", *(f"> {line}\n" for line in more), kept]
            return f"```console\n{''.join(lines)}```"

        path.write_text(BLOCK.sub(again, path.read_text()))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    for name in sys.argv[1:]:
        record(Path(name))
