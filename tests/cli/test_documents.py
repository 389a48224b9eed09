"""The command prints what the documents show."""

from pathlib import Path

import pytest

from cli.recorded import BLOCK, Session, matches, steps_of

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if BLOCK.search(path.read_text())
]


def test_there_are_some():
    assert ROOT / "docs" / "command.md" in DOCUMENTS


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_recorded_runs(path, tmp_path):
    with Session(tmp_path) as session:
        for found in BLOCK.finditer(path.read_text()):
            for step in steps_of(found[1]):
                printed = session.printed_by(step.command)
                assert matches(step.expected, printed), f"$ {step.command}\n{printed}"
