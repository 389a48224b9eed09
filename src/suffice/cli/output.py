"""Results for people, as text and tables, and for machines, as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

__all__ = ["Page", "json_option", "number", "percent", "show_json", "shown", "size"]

WIDEST = 80  # characters of a cell
ENDLESS = 10_000  # columns of a page that is no terminal, whose lines need not be broken
STEPS = ("bytes", "kB", "MB", "GB", "TB")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")


def show_json(result: Mapping[str, Any]) -> None:
    """Print a result as one JSON object."""
    spelled = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    _echo(json.dumps(_plain(result), indent=2, ensure_ascii=spelled, allow_nan=False))


def _echo(text: str, *, color: bool | None = None) -> None:
    """Print a text, or say why that cannot be done."""
    try:
        click.echo(text, color=color)
    except BrokenPipeError:
        raise
    except OSError as error:
        from suffice.exceptions import InputError

        raise InputError(f"Standard output cannot be written: {str(error.strerror).lower()}.") from error


def _plain(value: Any) -> Any:
    """The same in what JSON has; a number that is not finite is null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


class Page:
    """Lines and tables on standard output: in colour on a terminal, plain elsewhere."""

    def __init__(self) -> None:
        from rich.console import Console

        width = None if sys.stdout.isatty() else ENDLESS
        self._begun = False
        self._console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width)

    def line(self, text: str = "") -> None:
        """Print a line."""
        self._begun = True
        self._print(text, soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print a line that what follows belongs to, apart from what was before."""
        if self._begun:
            self._print("")
        self._begun = True
        self._print(text, style="bold", soft_wrap=True)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names, and what is to be said of each, below one another."""
        wide = max(map(len, facts))
        for name, text in facts.items():
            self.line(f"{name:<{wide}}  {text}")

    def table(self, names: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 1) -> None:
        """Print a table; all but the first ``left`` columns are of numbers."""
        from rich.table import Table
        from rich.text import Text

        made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for j, name in enumerate(names):
            text = j < left
            made.add_column(Text(shown(name)), justify="left" if text else "right", overflow="fold", no_wrap=not text)
        for row in rows:
            made.add_row(*(Text(shown(cell)) for cell in row))
        # Where a terminal is too narrow for the figures its own breaks do less harm than figures that are cut.
        terminal, self._console.width = self._console.width, ENDLESS
        self._console.width = max(terminal, self._console.measure(made).minimum)
        self._print(made)
        self._console.width = terminal

    def _print(self, what: Any, **how: Any) -> None:
        with self._console.capture() as captured:
            self._console.print(what, **how)
        for line in captured.get().removesuffix("\n").split("\n"):
            _echo(line.rstrip(), color=True)  # the console has decided on colours


def shown(value: Any) -> str:
    r"""A value as a cell: a number in a few digits, a text by its beginning, and on one line.

    >>> shown(0.123456789), shown(1234567), shown("two\nlines"), shown(None)
    ('0.123457', '1,234,567', 'two\\nlines', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number(value)
    text = str(value)
    # What a terminal would obey is shown as it would be typed.
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def number(value: float) -> str:
    """A number in six digits.

    >>> number(2.0), number(1e-9), number(float("nan")), number(float("-inf"))
    ('2', '1e-09', '-', '-inf')
    """
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def percent(value: float) -> str:
    """A share of a whole.

    >>> percent(0.98765), percent(float("nan"))
    ('98.8 %', '-')
    """
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def size(n_bytes: int) -> str:
    """A number of bytes.

    >>> size(17), size(4321), size(7_300_000)
    ('17 bytes', '4.3 kB', '7.3 MB')
    """
    step = min(len(STEPS) - 1, max(0, math.floor(math.log(max(n_bytes, 1), 1000))))
    return f"{n_bytes} bytes" if step == 0 else f"{n_bytes / 1000**step:.1f} {STEPS[step]}"
