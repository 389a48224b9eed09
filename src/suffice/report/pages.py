"""What pages of one HTML file share: the templates, the texts of cells, and the content security policy.

A page has a policy that allows its own style and script, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from suffice.exceptions import InputError, counted
from suffice.formats import digits_of, number_text, percent_text, shortened
from suffice.report.summary import Cell, Table

if TYPE_CHECKING:
    import jinja2

__all__ = ["environment", "policy", "short"]

LONGEST_NAME = 60  # characters of a name in a heading or legend


@cache
def environment(package: str = "suffice.report") -> jinja2.Environment:
    """The templates of a package, which can use those of reports. Raises `InputError` without Jinja2."""
    try:
        import jinja2
    except ImportError:
        raise InputError("A report needs Jinja2: pip install 'suffice[report]'.") from None
    packages = dict.fromkeys((package, "suffice.report"))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(each) for each in packages]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    filters: dict[str, Any] = {
        "cell": _cell,
        "counted": counted,
        "digits": number_text,
        "percent": percent_text,
        "short": short,
        "texts": _columns_of_texts,
    }
    environment.filters.update(filters)
    return environment


def policy(css: str, script: str | None = None) -> str:
    """A content security policy that allows one style, perhaps one script, and no request."""
    of_script = f"script-src {_source(script)}; " if script is not None else ""
    return (
        f"default-src 'none'; {of_script}style-src {_source(css)}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def short(text: object, most: int = LONGEST_NAME) -> str:
    """A name, cut in its middle if it is long."""
    return shortened(text, most) or "(empty)"


def _columns_of_texts(table: Table) -> list[list[str]]:
    """The cells of a table as texts, row by row; numbers of a column have as many digits as tell them apart."""
    columns = [_texts(list(column)) for column in zip(*table.rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _texts(cells: Sequence[Cell]) -> list[str]:
    digits = digits_of([each for each in cells if isinstance(each, float)])
    return [_cell(each, digits) for each in cells]


def _cell(value: Cell, digits: int = 4) -> str:
    """A cell of a table as text."""
    if isinstance(value, bool | str):
        return str(value)
    return number_text(value, digits)
