"""Formulas of all families, evaluated by their definitions, give the families' log-likelihoods up to a common term."""

import numpy as np
import pytest

from fitted_models import table_of
from formula_values import formula_values
from scoring_cases import scoring_cases
from suffice.families import Gaussian, Text, family_named, family_names
from suffice.families.formula import Formula, LogShares, Words
from suffice.kernels.text import Documents
from suffice.statistics import ClassAxis, Membership
from suffice.text.texts import Texts

CASES = {case.name: case for case in scoring_cases()}


def words_of(family):
    """A function from a text to its words."""

    def read(text):
        documents = Documents.of_strings([family.analysis.preprocessed(text)])
        return documents.words(0, family.analysis.token_rules)

    return read


def assert_equal_up_to_a_term(got, want, tolerance=1e-9):
    """Rows (n, K) that differ by a number for each row, with −∞ at the same places."""
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(want))
    possible = np.isfinite(want)
    with np.errstate(invalid="ignore"):
        apart = np.where(possible, got - want, np.nan)
    several = possible.sum(axis=1) > 1
    size = np.maximum(1.0, np.abs(np.where(possible, want, 0.0)).max(axis=1))
    spread = np.nanmax(apart[several], axis=1) - np.nanmin(apart[several], axis=1)
    assert (spread <= tolerance * size[several]).all(), spread.max()


@pytest.mark.parametrize("name", CASES)
def test_formulas_are_the_scores(name):
    case = CASES[name]
    model = case.fitted()
    fitted = model.fitted_
    estimate, table = fitted.combined, table_of(model, case.rows)
    total = np.tile(estimate.log_prior if fitted.specification.uses_prior else 0 * estimate.prior, (len(case.cells), 1))
    weights = None if fitted.weighted is None else fitted.weighted.of_blocks
    for b, (block, formula) in enumerate(zip(estimate.blocks, fitted.specification.formulas(fitted), strict=True)):
        assert isinstance(formula, Formula)
        rows = [[row[at] for at in block.positions(estimate.n_columns)] for row in case.cells]
        read = words_of(block.family) if isinstance(block.family, Text) else None
        values = formula_values(formula, rows, read)
        if weights is None:
            total += values
        elif len(weights[b]) == 1:
            total += weights[b][0] * values
        else:
            columns = [Formula((each,)) for each in formula.columns]
            parts = [formula_values(each, [[row[j]] for row in rows]) for j, each in enumerate(columns)]
            total += sum(w * part for w, part in zip(weights[b], parts, strict=True) if w > 0)
    with np.errstate(all="ignore"):
        assert_equal_up_to_a_term(total, fitted.scorer.relative_joint(table))


def test_every_family_has_a_formula():
    used = {block.family.name for case in CASES.values() for block in case.fitted().fitted_.combined.blocks}
    assert used == set(family_names())


def test_a_family_has_no_formula_by_default():
    class Own(Gaussian):
        name = "own"
        formula = Gaussian.__mro__[2].formula  # that of the base class

    assert Own().formula(None).startswith("The family own has no formula that other programs can evaluate. Define")


@pytest.mark.parametrize("name", [name for name in family_names() if family_named(name).reads == "numbers"])
def test_formulas_of_example_rows(name):
    rng = np.random.default_rng(3)
    family, codes = family_named(name), np.arange(40) % 3
    rows = family.example(rng, codes, 4)
    names = ["a", "b", "c", "d"]
    statistic = family.summarize(rows, Membership(ClassAxis.of(["x", "y", "z"]), codes=codes), names)
    parameters = family.estimate(statistic, names)
    cells = [[None if np.isnan(cell) else cell for cell in row] for row in rows.tolist()]
    got = formula_values(family.formula(parameters), cells)
    want = family.log_likelihood(parameters, rows)
    assert_equal_up_to_a_term(got, want, 1e-8)


def test_counts_of_words_need_less_room_than_logarithms():
    texts, members = Texts(["hello you", "cheap pills"]), Membership(ClassAxis.of([0, 1]), codes=np.array([0, 1]))
    for event in ("multinomial", "bernoulli", "complement", "normalised_complement"):
        family = Text(event)
        formula = family.formula(family.estimate(family.summarize(texts, members)))
        assert isinstance(formula.block, Words)
        assert isinstance(formula.block.table, LogShares)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"slots": 64}, "Fit the model without slots"),
        ({"analyzer": str.split}, "Fit the model with one of the named analyzers"),
        ({"strip_accents": str.upper}, "Fit the model with strip_accents='unicode' or 'ascii'"),
    ],
)
def test_words_that_only_python_can_read(settings, reason):
    texts, members = Texts(["hello you", "cheap pills"]), Membership(ClassAxis.of([0, 1]), codes=np.array([0, 1]))
    family = Text(**settings)
    assert reason in family.formula(family.estimate(family.summarize(texts, members)))
