"""Pictures as SVG, made of strings. Colours and line styles are classes of the style sheet.

Each function returns one ``<svg>`` element with a title and a description, whose texts are escaped. Coordinates have
one decimal, so that a picture is small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from suffice.formats import percent_text, shortened
from suffice.plotting.ticks import tick_texts, ticks, time_ticks

__all__ = ["bar_chart", "confusion_matrix", "correlation_matrix", "curves", "level_bars", "reliability", "spikes"]

WIDTH, HEIGHT = 360, 150
LEFT, RIGHT, TOP, BOTTOM = 6, 6, 8, 20
SMALL_BIN = 0.02  # share of the rows below which a bin is a point, but not part of the line
FEW_CLASSES = 4  # of bars with numbers
THIN = 3.0  # tenths of a pixel
LABEL = 24  # characters of a label in a picture; the table beside it has all of them


def curves(values: Sequence[float], density: Sequence[Sequence[float]], colors: Sequence[int], **texts: object) -> str:
    """Densities of several classes as lines over a common axis.

    Parameters
    ----------
    values : sequence of float
        Positions on the axis, ascending.
    density : sequence of sequences of float
        One for each class; infinite values are cut off at the top.
    colors : sequence of int
        The place of each class in the palette.
    **texts
        ``title``, ``description``, and ``is_time`` if the values are seconds since 1970.

    >>> curves([0.0, 1.0], [[0.5, 1.0]], [0], title="x", description="d").count("<path")
    1
    """
    low, high = values[0], values[-1]
    top = _top(density)
    span = high - low or 1.0
    body = []
    for color, line in zip(colors, density, strict=True):
        points = (
            (LEFT + (x - low) / span * (WIDTH - LEFT - RIGHT), _height(y, top))
            for x, y in zip(values, line, strict=True)
        )
        body.append(f'<path class="line c{color}" d="{_path(points)}"/>')
    axis, height = _axis(low, high, bool(texts.get("is_time")))
    return _svg(WIDTH, height, "".join(body) + axis, texts)


def spikes(values: Sequence[float], density: Sequence[Sequence[float]], colors: Sequence[int], **texts: object) -> str:
    """Probabilities of whole numbers as steps over a common axis."""
    step = values[1] - values[0] if len(values) > 1 else 1.0
    at = [edge for value in values for edge in (value - step / 2, value + step / 2)]
    doubled = [[p for each in line for p in (each, each)] for line in density]
    return curves(at, doubled, colors, **texts)


def level_bars(
    levels: Sequence[str], density: Sequence[Sequence[float]], colors: Sequence[int], **texts: object
) -> str:
    """Probabilities of levels as horizontal bars, one for each class and level."""
    few = len(density) <= FEW_CLASSES  # the share of each bar is written beside it
    bar, gap, label = (11, 7, 14) if few else (5, 5, 14)
    group = label + bar * len(density) + gap
    body = [f'<text x="2" y="{i * group + 11}">{_short(level)}</text>' for i, level in enumerate(levels)]
    for k, color in enumerate(colors):
        bars = []
        for i, share in enumerate(density[k]):
            width = max((WIDTH - 52) * min(share, 1.0), 0.5) if share > 0 else 0.5
            at = i * group + label + k * bar
            bars.append(f"M2 {at}h{_tenth(round(10 * width))}v{bar - 2}H2z")
            if few:
                text = f'<text class="small" x="{width + 6:.0f}" y="{at + bar - 2}">{percent_text(share)}</text>'
                body.append(text)
        body.append(f'<path class="bar c{color}" d="{"".join(bars)}"/>')
    return _svg(WIDTH, group * len(levels) + 4, "".join(body), texts)


def bar_chart(labels: Sequence[str], values: Sequence[float], colors: Sequence[int | None], **texts: object) -> str:
    """One horizontal bar for each label; the longest has the width of the picture."""
    row, most = 30, max(values, default=0.0) or 1.0
    body = []
    for i, (label, value, color) in enumerate(zip(labels, values, colors, strict=True)):
        y, wide = i * row, max((WIDTH - 4) * value / most, 0.5)
        mark = "none" if color is None else str(color)
        body.append(
            f'<text x="2" y="{y + 11}">{_short(label)}</text>'
            f'<text class="end" x="{WIDTH - 2}" y="{y + 11}">{percent_text(value)}</text>'
            f'<rect class="bar c{mark}" x="2" y="{y + 15}" width="{wide:.1f}" height="9"/>'
        )
    return _svg(WIDTH, row * len(labels), "".join(body), texts)


def reliability(
    confidence: Sequence[float], accuracy: Sequence[float], weight: Sequence[float], **texts: object
) -> str:
    """Share of correct predictions over their mean confidence; areas of the points are the weights of the bins."""
    size, left, bottom = 260, 34, 30
    inner = size - left - 12
    most = max(weight, default=0.0) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x * inner, 12 + (1 - y) * (size - bottom - 12)

    (x0, y0), (x1, y1) = place(0, 0), place(1, 1)
    body = [
        f'<rect class="frame" x="{x0:.1f}" y="{y1:.1f}" width="{x1 - x0:.1f}" height="{y0 - y1:.1f}"/>',
        f'<line class="guide" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>',
    ]
    for value in (0.0, 0.5, 1.0):
        x, y = place(value, value)
        body.append(f'<text class="small mid" x="{x:.1f}" y="{y0 + 13:.1f}">{value:g}</text>')
        body.append(f'<text class="small end" x="{x0 - 5:.1f}" y="{y + 4:.1f}">{value:g}</text>')
    body.append(f'<text class="small mid" x="{(x0 + x1) / 2:.1f}" y="{size - 3}">probability of the prediction</text>')
    body.append(
        f'<text class="small mid" transform="translate(9 {(y0 + y1) / 2:.1f}) rotate(-90)">share that is correct</text>'
    )
    known = [(c, a, w) for c, a, w in zip(confidence, accuracy, weight, strict=True) if w > 0]
    common = [place(c, a) for c, a, w in known if w >= SMALL_BIN * sum(weight)]
    body.append(f'<path class="line c0" d="{_path(common)}"/>')
    for c, a, w in known:
        x, y = place(c, a)
        body.append(f'<circle class="bar c0" cx="{x:.1f}" cy="{y:.1f}" r="{2 + 7 * math.sqrt(w / most):.1f}"/>')
    return _svg(size, size, "".join(body), texts)


def correlation_matrix(names: Sequence[str], matrix: Sequence[Sequence[float]], **texts: object) -> str:
    """Correlations as a matrix of squares: blue for positive, orange for negative, pale for weak."""
    cell = 26 if len(names) <= 12 else 16
    side = cell * len(names)
    margin = 120
    body = []
    for i, name in enumerate(names):
        body.append(
            f'<text class="small end" x="{margin - 5}" y="{i * cell + cell / 2 + 4:.0f}">{_short(name, 18)}</text>'
        )
        for j, value in enumerate(matrix[i]):
            sign = "pos" if value >= 0 else "neg"
            strength = 0.0 if not math.isfinite(value) else min(abs(value), 1.0)
            x, y = margin + j * cell, i * cell
            body.append(
                f'<rect class="{sign}" fill-opacity="{strength:.2f}" x="{x}" y="{y}" '
                f'width="{cell - 1}" height="{cell - 1}">'
                f"<title>{_short(name)}, {_short(names[j])}: {value:.2f}</title></rect>"
            )
            if cell > 20 and i != j and strength >= 0.05:
                shade = " inverse" if strength > 0.6 else ""
                middle = f'x="{x + cell / 2:.0f}" y="{y + cell / 2 + 3:.0f}"'
                body.append(f'<text class="tiny mid{shade}" {middle}>{value:.1f}</text>')
        place = f"translate({margin + i * cell + cell / 2 + 3:.0f} {side + 6}) rotate(-60)"
        body.append(f'<text class="small end" transform="{place}">{_short(name, 14)}</text>')
    return _svg(margin + side, side + 84, "".join(body), texts)


def confusion_matrix(
    labels: Sequence[str], predicted: Sequence[str], rows: Sequence[Sequence[float]], **texts: object
) -> str:
    """Labels down, predictions across; the shade is the share of the label's rows."""
    cell, margin, head = 44, 110, 18
    body = []
    for j, name in enumerate(predicted):
        x = margin + j * cell + cell / 2
        body.append(f'<text class="tiny mid" x="{x:.0f}" y="{head - 6}">{_short(name, 7)}</text>')
    for i, name in enumerate(labels):
        y = head + i * 26
        body.append(f'<text class="small end" x="{margin - 5}" y="{y + 17}">{_short(name, 16)}</text>')
        total = sum(rows[i]) or 1.0
        for j, value in enumerate(rows[i]):
            share = value / total
            body.append(
                f'<rect class="{"pos" if name == predicted[j] else "neg"}" fill-opacity="{share:.2f}" '
                f'x="{margin + j * cell}" y="{y}" width="{cell - 1}" height="25"/>'
                f'<text class="{"mid inverse" if share > 0.6 else "mid"}" x="{margin + j * cell + cell / 2:.0f}" '
                f'y="{y + 17}">{value:.5g}</text>'
            )
    return _svg(margin + cell * len(predicted), head + 26 * len(labels), "".join(body), texts)


def _top(density: Sequence[Sequence[float]]) -> float:
    """The height of a picture: the largest finite density, or less if a few values tower above the others."""
    peaks = sorted(max((each for each in line if math.isfinite(each)), default=0.0) for line in density)
    top = peaks[-1] if peaks else 1.0
    if len(peaks) > 1 and peaks[-1] > 8 * peaks[-2] > 0:
        top = 8 * peaks[-2]
    return top or 1.0


def _height(value: float, top: float) -> float:
    inner = HEIGHT - TOP - BOTTOM
    if math.isnan(value):
        return TOP + inner
    return TOP + inner * (1 - min(max(value / top, 0.0), 1.0))


def _path(points: Iterable[tuple[float, float]]) -> str:
    """The steps from point to point, in tenths of a pixel, without points that are on the line between others."""
    tenths = _thinned([(round(10 * x), round(10 * y)) for x, y in points])
    if len(tenths) < 2:
        return ""
    parts = [f"M{_tenth(tenths[0][0])} {_tenth(tenths[0][1])}l"]
    for (x0, y0), (x1, y1) in pairwise(tenths):
        step = f"{_tenth(x1 - x0)} {_tenth(y1 - y0)}".replace(" -", "-")
        parts.append(step if len(parts) == 1 or step.startswith("-") else f" {step}")
    return "".join(parts)


def _thinned(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Points of a line, without those whose absence moves it by less than a third of a pixel (Douglas–Peucker)."""
    keep, open_parts = {0, len(points) - 1} if points else set(), [(0, len(points) - 1)]
    while open_parts:
        first, last = open_parts.pop()
        (x0, y0), (x1, y1) = points[first] if points else (0, 0), points[last] if points else (0, 0)
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        away = [
            abs((x1 - x0) * (y0 - points[i][1]) - (x0 - points[i][0]) * (y1 - y0)) / length
            for i in range(first + 1, last)
        ]
        if away and max(away) > THIN:
            middle = first + 1 + away.index(max(away))
            keep.add(middle)
            open_parts += [(first, middle), (middle, last)]
    return [points[i] for i in sorted(keep)]


def _tenth(value: int) -> str:
    """A number of tenths as a decimal number, as short as possible."""
    text = f"{value / 10:.1f}".removesuffix(".0")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _axis(low: float, high: float, is_time: bool) -> tuple[str, int]:
    """The axis of a picture, and the height of the picture with it."""
    y = HEIGHT - BOTTOM + 2
    parts = [f'<line class="axis" x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>']
    span, last = high - low or 1.0, ""
    values = time_ticks(low, high) if is_time else ticks(low, high)
    texts, base = tick_texts(values, is_time=is_time)
    for value, text in zip(values, texts, strict=True):
        x = LEFT + (value - low) / span * (WIDTH - LEFT - RIGHT)
        place = "start" if x < 30 else "end" if x > WIDTH - 30 else "mid"
        parts.append(f'<line class="axis" x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + 4}"/>')
        if text != last:
            parts.append(f'<text class="small {place}" x="{x:.1f}" y="{HEIGHT - 2}">{escape(text)}</text>')
        last = text
    if not base:
        return "".join(parts), HEIGHT
    parts.append(f'<text class="small mid" x="{WIDTH / 2:g}" y="{HEIGHT + 12}">{escape(f"value − {base}")}</text>')
    return "".join(parts), HEIGHT + 16


def _short(text: str, most: int = LABEL) -> str:
    return escape(shortened(text, most) or "(empty)")


def _svg(width: float, height: float, body: str, texts: dict[str, object]) -> str:
    title, description = escape(str(texts.get("title", ""))), escape(str(texts.get("description", "")))
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img">'
        f"<title>{title}</title><desc>{description}</desc>{body}</svg>"
    )
