"""Code without the blank line at its end, which keeps doctest from reading a closing fence as output."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the change."""
    app.connect("doctree-read", _stripped)
    return {"parallel_read_safe": True}


def _stripped(app: Sphinx, doctree: nodes.document) -> None:
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.rawsource.rstrip("\n")
        block.children = [nodes.Text(block.astext().rstrip("\n"))]
