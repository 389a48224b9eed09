"""Details of pages as HTML: where lines may break, and pictures that open in full size."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
CODE = re.compile(r'(?<=<span class="pre">)[^<]+')
BREAK = re.compile(r"(?<=[^\W_][_.])(?=[^\W\d_])|(?<=[(,=])(?=[\w\"'&])")
CLOSED_FORMULA = re.compile(r"(<math\b[^>]*>(?:(?!</math>).)*</math>)([.,;:!?)]+)", re.DOTALL)
PICTURE = re.compile(r'(?<=<p>)<img alt="[^"]*" src="([^"]+)" ?/>(?=</p>)')


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the changes."""
    app.connect("html-page-context", _change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _change(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if "body" not in context:
        return
    body = CELL.sub(lambda cell: CODE.sub(lambda code: BREAK.sub("<wbr>", code[0]), cell[0]), context["body"])
    body = CLOSED_FORMULA.sub(r'<span class="unbroken">\1\2</span>', body)
    context["body"] = PICTURE.sub(r'<a class="picture" href="\1">\g<0></a>', body)
