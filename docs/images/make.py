"""Make the pictures of docs/plotting.md: run its commands, and save ``display.figure_`` where the page shows a picture.

python docs/images/make.py [NAME ...]
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "plotting.md"
PICTURE = re.compile(r"!\[[^]]*\]\(images/(\w+)\.png\)")
DPI = 90


def make(names: list[str]) -> None:
    """Make the named pictures, or all."""
    import matplotlib as mpl
    from PIL import Image

    mpl.use("Agg")
    known: dict[str, object] = {}
    for piece in doctest.DocTestParser().parse(PAGE.read_text(encoding="utf-8")):
        if isinstance(piece, doctest.Example):
            exec(compile(piece.source, str(PAGE), "single"), known)
            continue
        for name in PICTURE.findall(piece):
            if not names or name in names:
                figure = known["display"].figure_  # type: ignore[attr-defined]
                path = Path(__file__).with_name(f"{name}.png")
                figure.savefig(path, dpi=DPI)
                Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
                print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    make(sys.argv[1:])
