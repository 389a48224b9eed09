"""Formulas as MathML, which browsers draw themselves: no script, no font, nothing to fetch."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

LETTERS = re.compile(r'(?:<mi mathvariant="normal">\w</mi>){2,}')
LETTER = re.compile(r">(\w)</mi>")
FUNCTION = re.compile(r"<mi>(log|exp)</mi>(?=(<(?:mrow><)?mo [^>]*>&#x00028;)?)")
BAR = '<mo stretchy="false">&#x0007C;</mo>'
THIN = "0.1667em"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_typeset(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{_typeset(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def _typeset(formula: str, display: str) -> str:
    """Convert a formula, with the spaces that TeX sets around functions, relations and bars."""
    text = convert(formula, display=display)
    text = text.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")  # a relation, not an accent
    text = text.replace(BAR, BAR.replace(">", ' lspace="0" rspace="0">', 1))  # they enclose; they do not relate
    text = LETTERS.sub(lambda found: f'<mi mathvariant="normal">{"".join(LETTER.findall(found[0]))}</mi>', text)
    return FUNCTION.sub(_function, text)


def _function(found: re.Match[str]) -> str:
    """The name of a function as an operator, with a space before its argument unless a bracket encloses that."""
    after = "0" if found[2] else THIN
    return f'<mo form="prefix" lspace="{THIN}" rspace="{after}">{found[1]}</mo>'
