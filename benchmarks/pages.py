"""Figures in pages of the documentation."""

import sys
from pathlib import Path

END = "<!-- end of figures -->"


def place(page: Path, script: str, text: str) -> None:
    """Insert the text between the markers of a page for the figures of a script."""
    begin = f"<!-- figures: benchmarks/{script} --markdown -->"
    before, begun, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(END)
    if not (begun and ended):
        sys.exit(f"{page} has no markers for figures; it needs the lines {begin} and {END}.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{END}{after}")
