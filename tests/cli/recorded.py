"""Command runs recorded in documents: lines after ``$`` in fenced blocks of the language ``console``.

``python tests/cli/recorded.py docs/command.md`` runs them in an empty folder and updates their output in the document.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

SECONDS = re.compile(r"rows in \d+\.\d+ s")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A shell command, perhaps of several lines, and its output."""

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
    """Whether the output is as expected; ``...`` matches any text."""
    return re.fullmatch(".*?".join(map(re.escape, expected.split("..."))), printed, re.DOTALL) is not None


def printed_by(command: str, folder: Path) -> str:
    """The output of a command, including standard error.

    ``suffice`` runs in this process, which is faster than starting one, also at one place of a pipeline. What is before
    it and after it, and all other commands, are left to the shell.
    """
    from cli.made import run, shell, words_of

    before, line, after = _parts(command)
    words = words_of(line)
    if words is None:
        return shell(f"exec 2>&1\n{command}", folder).stdout
    given = shell(before, folder).stdout if before else None
    with contextlib.chdir(folder):
        result = run(*words, stdin=given)
    return result.stderr + shell(after, folder, input=result.stdout).stdout if after else result.output


class Session:
    """Runs the commands of a document in a folder.

    ``suffice serve`` starts a server at a free port, which the next one, or the end of the session, stops. The output
    and other commands see the port of the document.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server: subprocess.Popen[str] | None = None
        self._shown = self._real = ":8000"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def printed_by(self, command: str) -> str:
        """The output of a command, including standard error."""
        words = shlex.split(command.replace("\\\n", "")) if command.startswith("suffice serve ") else []
        if words and "--help" not in words:
            return self._serve(words[2:])
        return self._as_shown(printed_by(command.replace(self._shown, self._real), self.folder))

    def _as_shown(self, text: str) -> str:
        return text.replace(self._real, self._shown)

    def _serve(self, words: list[str]) -> str:
        self._stop()
        if "--port" in words:
            at = words.index("--port")
            self._shown = f":{words[at + 1]}"
            del words[at : at + 2]
        self._server = subprocess.Popen(
            [sys.executable, "-m", "suffice", "serve", *words, "--port", "0"],
            cwd=self.folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._server.stdout is not None
        lines = []
        for line in self._server.stdout:
            lines.append(line)
            if found := re.match(r"listening on .*(:\d+)$", line):
                self._real = found[1]
                break
        return self._as_shown("".join(lines))

    def _stop(self) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            try:
                self._server.communicate(timeout=30)
            finally:
                self._server.kill()
            self._server = None


def _parts(command: str) -> tuple[str, str, str]:
    """What is before ``suffice`` in a pipeline, its own line, and what is after it."""
    before, _, line = command.rpartition(" | suffice ")
    line = f"suffice {line}" if before else command
    line, bar, after = line.partition(" | ")
    to_file = re.fullmatch(r"(.*) > (\S+)", line)
    if to_file and not bar:
        return before, to_file[1], f"cat > {to_file[2]}"
    return before, line, after


def record(path: Path) -> None:
    """Update the outputs in a document; an output that still matches is kept."""
    with tempfile.TemporaryDirectory() as folder, Session(Path(folder)) as session:

        def again(found: re.Match[str]) -> str:
            lines = []
            for step in steps_of(found[1]):
                printed = SECONDS.sub("rows in ... s", session.printed_by(step.command))
                first, *more = step.command.splitlines()
                kept = step.expected if step.expected and matches(step.expected, printed) else printed
                lines += [f"$ {first}\n", *(f"> {line}\n" for line in more), kept]
            return f"```console\n{''.join(lines)}```"

        path.write_text(BLOCK.sub(again, path.read_text()))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    for name in sys.argv[1:]:
        record(Path(name))
