"""Make the pictures of the pages: run a page's commands, and save its figure where the page shows a picture.

The figure is the newest of the names ``figure`` and ``display`` (its attribute ``figure_``).

python docs/images/make.py [PAGE or PICTURE ...]
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1]
PICTURE = re.compile(r"!\[[^]]*\]\((?:\.\./)?images/(\w+)\.png\)")
MADE_ELSEWHERE = {
    **dict.fromkeys(("report", "monitoring"), "make_report.py"),
    **dict.fromkeys(("serve_predict", "serve_file", "serve_teach", "serve_drift", "serve_phone"), "make_server.py"),
}
DPI = 150


def pictures_by_page() -> dict[Path, list[str]]:
    """The pictures that each page shows and makes, in their order; the first page of the site only shows some."""
    return {
        page: names
        for page in sorted(DOCS.rglob("*.md"))
        if (names := [name for name in PICTURE.findall(page.read_text(encoding="utf-8")) if name not in MADE_ELSEWHERE])
        and page.name != "index.md"
    }


def figures_of(page: Path) -> dict[str, object]:
    """The Matplotlib figures of a page by the names of its pictures."""
    known: dict[str, object] = {}
    figures: dict[str, object] = {}
    newest: object = None
    for piece in doctest.DocTestParser().parse(page.read_text(encoding="utf-8")):
        if isinstance(piece, str):
            figures |= dict.fromkeys(PICTURE.findall(piece), newest)
            continue
        before = known.get("figure"), known.get("display")
        if not piece.exc_msg:
            exec(compile(piece.source, str(page), "single"), known)
        if known.get("figure") is not before[0]:
            newest = known["figure"]
        elif known.get("display") is not before[1]:
            newest = known["display"].figure_  # type: ignore[attr-defined]
    return figures


def make(wanted: list[str]) -> None:
    """Make the named pictures, those of the named pages, or all."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from PIL import Image

    mpl.use("Agg")
    for page, names in pictures_by_page().items():
        chosen = [name for name in names if not wanted or name in wanted or page.stem in wanted]
        if not chosen:
            continue
        figures = figures_of(page)
        for name in chosen:
            path = Path(__file__).with_name(f"{name}.png")
            figures[name].savefig(path, dpi=DPI)  # type: ignore[attr-defined]
            Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
        plt.close("all")


if __name__ == "__main__":
    make(sys.argv[1:])
