"""The modules of a page as one script: a page of one file cannot import others.

Each module becomes a function that returns its exports, in the order in which modules import each other.
"""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["asset", "bundle"]

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)
HEAD = '"use strict";\n'


def asset(name: str) -> str:
    """The text of a file of assets."""
    return files("suffice.report").joinpath("assets", name).read_text(encoding="utf-8")


def bundle(main: str) -> str:
    """A module and all modules that it imports, as one script.

    >>> script = bundle("page.js")
    >>> "import {" in script, script.count('"use strict"')
    (False, 1)
    """
    order: list[str] = []
    _visit(main, order)
    return HEAD + "".join(_wrapped(name) for name in order)


def _visit(name: str, order: list[str]) -> None:
    """Append a module to the order, after those that it imports."""
    for _, other in IMPORT.findall(asset(name)):
        if other not in order:
            _visit(other, order)
    order.append(name)


def _wrapped(name: str) -> str:
    text = asset(name)
    exports = EXPORT.findall(text)
    text = IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_variable(found[2])};", text)
    return f"const {_variable(name)} = (() => {{\n{EXPORT.sub('', text)}\nreturn {{ {', '.join(exports)} }};\n}})();\n"


def _variable(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))
