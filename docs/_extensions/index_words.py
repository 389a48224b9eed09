"""Entries of the index for words that readers search for and pages do not use, from ``index_words`` of conf.py."""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.logging import getLogger

LOGGER = getLogger(__name__)


class IndexWords(SphinxTransform):
    """Adds the entries of a page, which lead to its title and come first among the results of a search."""

    default_priority = 840  # before domains collect the entries

    def apply(self) -> None:
        """Add the entries of this page."""
        section = next(self.document.findall(nodes.section), None)
        words = self.config.index_words.get(self.env.docname, [])
        if section is None or not words:
            return
        entries = [("single", word, section["ids"][0], "main", None) for word in words]
        section.insert(1, addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the setting."""
    app.add_config_value("index_words", {}, "env", types=[dict])
    app.add_transform(IndexWords)
    app.connect("env-check-consistency", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _check(app: Sphinx, env: BuildEnvironment) -> None:
    for page in set(app.config.index_words) - env.found_docs:
        LOGGER.warning("index_words names the page %r, which does not exist.", page)
