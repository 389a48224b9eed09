"""The modules give the library's posteriors and explanations, for every model."""

import json
import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from pages import console_messages, network_requests, open_modules
from scoring_cases import TEXTS, scoring_cases
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.kernels.text import Documents
from suffice.report.scoring import scoring_payload
from suffice.text.analysis import Analysis

MODULES = ("scoring.js", "numbers.js", "word_form.js")
SCORE = """
const [cases] = arguments;
const plain = (values) => values && values.map(String);
return JSON.parse(cases).map(({ payload, rows }) => rows.map((row) => {
  const result = module.score(payload, row);
  const last = payload.classes.length - 1;
  const parts = module.explain(result, last, 0).map(({ name, member, value }) => [name, member, String(value)]);
  return { posterior: plain(result.posterior), problem: result.problem, scores: plain(result.scores), parts };
}));
"""


@pytest.fixture(scope="module")
def page(browser, serve, tmp_path_factory):
    """A page with the modules."""
    address = open_modules(browser, serve, tmp_path_factory.mktemp("page"), MODULES)
    assert all(url.startswith(address) for url in network_requests(browser))
    return browser


def scored(page, cases):
    """Results of the rows of each payload; numbers are strings, since JSON has neither NaN nor infinity."""
    return page.execute_script(SCORE, json.dumps(cases))


@pytest.fixture(scope="module")
def results(page):
    """Each case with the results of its rows, from one call."""
    cases = scoring_cases()
    payloads = [scoring_payload(case.model.fitted_) for case in cases]
    assert not [payload["reason"] for payload in payloads if "reason" in payload]
    found = scored(page, [{"payload": p, "rows": case.cells} for p, case in zip(payloads, cases, strict=True)])
    return {case.name: (case, rows) for case, rows in zip(cases, found, strict=True)}


def number(text):
    return float(text.replace("Infinity", "inf"))


NAMES = [case.name for case in scoring_cases()]


@pytest.mark.filterwarnings("ignore::suffice.ImpossibleRowsWarning")
@pytest.mark.parametrize("name", NAMES)
def test_posteriors_are_those_of_the_library(results, name):
    case, found = results[name]
    assert [row["problem"] for row in found] == [None] * len(case.cells)
    got = np.array([[number(each) for each in row["posterior"]] for row in found])
    assert len(got) >= 9
    np.testing.assert_allclose(got, case.model.predict_proba(case.rows), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", [case.name for case in scoring_cases() if case.explains])
def test_parts_are_those_of_explain(results, name):
    case, found = results[name]
    last, first = case.model.classes_[-1], case.model.classes_[0]
    explanation = case.model.explain(case.rows, last, first)
    for i, row in enumerate(found):
        own = isinstance(explanation.names[0], list)
        names = [_text(each) for each in (explanation.names[i] if own else explanation.names)]
        parts = row["parts"]
        if own and len(parts) > len(names):  # a text without a rest has no part for it
            assert number(parts[-1][2]) == 0
            parts = parts[:-1]
        assert [part[0] for part in parts] == names
        if explanation.members is not None:
            assert [part[1] for part in parts] == explanation.members
        np.testing.assert_allclose([number(p[2]) for p in parts], explanation.parts[i], rtol=1e-10, atol=1e-11)


def _text(name):
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


@pytest.mark.parametrize("name", NAMES)
def test_parts_sum_to_the_log_odds(results, name):
    for row in results[name][1]:
        scores = [number(each) for each in row["scores"]]
        total = sum(number(part[2]) for part in row["parts"])
        if np.isfinite([scores[0], scores[-1]]).all():
            assert total == pytest.approx(scores[-1] - scores[0], rel=1e-9, abs=1e-9)


def test_rows_by_name_are_rows_by_position(page):
    case = next(case for case in scoring_cases() if case.name == "mixed")
    payload = scoring_payload(case.model.fitted_)
    names = [column["name"] for column in payload["columns"]]
    order = [list(case.rows.columns).index(name) for name in names]
    by_position = [[row[at] for at in order] for row in case.cells]
    by_name = [dict(zip(case.rows.columns, row, strict=True)) for row in case.cells]
    first, second = scored(page, [{"payload": payload, "rows": rows} for rows in (by_position, by_name)])
    assert first == second
    whole, lacking = scored(page, [{"payload": payload, "rows": [row, {}]} for row in ([None] * len(names), {})])
    assert whole == lacking


def test_problems_are_sentences(page):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    counts = NaiveBayes("poisson").fit(rng.poisson(2 + y[:, None], (40, 2)), y)
    strict = NaiveBayes("categorical", unseen="error").fit(rng.integers(0, 3, (40, 2)), y)
    impossible = NaiveBayes("categorical", estimation="mle").fit(np.column_stack([y, 1 - y]), y)
    complete = GaussianDiscriminant(missing="error").fit(rng.standard_normal((40, 2)), y)
    asked = [
        (counts, [-1, 2], "“0” is a whole number of at least 0."),
        (counts, ["many", 2], "“0” must be a finite number."),
        (strict, [7, 1], "“0” holds a level that the model has never seen."),
        (impossible, [1, 1], "No class can explain this row: its density is zero in every class."),
        (complete, [1, None], "“1” is missing; the model needs a value."),
    ]
    found = scored(page, [{"payload": scoring_payload(m.fitted_), "rows": [row]} for m, row, _ in asked])
    assert [rows[0]["problem"] for rows in found] == [sentence for *_, sentence in asked]
    assert all(rows[0]["posterior"] is None for rows in found)


READINGS = {
    "words": Analysis(min_length=1),
    "marks": Analysis(min_length=1, punctuation=True, ngram_range=(1, 2)),
    "case": Analysis(lowercase=False),
    "char": Analysis("char", ngram_range=(1, 4)),
    "char_wb": Analysis("char_wb", ngram_range=(1, 5)),
    "fragments": Analysis(characters=(3, 5), punctuation=True),
    "unicode": Analysis(strip_accents="unicode", min_length=1, punctuation=True),
    "ascii": Analysis(strip_accents="ascii", min_length=1, punctuation=True),
}


def reading_of(analysis):
    """The payload of the settings."""
    settings = {name: value for name, value in vars(analysis).items() if name in Analysis.__dataclass_fields__}
    model = TextNaiveBayes(**settings).fit(["some words", "other texts"], [0, 1])
    return scoring_payload(model.fitted_)["blocks"][0]["forms"][0]["reading"]


def characters():
    """Every character that this Python knows, apart from surrogates, in texts of some length."""
    known = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    return [" ".join(f"a{c}b" for c in known[i : i + 2000]) for i in range(0, len(known), 2000)]


@pytest.mark.parametrize("name", READINGS)
def test_texts_have_the_words_of_the_library(page, name):
    analysis, texts = READINGS[name], [each for each in TEXTS if each is not None]
    documents = Documents.of_strings([analysis.preprocessed(each) for each in texts])
    script = "return JSON.parse(arguments[0]).map((text) => module.wordsOf(text, arguments[1]))"
    found = page.execute_script(script, json.dumps(texts), reading_of(analysis))
    for i, words in enumerate(found):
        assert sorted(words) == sorted(documents.words(i, analysis.token_rules)), texts[i]


@pytest.mark.parametrize("name", ["marks", "unicode"])
def test_every_character_is_read_as_in_python(page, name):
    analysis, texts = READINGS[name], characters()
    documents = Documents.of_strings([analysis.preprocessed(each) for each in texts])
    script = "return JSON.parse(arguments[0]).map((text) => module.wordsOf(text, arguments[1]))"
    found = page.execute_script(script, json.dumps(texts), reading_of(analysis))
    wanted = [documents.words(i, analysis.token_rules) for i in range(len(texts))]
    differing = [(a, b) for got, want in zip(found, wanted, strict=True) for a, b in _differing(got, want)]
    assert len(differing) <= 0.001 * sum(map(len, wanted)), differing[:20]


def _differing(got, want):
    both = set(got) ^ set(want)
    return [(word, word in got) for word in sorted(both)]


def test_special_functions(page):
    mpmath = pytest.importorskip("mpmath")
    a = [1e-310, 1e-300, 1e-8, 0.03, 0.0999, 0.1001, 0.5, 1.0, 1.5, 2.0, 15.9, 16.0, 100.25, 1e6, 1e15]
    x = [0, 1, 2.5, 40, 1e5]
    script = (
        "const [a, x] = arguments;"
        "return [a.map(module.logGamma), a.map((a) => x.map((x) => module.logRise(a, x))),"
        " a.map((t) => module.excess(t)), a.map((x) => a.map((y) => module.logQuotient(x, y)))]"
    )
    gamma, rise, excess, logs = page.execute_script(script, a, x)
    with mpmath.workdps(60):
        for i, each in enumerate(a):
            assert gamma[i] == pytest.approx(float(mpmath.loggamma(each)), rel=1e-14, abs=1e-13)
            assert excess[i] == pytest.approx(float(each - mpmath.log1p(each)), rel=5e-15)
            wanted = [float(mpmath.log(mpmath.mpf(each) / other)) for other in a]
            assert logs[i] == pytest.approx(wanted, rel=1e-15)
            for j, more in enumerate(x):
                wanted = float(mpmath.loggamma(mpmath.mpf(each) + more) - mpmath.loggamma(each))
                assert rise[i][j] == pytest.approx(wanted, rel=1e-13, abs=1e-13)


def test_points_in_time_may_be_texts(page):
    case = next(case for case in scoring_cases() if case.name == "mixed")
    payload = scoring_payload(case.model.fitted_)
    (at,) = [i for i, column in enumerate(payload["columns"]) if column["kind"] == "time"]
    row = [None] * len(payload["columns"])
    given = (
        1708041600,
        "1708041600",
        "2024-02-16",
        "2024-02-16T00:00",
        "2024-02-16 00:00:00",
        "2024-02-16T01:00+01:00",
    )
    found = scored(page, [{"payload": payload, "rows": [[*row[:at], each, *row[at + 1 :]] for each in given]}])[0]
    assert [each["problem"] for each in found] == [None] * len(given)
    assert len({tuple(each["posterior"]) for each in found}) == 1


def test_nothing_is_logged_or_fetched(page, results):
    assert results
    assert console_messages(page) == []
    assert network_requests(page) == []


def test_a_column_of_weight_zero_takes_any_value(page):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([rng.poisson(2 + 4 * y), rng.permutation(rng.poisson(2, 60))]).astype(float)
    families = {0: "poisson", 1: "geometric"}
    model = NaiveBayes(families, calibrate="columns").fit(X, y)
    weights = model.fitted_.weighted.weights.copy()
    weights[1] = 0.0
    calibration = replace(model.fitted_.calibration, weights=weights)
    fitted = model.fitted_.with_parts(calibration=calibration)
    (found,) = scored(page, [{"payload": scoring_payload(fitted), "rows": [[3, -1], [3, None]]}])
    assert found[0]["problem"] is None
    assert found[0]["posterior"] == found[1]["posterior"]
