"""Results for people, as text and tables, and for programs, as JSON."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import click

from suffice.formats import number_text, printable, shortened
from suffice.formats import percent_text as percent

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "Cell",
    "Page",
    "cell_text",
    "json_option",
    "more_line",
    "number",
    "percent",
    "print_json",
    "row_count",
    "size",
]

Cell: TypeAlias = object
"""A value that `cell_text` prints: a number, a text, None, a label."""
MAX_CELL_WIDTH = 80  # characters
MIN_TEXT_WIDTH = 8  # characters to which texts are folded on a narrow terminal
GAP = 2  # characters between the columns of a table
UNLIMITED_WIDTH = 10_000  # characters of a line that does not go to a terminal, so it is never wrapped
SIZE_UNITS = ("bytes", "kB", "MB", "GB", "TB")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")


def print_json(result: Mapping[str, object]) -> None:
    """Print a result as one JSON object."""
    unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    from suffice.tables.cell_values import json_value

    _echo(json.dumps(json_value(result), indent=2, ensure_ascii=not unicode, allow_nan=False))


def _echo(text: str, *, color: bool | None = None) -> None:
    """Print a text, or raise an error that says why it cannot be printed."""
    try:
        click.echo(text, color=color)
    except BrokenPipeError:
        raise
    except OSError as error:
        from suffice.exceptions import InputError

        raise InputError(f"Cannot write to standard output: {str(error.strerror).lower()}.") from error


class Page:
    """Lines and tables on standard output: with colours on a terminal, plain elsewhere.

    Parameters
    ----------
    width : int, optional
        Characters of a line; by default those of the terminal.
    """

    def __init__(self, width: int | None = None) -> None:
        from rich.console import Console

        if width is None and not sys.stdout.isatty():
            width = UNLIMITED_WIDTH
        self._has_lines = False
        self._console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width)

    def line(self, text: str = "") -> None:
        """Print a line, wrapped between words on a terminal."""
        self._has_lines = True
        for each in self._wrapped(text):
            self._print(each, soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print a heading, with an empty line before it."""
        if self._has_lines:
            self._print("")
        self._has_lines = True
        for each in self._wrapped(text):
            self._print(each, style="bold", soft_wrap=True)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names and their texts in two columns."""
        width = max(map(len, facts)) + GAP
        for name, text in facts.items():
            self.item(f"{name:<{width}}", text)

    def item(self, mark: str, text: str) -> None:
        """Print a text after a mark; further lines are indented."""
        self._has_lines = True
        for number, each in enumerate(self._wrapped(text, len(mark))):
            self._print(f"{' ' * len(mark) if number else mark}{each}", soft_wrap=True)

    def _wrapped(self, text: str, indent: int = 0) -> list[str]:
        """The lines of a text; words, such as paths, are not split."""
        width = self._console.width - indent
        if len(text) <= width:
            return [text]
        return textwrap.wrap(text, max(width, MIN_TEXT_WIDTH), break_long_words=False, break_on_hyphens=False)

    def table(self, names: Sequence[str], rows: Sequence[Sequence[Cell]], left: int = 1) -> None:
        """Print a table. The first ``left`` columns are aligned left, the others, which hold numbers, right.

        On a narrow terminal the texts of the first columns are folded. If the numbers still need more room, they are
        printed in several tables, each with the first columns.
        """
        from rich.cells import cell_len

        left = min(left, len(names))
        cells = [list(map(cell_text, names)), *([cell_text(cell) for cell in row] for row in rows)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        for j in range(left):
            widths[j] = min(widths[j], max(self._console.width // (2 * left), MIN_TEXT_WIDTH))
        for number, part in enumerate(_parts(widths, left, self._console.width)):
            if number:
                self._print("")
            self._print_table([[row[j] for j in part] for row in cells], [widths[j] for j in part], left)

    def _print_table(self, cells: Sequence[Sequence[str]], widths: Sequence[int], left: int) -> None:
        """Print the header and the rows of a table whose columns have at least these widths."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
        for j, name in enumerate(cells[0]):
            text = j < left
            table.add_column(
                Text(name),
                justify="left" if text else "right",
                overflow="fold",
                no_wrap=not text,
                min_width=widths[j],
            )
        for row in cells[1:]:
            table.add_row(*map(Text, row))
        terminal_width = self._console.width
        self._console.width = max(terminal_width, sum(widths) + GAP * len(widths))  # numbers are never cut
        self._print(table)
        self._console.width = terminal_width

    def _print(self, content: RenderableType, *, style: str | None = None, soft_wrap: bool | None = None) -> None:
        with self._console.capture() as captured:
            self._console.print(content, style=style, soft_wrap=soft_wrap)
        for line in captured.get().removesuffix("\n").split("\n"):
            _echo(line.rstrip(), color=True)  # the console has already removed colours where they are not wanted


def _parts(widths: Sequence[int], left: int, most: int) -> list[list[int]]:
    """Positions of the columns of each part of a table: all parts have the first columns, and fit if they can.

    >>> _parts([10, 8, 8, 8], left=1, most=34)
    [[0, 1, 2], [0, 3]]
    """
    first = list(range(left))
    start = sum(widths[:left]) + GAP * left
    parts, used = [first.copy()], start
    for j in range(left, len(widths)):
        if len(parts[-1]) > left and used + widths[j] + GAP > most:
            parts.append(first.copy())
            used = start
        parts[-1].append(j)
        used += widths[j] + GAP
    return parts


def cell_text(value: Cell, width: int = MAX_CELL_WIDTH) -> str:
    r"""Return a value as the text of a table cell: one line, numbers to six digits, texts cut to a width.

    >>> cell_text(0.123456789), cell_text(1234567), cell_text("two\nlines"), cell_text(None)
    ('0.123457', '1,234,567', 'two\\nlines', '–')
    """
    if isinstance(value, bool):
        return str(value)
    if value is None or isinstance(value, int | float):
        return number_text(value, 6)
    return shortened(printable(value), width)


def number(value: float) -> str:
    """Return a number with six digits.

    >>> number(2.0), number(1e-9), number(float("nan")), number(float("-inf"))
    ('2', '1e-09', '–', '−∞')
    """
    return number_text(value, 6)


def row_count(n: float) -> str:
    """A number of rows, or their weight, in words.

    >>> row_count(1), row_count(1500)
    ('1 row', '1,500 rows')
    """
    from suffice.exceptions import counted

    return counted(n, "row")


def more_line(n: int, one: str, many: str | None = None) -> str:
    """The last line of a table that lacks some rows.

    >>> more_line(1, "class", "classes"), more_line(2, "column")
    ('… and 1 more class', '… and 2 more columns')
    """
    from suffice.exceptions import counted

    return f"… and {counted(n, f'more {one}', many and f'more {many}')}"


def size(n_bytes: int) -> str:
    """Return a number of bytes in a readable unit.

    >>> size(17), size(4321), size(7_300_000)
    ('17 bytes', '4.3 kB', '7.3 MB')
    """
    unit = min(len(SIZE_UNITS) - 1, max(0, math.floor(math.log(max(n_bytes, 1), 1000))))
    return f"{n_bytes} bytes" if unit == 0 else f"{n_bytes / 1000**unit:.1f} {SIZE_UNITS[unit]}"
