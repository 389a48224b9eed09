"""The reference shows the members that this library defines; those of scikit-learn have pages of their own."""

from __future__ import annotations

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the rule."""
    app.connect("autodoc-skip-member", _skipped)
    return {"parallel_read_safe": True}


def _skipped(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    function = getattr(member, "fget", None) or getattr(member, "func", member)  # of a property, or a cached one
    module = getattr(function, "__module__", None)
    return True if isinstance(module, str) and not module.startswith("suffice") else None
