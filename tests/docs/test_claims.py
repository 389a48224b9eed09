"""Every number in the prose of a page has a source: the code of the page, a table of measurements, or a fact.

The facts are in ``claims.py``. Prose is what a reader reads: no code, no formulas, no table that is mostly numbers. A
number that also stands elsewhere in the code or the tables of the page counts as shown, whole numbers up to 10 and
numbers in words are not checked, and measurements are not repeated: only their script must exist.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from docs.claims import (
    CHOSEN,
    FACTS,
    TESTED_TABLES,
    Measured,
    Near,
    Once,
    Published,
    Source,
    Test,
)

ROOT = Path(__file__).parents[2]
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(
    r"(?<![\w.^])(?<!\w-)(?<!\d,)(?!0\d)((?:\d{1,3}(?:,\d{3})++|\d++)(?:\.\d++)?+(?:e[-−]?\d++)?)(?![.,]\d)"
    r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]++)?(?:\s?·\s?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]++))?(?!\w)(\s?%)?"
)
LEFT_OUT = ("docs/changes.md", "docs/contributing.md", "docs/reference/", "docs/decisions/")
PAGES = [
    name
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if not (name := path.relative_to(ROOT).as_posix()).startswith(LEFT_OUT)
]
SMALL = 10  # whole numbers up to this one need no fact
EXECUTED = ("python", "console")  # languages of blocks that tests run
FENCE = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
GENERATED = re.compile(r"<!-- (?!end)[^>]*-->\n.*?<!-- end[^>]*-->", re.DOTALL)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
NO_PROSE = re.compile(
    r"<!--.*?-->|^    [^\n]*$|\$\$.*?\$\$|\$(?:(?!\n\n)[^$])*\$|`[^`]*`|\]\([^)]*\)|https?://\S+|ISO \d+",
    re.DOTALL | re.MULTILINE,
)
BEGINS_WITH_NUMBER = re.compile(r"(?:below |< )?[+\-−]?\d[\d.,–]*(?:e-?\d+)?(?=[ ×%(]|$)")
NUMBER_IN_CODE = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d[\d_]*)(?:\.\d+)?(?:e[+-]?\d+)?(?!\.\d)")
INPUT = re.compile(r"\s*(?:>>>|\.\.\.|\$ |> )")
MAKE = {"benchmarks/run.py": "make bench", "benchmarks/instructions.py": "make instructions"}
WHAT_TO_DO = (
    "Assert it: add a fact to FACTS in tests/docs/claims.py (a constant of the source, a computation, a test, or the "
    "benchmark that measures it), let the code of the page show it, or leave it out."
)


@dataclass(frozen=True)
class Number:
    """A number of a page, and the step of its last digit; 0 for a power, which is exact."""

    value: float
    step: float
    percent: bool

    def is_rounded(self, value):
        """Whether a value is this number after rounding; a percentage may be a share."""
        room = self.step / 2 + 1e-9 * self.value
        return any(abs(scale * abs(value) - self.value) <= room for scale in ((1, 100) if self.percent else (1,)))

    def equals(self, value):
        """Whether a value is this number without rounding."""
        return Number(self.value, 0.0, self.percent).is_rounded(value)


def number_of(text):
    base, power, tens, percent = NUMBER.fullmatch(text).groups()
    mantissa, _, exponent = base.replace(",", "").replace("−", "-").partition("e")
    scale = 10.0 ** (int(exponent or 0) + int((tens or "0").translate(SUPERSCRIPTS)))
    if power:
        return Number(float(mantissa) ** int(power.translate(SUPERSCRIPTS)) * scale, 0.0, bool(percent))
    return Number(float(mantissa) * scale, 10.0 ** -len(mantissa.partition(".")[2]) * scale, bool(percent))


@dataclass(frozen=True)
class Page:
    """The parts of a page: prose, numbers that its code is given and prints, and tables of measurements."""

    text: str
    prose: str
    given: frozenset[float]
    printed: frozenset[float]
    tables: tuple[str, ...]


@cache
def page_named(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    given, printed = [], []
    for _, language, block in FENCE.findall(text):
        lines = block.splitlines() if language in EXECUTED else []
        is_script = not any(map(INPUT.match, lines))
        for line in lines:
            (given if is_script or INPUT.match(line) else printed).append(line)
    generated = GENERATED.findall(text)
    rest = FENCE.sub("\n", GENERATED.sub("\n", text))
    measured = [table for table in TABLE.findall(rest) if is_measured(table)]
    prose = NO_PROSE.sub(" ", TABLE.sub(lambda found: "\n" if is_measured(found[0]) else found[0], rest))
    return Page(text, prose, numbers_in_code(given), numbers_in_code(printed), (*generated, *measured))


def numbers_in_code(lines):
    return frozenset(float(re.sub("[,_]", "", each)) for line in lines for each in NUMBER_IN_CODE.findall(line))


def is_measured(table):
    """Whether most cells of a table begin with a number; its first column has names."""
    cells = [cell.strip(" *") for line in table.splitlines()[2:] for cell in line.strip("|").split("|")[1:]]
    cells = [cell for cell in cells if cell]
    return 2 * sum(BEGINS_WITH_NUMBER.match(cell) is not None for cell in cells) > len(cells)


def written(found):
    """A number as the prose writes it."""
    return " ".join(found[0].split())


def is_shown(page, found):
    """Whether the page itself shows a number: in code, in the output of code, or in a table of measurements."""
    number = number_of(written(found))
    tables = (number_of(written(each)).value for table in page.tables for each in NUMBER.finditer(table))
    return any(map(number.equals, page.given)) or any(map(number.is_rounded, (*page.printed, *tables)))


def is_small(found):
    number = number_of(written(found))
    return number.value <= SMALL and number.step == 1 and not number.percent


@pytest.mark.parametrize("name", PAGES)
def test_every_number_is_asserted(name):
    page = page_named(name)
    missing = []
    for found in NUMBER.finditer(page.prose):
        if not (is_small(found) or written(found) in FACTS.get(name, {}) or is_shown(page, found)):
            around = " ".join(page.prose[max(0, found.start() - 70) : found.end() + 40].split())
            missing.append(f"{name}: {written(found)} in “… {around} …”")
    if missing:
        pytest.fail("\n".join(["Numbers that nothing asserts:", *missing, WHAT_TO_DO]), pytrace=False)


@pytest.mark.parametrize(
    ("name", "number", "fact"),
    [
        pytest.param(name, number, fact, id=f"{name}: {number}, {place}")
        for name, facts in FACTS.items()
        for number in facts
        for place, fact in enumerate(facts[number] if isinstance(facts[number], tuple) else [facts[number]], 1)
        if fact is not CHOSEN and not isinstance(fact, Once)  # nothing to compare
    ],
)
def test_facts_hold(name, number, fact):
    page = page_named(name)
    if isinstance(fact, Test):
        check_test(fact)
    elif isinstance(fact, Measured):
        check_benchmark(fact.script)
        assert names(page, fact.script), f"{name} does not name {fact.script}, which measures {number}."
    elif isinstance(fact, Published):
        places = [found.start() for found in NUMBER.finditer(page.prose) if written(found) == number]
        assert any(fact.source in " ".join(page.prose[max(0, at - 200) : at].split()) for at in places)
    elif isinstance(fact, Near):
        value = value_of(fact.value)
        assert abs(number_of(number).value / value - 1) <= fact.share, f"{name} says {number}, but it is {value:.6g}."
    else:
        value = value_of(fact.number if isinstance(fact, Source) else fact)
        assert number_of(number).is_rounded(value), f"{name} says {number}, but it is {value:.6g}."


def value_of(fact):
    return float(fact() if callable(fact) else fact)


def check_test(test):
    path, _, function = test.name.partition("::")
    assert f"def {function.split('::')[-1]}(" in (ROOT / path).read_text(encoding="utf-8"), f"There is no {test.name}."


def check_benchmark(script):
    path = ROOT / script
    assert path.is_file(), f"There is no {script}."
    assert "__main__" in path.read_text(encoding="utf-8"), f"{script} cannot be run."


def names(page, script):
    return script in " ".join(page.text.split()) or (script in MAKE and MAKE[script] in page.text)


@pytest.mark.parametrize("name", sorted(FACTS))
def test_no_fact_is_stale(name):
    assert name in PAGES
    there = {written(found) for found in NUMBER.finditer(page_named(name).prose)}
    stale = [number for number in FACTS[name] if number not in there]
    if stale:
        pytest.fail(f"The prose of {name} has no {', '.join(stale)}: change tests/docs/claims.py.", pytrace=False)


@pytest.mark.parametrize("name", [name for name in PAGES if page_named(name).tables])
def test_tables_of_measurements_name_their_benchmark(name):
    if name in TESTED_TABLES:
        check_test(TESTED_TABLES[name])
        return
    scripts = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "benchmarks").glob("*.py"))]
    runnable = [each for each in scripts if "__main__" in (ROOT / each).read_text(encoding="utf-8")]
    assert any(names(page_named(name), each) for each in runnable), (
        f"{name} has a table of measurements, and does not name the script in benchmarks/ that makes it."
    )


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [("100,000", 1e5, 1), ("0.96⁶⁷", 0.96**67, 0), ("10⁶", 1e6, 0), ("2·10⁶", 2e6, 1e6), ("4e-7", 4e-7, 1e-7)],
)
def test_numbers_are_read(text, value, step):
    number = number_of(text)
    assert (number.value, number.step) == pytest.approx((value, step))


def test_numbers_are_rounded_as_they_are_written():
    assert number_of("83 %").is_rounded(10 / 12)
    assert not number_of("83").is_rounded(10 / 12)
    assert number_of("3·10⁷").is_rounded(1 << 25)
    assert not number_of("2²⁴").is_rounded(1 << 20)
    assert [
        written(each) for each in NUMBER.finditer("NumPy 2.4.6, a 64-bit UTF-8 of 1,5 and 10,000/12,000, −999")
    ] == [*("64", "10,000", "12,000", "999")]
