"""The reference: members that this library defines, links to names that a package exports, and pages to read next."""

from __future__ import annotations

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import suffice


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the rules."""
    app.connect("autodoc-skip-member", _skipped)
    app.connect("missing-reference", _exported)
    app.connect("autodoc-process-docstring", _with_pages, priority=900)  # after numpydoc
    app.add_config_value("read_more", {}, "env", types=[dict])
    return {"parallel_read_safe": True}


def _skipped(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    function = getattr(member, "fget", None) or getattr(member, "func", member)  # of a property, or a cached one
    module = getattr(function, "__module__", None)
    return True if isinstance(module, str) and not module.startswith("suffice") else None


def _exported(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Link ``suffice.InputError`` to the page of ``suffice.exceptions.InputError``."""
    package, _, name = node.get("reftarget", "").rpartition(".")
    home = getattr(getattr(suffice, name, None), "__module__", None) if package == "suffice" else None
    if home is None:
        return None
    python = env.domains.python_domain
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", f"{home}.{name}", node, content)


def _with_pages(app: Sphinx, what: str, name: str, documented: object, options: object, lines: list[str]) -> None:
    """Name the pages that explain a class or function at the end of its docstring."""
    if what in ("class", "function") and name in app.config.read_more:
        pages = ", ".join(f":doc:`/{page}`" for page in app.config.read_more[name])
        lines += ["", ".. rubric:: Read more", "", pages, ""]
