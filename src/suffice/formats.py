"""Numbers, shares and names as people read them: in reports, in figures and on a terminal."""

from __future__ import annotations

import math

__all__ = ["digits_of", "number_text", "percent_text", "shortened"]

NONE = "–"  # the text of a number that is unknown
MOST_WHOLE = 1e15  # above, float64 has no room for the last digits
MOST_DIGITS = 15


def percent_text(share: float | None) -> str:
    """A share of one as a percentage with one decimal, or with three where one would round it to 0 or 100 %.

    >>> percent_text(0.98765), percent_text(0.0), percent_text(1.0), percent_text(0.9998), percent_text(0.00012)
    ('98.8 %', '0.0 %', '100.0 %', '99.98 %', '0.012 %')
    >>> percent_text(1e-9), percent_text(1 - 1e-9), percent_text(None)
    ('< 0.001 %', '> 99.999 %', '–')
    """
    if share is None or not math.isfinite(share):
        return NONE
    percent, rest = 100 * share, 100 * min(share, 1 - share)
    if rest <= 0 or rest >= 0.05:
        return f"{percent:.1f} %"
    if rest >= 0.0005:
        return f"{f'{percent:.3f}'.rstrip('0')} %"
    return "< 0.001 %" if share < 0.5 else "> 99.999 %"


def number_text(value: float | None, digits: int = 4) -> str:
    """A number with some significant digits; whole numbers have all of theirs, and commas between thousands.

    >>> number_text(0.123456), number_text(1234567), number_text(23456.7), number_text(2.0), number_text(1e-9)
    ('0.1235', '1,234,567', '23,457', '2', '1e-09')
    >>> number_text(None), number_text(float("nan")), number_text(float("-inf")), number_text(10**400)
    ('–', '–', '−∞', '1e+400')
    """
    if value is None:
        return NONE
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**MOST_DIGITS else _power_text(value, digits)
    if math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) < MOST_WHOLE and (value == round(value) or abs(value) >= 10**digits):
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def _power_text(value: int, digits: int) -> str:
    """A whole number of any size as a power of ten."""
    text = str(abs(value)) if abs(value) < 10**4000 else "9" * 4000  # Python refuses to write longer numbers
    lead = f"{text[0]}.{text[1:digits]}".rstrip("0").removesuffix(".")
    return f"{'-' if value < 0 else ''}{lead}e+{len(text) - 1:02d}"


def digits_of(values: list[float], least: int = 4) -> int:
    """Significant digits that tell numbers apart which share their leading digits.

    >>> digits_of([0.5, 12.0]), digits_of([1e9 + 0.25, 1e9 + 0.75])
    (4, 12)
    """
    finite = [abs(value) for value in values if math.isfinite(value)]
    signed = [value for value in values if math.isfinite(value)]
    if not finite or not max(signed) > min(signed):
        return least
    shared = math.floor(math.log10(max(finite))) - math.floor(math.log10(max(signed) - min(signed)))
    return min(max(shared + 2, least), MOST_DIGITS)


def printable(text: object) -> str:
    r"""A text in one line: control characters, on which a terminal would act, are escaped.

    >>> printable("two\nlines")
    'two\\nlines'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def shortened(text: object, most: int) -> str:
    """A text of at most so many characters, cut in its middle: names often differ in their last characters alone.

    >>> shortened("customer of type A", 12), shortened("abc", 4)
    ('custom…ype A', 'abc')
    """
    full = str(text)
    if len(full) <= most:
        return full
    end = (most - 1) // 2
    return f"{full[: most - 1 - end]}…{full[len(full) - end :]}"
