"""Figures as tables, for a terminal and for a page."""

import math
from collections.abc import Callable, Iterable

from figures import Figure
from jobs import GROWTH, MAIN, SKLEARN
from machine import Machine

READ_SHARE = 0.65  # of the bytes per second of a plain read, required of a fit of GaussianNB
PRODUCT_MULTIPLE = 1.5  # of the time of read + dsyrk, allowed for a fit of LDA

Table = tuple[list[str], list[list[str]]]


def duration(seconds: float | None) -> str:
    """Format seconds with three digits and a unit."""
    if seconds is None:
        return ""
    unit, name = next(((u, n) for u, n in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= u), (1e-6, "µs"))
    value = seconds / unit
    return f"{value:.{max(0, 2 - int(math.log10(value)))}f} {name}" if value >= 1 else f"{value:.2f} {name}"


def table_of(figures: list[Figure], machine: Machine) -> Table:
    """Return the head and the lines of one table."""
    if figures[0].table == GROWTH:
        return _growth(figures)
    others = sorted({each.beside for each in figures})
    named = len(others) == 1 and others[0]
    beside = (["other"] if not named else [named]) if others != [""] else []
    heads = ["job", "verb", "Suffice", *beside, *(["ratio", "required"] if beside else [])]
    heads += ["GB/s", "of a read", "Gflop/s", "of dgemm", "MB", *(["its MB"] if beside else [])]
    lines = []
    for each in figures:
        line = [each.name, each.verb, duration(each.seconds)]
        if beside:
            other = duration(each.seconds_beside)
            line += [other if named else f"{other} ({each.beside})", _ratio(each.ratio), _demand(each)]
        line += [f"{each.bytes / each.seconds / 1e9:.1f}", f"{each.bytes / each.seconds / machine.read:.0%}"]
        rate = each.flops / each.seconds
        line += [f"{rate / 1e9:.1f}", f"{rate / machine.dgemm:.0%}"] if each.flops else ["", ""]
        line.append(_size(each.memory) + ("" if each.lean else f" > {each.memory_allowed:.0f}"))
        lines.append(line + ([_size(each.memory_beside)] if beside else []))
    return heads, lines


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def _demand(figure: Figure) -> str:
    return "" if figure.met is None else f"{figure.demanded:.3g}× {_words(figure.met)}"


def _words(met: bool) -> str:
    return "met" if met else "NOT MET"


def _size(megabytes: float | None) -> str:
    return "" if megabytes is None or math.isnan(megabytes) else f"{megabytes:.0f}"


def _growth(figures: list[Figure]) -> Table:
    """Return nanoseconds per row by the number of rows."""
    sizes = sorted({each.rows for each in figures})
    cells: dict[tuple[str, str], dict[int, float]] = {}
    for each in figures:
        cells.setdefault((each.name, each.verb), {})[each.rows] = 1e9 * each.seconds / each.rows
    heads = ["ns per row", "verb", *(f"{n:,} rows" for n in sizes)]
    return heads, [[*key, *(f"{times[n]:.0f}" if n in times else "" for n in sizes)] for key, times in cells.items()]


def bounds(figures: Iterable[Figure], machine: Machine) -> Table:
    """Return the two fits with a known bound: one read of memory, and one read and one product."""
    fits = {each.name: each for each in figures if each.table == MAIN and each.verb == "fit"}
    lines = []
    if naive := fits.get("GaussianNB"):
        share = naive.bytes / naive.seconds / machine.read
        times = [duration(naive.bytes / machine.read), duration(naive.seconds)]
        demand = f"≥ {READ_SHARE:.0%} {_words(share >= READ_SHARE)}"
        lines.append(["GaussianNB", "one read", *times, f"{share:.0%} of the bytes per second", demand])
    if linear := fits.get("LinearDiscriminantAnalysis"):
        for name, per_row in (("read + dsyrk", machine.dsyrk), ("… one core per block", machine.dsyrk_per_core)):
            bound = linear.bytes / machine.read + linear.rows * per_row
            multiple = linear.seconds / bound
            demand = f"≤ {PRODUCT_MULTIPLE}× {_words(multiple <= PRODUCT_MULTIPLE)}" if name.startswith("read") else ""
            lines.append(["LDA", name, duration(bound), duration(linear.seconds), f"{multiple:.2f}× the time", demand])
    return ["fit", "bound", "time of the bound", "time of the fit", "ratio", "required"], lines


def plain_text(table: Table) -> str:
    heads, lines = table
    widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
    sides = [str.ljust, str.ljust, *[str.rjust] * (len(heads) - 2)]
    return "\n".join(
        "  ".join(side(cell, width) for side, cell, width in zip(sides, line, widths, strict=True))
        for line in [heads, *lines]
    )


def markdown(table: Table) -> str:
    heads, lines = table
    rule = ["---" if i < 2 else "---:" for i in range(len(heads))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [heads, rule, *lines])


def report(figures: list[Figure], machine: Machine, form: Callable[[Table], str], heading: str) -> str:
    """Return all tables in the order of measurement, each under a heading."""
    parts = []
    for title in dict.fromkeys(each.table for each in figures):
        chosen = [each for each in figures if each.table == title]
        parts.append(f"{heading}{title}\n\n{form(table_of(chosen, machine))}")
        if title == MAIN and (known := bounds(figures, machine))[1]:
            parts.append(f"{heading}Fits with a known bound\n\n{form(known)}")
    return "\n\n".join(parts)


def shortfalls(figures: list[Figure], machine: Machine) -> list[str]:
    """Return a sentence for each requirement that is not met."""
    out = [
        f"{each.name}, {each.verb}: {_ratio(each.ratio)} of {each.beside or SKLEARN}, {each.demanded:.3g}× required"
        for each in figures
        if each.met is False
    ]
    out += [
        f"{each.name}, {each.verb}: {each.memory:.0f} MB, {each.memory_allowed:.0f} MB allowed"
        for each in figures
        if not each.lean
    ]
    out += [f"{line[0]} fit against {line[1]}: {line[4]}" for line in bounds(figures, machine)[1] if "NOT" in line[5]]
    # Jobs with the same name in different tables are listed once.
    return list(dict.fromkeys(out))
