"""Blocks of dependent columns that the data choose: blocks="auto"."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import suffice
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.exceptions import InputError, MergeError
from suffice.families import Gaussian, Histogram, JointTable, MultivariateGaussian
from suffice.learning.block_search import merged_groups
from suffice.learning.gaussian_blocks import GaussianEvidence
from suffice.learning.table_blocks import TableEvidence
from suffice.statistics import ClassAxis, Membership
from suffice.tables import MatrixTable

RNG = np.random.default_rng(0)
N = 600
CODES = RNG.integers(0, 2, N)
Y = np.array(["no", "yes"])[CODES]
BASE = RNG.standard_normal(N)
FIRST = RNG.integers(0, 3, N)
SECOND = np.where(RNG.random(N) < 0.8, (FIRST + CODES) % 3, RNG.integers(0, 3, N))
FRAME = pd.DataFrame(
    {
        "length": BASE + CODES + 0.3 * RNG.standard_normal(N),
        "colour": np.array(["red", "green", "blue"])[FIRST],
        "alone": RNG.standard_normal(N) + CODES,
        "width": BASE - CODES + 0.3 * RNG.standard_normal(N),
        "taste": np.array(["sweet", "sour", "bitter"])[SECOND],
        "flag": RNG.random(N) < 0.4,
    }
)
GROUPS = {frozenset({"length", "width"}), frozenset({"colour", "taste"})}


def groups_of(model):
    return {frozenset(key) for key in model.families_ if isinstance(key, tuple)}


def test_dependent_columns_become_blocks():
    model = NaiveBayes(blocks="auto").fit(FRAME, Y)
    assert groups_of(model) == GROUPS
    assert isinstance(model.families_["length", "width"], MultivariateGaussian)
    assert isinstance(model.families_["colour", "taste"], JointTable)
    assert isinstance(model.families_["alone"], Gaussian)
    assert model.blocks_["columns"] == [("length", "width"), ("colour", "taste")]
    assert min(model.blocks_["gain"]) > 20
    assert ("length", "width") in model.explain(FRAME[:1]).names
    given = NaiveBayes(model.families_).fit(FRAME, Y)
    np.testing.assert_array_equal(given.predict_proba(FRAME), model.predict_proba(FRAME))
    with pytest.raises(AttributeError, match="found in the data"):
        given.blocks_  # noqa: B018


@pytest.mark.parametrize("rows", [N, 150])
def test_neither_the_order_of_columns_nor_of_rows_changes_the_groups(rows):
    frame, y = FRAME[:rows], Y[:rows]
    expected = groups_of(NaiveBayes(blocks="auto").fit(frame, y))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        at, columns = rng.permutation(rows), rng.permutation(list(frame))
        assert groups_of(NaiveBayes(blocks="auto").fit(frame.iloc[at][columns], y[at])) == expected


@pytest.mark.parametrize("covariance", ["own", "shared"])
def test_dependent_gaussian_columns_are_discriminant_analysis(covariance):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 900)
    spread = np.array([1.0, 2.0, 0.5])[y] if covariance == "own" else np.ones(900)
    X = spread[:, None] * (rng.standard_normal((900, 1)) + 0.5 * rng.standard_normal((900, 4))) + y[:, None]
    model = NaiveBayes(blocks="auto").fit(X, y)
    assert list(model.families_) == [(0, 1, 2, 3)]
    assert model.blocks_["covariance"] == [covariance]
    same = GaussianDiscriminant(covariance, estimation="map").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))


# ---------------------------------------------------------------------- evidence


def partitions(items):
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]]


def scatters(X, codes):
    parts = [X[codes == k] - X[codes == k].mean(axis=0) for k in range(codes.max() + 1)]
    return np.array([part.T @ part for part in parts]), np.bincount(codes) - 1.0


def written_out(scatter, degrees, group):
    """The evidence of a group by its definition: with own covariances or with a shared one."""
    from scipy.special import multigammaln

    pooled = scatter.sum(axis=0)

    def of(S, v):
        m = len(group)
        prior = np.diag((np.diag(S) + np.diag(pooled) / degrees.sum()) / (v + 1))[np.ix_(group, group)]
        after = prior + S[np.ix_(group, group)]
        dets = m * np.linalg.slogdet(prior)[1] - (m + v) * np.linalg.slogdet(after)[1]
        return dets / 2 + multigammaln((m + v) / 2, m) - multigammaln(m / 2, m)

    own = sum(of(S, v) for S, v in zip(scatter, degrees, strict=True))
    return max(own, of(pooled, degrees.sum()))


@pytest.mark.parametrize("seed", range(8))
def test_gaussian_groups_have_the_most_evidence_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, 60 + 100 * seed)
    mixing = np.eye(4) + (rng.random((4, 4)) < 0.25) * rng.normal(size=(4, 4))
    X = 10.0 ** rng.integers(-6, 6, 4) * (rng.standard_normal((len(codes), 4)) @ mixing)
    scatter, degrees = scatters(X, codes)
    evidence = GaussianEvidence(scatter, degrees)
    found = merged_groups(evidence)
    totals = {
        tuple(sorted(tuple(sorted(group)) for group in parts if len(group) > 1)): sum(
            written_out(scatter, degrees, group) + (len(group) > 1) * (1 - len(group)) * np.log(6) for group in parts
        )
        for parts in partitions([0, 1, 2, 3])
    }
    key = tuple(sorted(map(tuple, found)))
    assert totals[key] == max(totals.values())
    gain = sum(GaussianEvidence(scatter, degrees).gain(group) for group in found)
    penalty = sum(len(group) - 1 for group in found) * np.log(6)
    assert gain - penalty == pytest.approx(totals[key] - totals[()], rel=1e-9, abs=1e-9)


def test_gains_after_merges_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 200)
    scatter, degrees = scatters(rng.standard_normal((200, 7)) @ rng.standard_normal((7, 7)), codes)
    evidence = GaussianEvidence(scatter, degrees)
    groups = {j: [j] for j in range(7)}
    assert np.isneginf(np.diag(evidence.gains())).all()
    for a, b in [(0, 1), (2, 3), (2, 4), (0, 2), (5, 0)]:
        row = evidence.merge(a, b)
        groups[a] = groups[a] + groups.pop(b)
        for c in groups.keys() - {a}:
            parts = (groups[a] + groups[c], groups[a], groups[c])
            joint, first, second = (written_out(scatter, degrees, sorted(part)) for part in parts)
            assert row[c] == pytest.approx(joint - first - second, rel=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_gains_of_tables_are_ratios_of_the_evidence_of_the_families(missing):
    rng = np.random.default_rng(4)
    codes = np.column_stack([FIRST, SECOND, rng.integers(0, 2, N), rng.integers(0, 4, N)])
    codes[rng.random(codes.shape) < missing] = -1
    weights = rng.integers(0, 3, N).astype(float)
    members = Membership(ClassAxis.of(["no", "yes"]), codes=CODES, weights=weights)
    evidence = TableEvidence(list(codes.T), [3, 3, 2, 4], members)
    gains = evidence.gains()
    for a, b in itertools.combinations(range(4), 2):
        both = (codes[:, a] >= 0) & (codes[:, b] >= 0)

        def of(columns, both=both):
            table = MatrixTable(codes[both][:, columns].astype(float)).categories(slice(None), columns)
            family = JointTable()
            return family.log_evidence(family.summarize(table, members.take(np.flatnonzero(both))))

        assert gains[a, b] == pytest.approx(of([a, b]) - of([a]) - of([b]), rel=1e-9)
        assert gains[b, a] == pytest.approx(gains[a, b])
    assert merged_groups(TableEvidence(list(codes.T), [3, 3, 2, 4], members)) == [[0, 1]]


# ---------------------------------------------------------------------- laws


def test_weights_are_repeated_rows():
    times = np.random.default_rng(5).integers(0, 3, N)
    weighted = NaiveBayes(blocks="auto").fit(FRAME, Y, sample_weight=times)
    repeated = NaiveBayes(blocks="auto").fit(FRAME.loc[FRAME.index.repeat(times)], np.repeat(Y, times))
    assert weighted.families_ == repeated.families_
    np.testing.assert_allclose(weighted.blocks_["gain"], repeated.blocks_["gain"], rtol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(FRAME), repeated.predict_proba(FRAME), rtol=1e-9)


def test_later_rows_keep_the_blocks(tmp_path):
    model = NaiveBayes(blocks="auto").fit(FRAME[:400], Y[:400])
    streamed = NaiveBayes(blocks="auto").partial_fit(FRAME[:400], Y[:400])
    assert streamed.families_ == model.families_
    model.save(tmp_path / "model.suffice")
    loaded = suffice.load(tmp_path / "model.suffice")
    assert repr(loaded.blocks_) == repr(model.blocks_)
    at_once = NaiveBayes(model.families_).fit(FRAME, Y).predict_proba(FRAME)
    for each in (model, streamed, loaded):
        each.partial_fit(FRAME[400:], Y[400:])
        assert groups_of(each) == GROUPS
        np.testing.assert_allclose(each.predict_proba(FRAME), at_once, rtol=1e-9)
        each.remove(FRAME[:100], Y[:100])
    rest = NaiveBayes(model.families_).fit(FRAME[100:], Y[100:])
    np.testing.assert_allclose(model.predict_proba(FRAME), rest.predict_proba(FRAME), rtol=1e-7)


def test_held_out_rows_are_scored_as_without_them():
    model = NaiveBayes(blocks="auto").fit(FRAME, Y)
    loo = suffice.model_selection.leave_one_out(NaiveBayes(model.families_), FRAME, Y)
    for i in (0, 7, 599):
        without = clone(model).fit(FRAME, Y).remove(FRAME[i : i + 1], Y[i : i + 1])
        np.testing.assert_allclose(loo[i], without.predict_proba(FRAME[i : i + 1])[0], rtol=1e-8)


def test_models_merge_if_their_blocks_are_the_same():
    halves = [NaiveBayes(blocks="auto").fit(FRAME[i::2], Y[i::2]) for i in (0, 1)]
    merged = suffice.merge(halves)
    np.testing.assert_allclose(
        merged.predict_proba(FRAME), NaiveBayes(merged.families_).fit(FRAME, Y).predict_proba(FRAME), rtol=1e-9
    )
    shuffled = FRAME[1::2].assign(width=np.random.default_rng(6).standard_normal(N // 2))
    other = NaiveBayes(blocks="auto").fit(shuffled, Y[1::2])
    with pytest.raises(MergeError, match=r"only the first model has 'length', 'width' as a block.*families_") as caught:
        suffice.merge([halves[0], other])
    assert caught.value.column in ("length", "width")
    given = NaiveBayes(halves[0].families_).fit(shuffled, Y[1::2])
    assert groups_of(halves[0].merge(given)) == GROUPS


# ---------------------------------------------------------------------- settings


def test_best_families_are_chosen_for_columns_outside_blocks():
    peaks = 4.0 * RNG.integers(0, 3, N) + 2 * CODES + 0.5 * RNG.standard_normal(N)
    frame = FRAME.assign(peaks=peaks)
    model = NaiveBayes("best", blocks="auto").fit(frame, Y)
    assert groups_of(model) == GROUPS
    assert isinstance(model.families_["peaks"], Histogram)
    assert list(model.family_scores_["column"]) == ["alone", "peaks"]
    only = NaiveBayes("best", blocks="auto").fit(FRAME[["length", "width"]], Y)
    assert list(only.families_) == [("length", "width")]
    assert only.predict_proba(FRAME[["length", "width"]]).shape == (N, 2)


def test_given_families_stay():
    model = NaiveBayes({"width": "log_normal", "alone": None, "taste": Gaussian()}, blocks="auto")
    frame = FRAME.assign(width=np.exp(FRAME.width), taste=SECOND)
    fitted = model.fit(frame, Y)
    assert groups_of(fitted) == set()
    assert fitted.families_["alone"] is None
    assert groups_of(NaiveBayes({"width": "gaussian"}, blocks="auto").fit(FRAME, Y)) == GROUPS
    coded = np.column_stack([FIRST, SECOND])
    assert groups_of(NaiveBayes("categorical", blocks="auto").fit(coded, Y)) == {frozenset({0, 1})}


@pytest.mark.parametrize("policy", [{"missing": "category"}, {"unseen": "share"}])
def test_policies_that_joint_tables_do_not_have_keep_discrete_columns_apart(policy):
    model = NaiveBayes(blocks="auto", **policy).fit(FRAME, Y)
    assert groups_of(model) == {frozenset({"length", "width"})}


@pytest.mark.parametrize("calibrate", [True, "columns"])
def test_blocks_are_calibrated(calibrate):
    model = NaiveBayes(blocks="auto", calibrate=calibrate).fit(FRAME, Y)
    given = NaiveBayes(model.families_, calibrate=calibrate).fit(FRAME, Y)
    np.testing.assert_array_equal(model.predict_proba(FRAME), given.predict_proba(FRAME))


def test_invalid_and_late_settings():
    with pytest.raises(InputError, match=r"blocks must be None or 'auto'; got 'all'"):
        NaiveBayes(blocks="all").fit(FRAME, Y)
    with pytest.raises(InputError, match="was set after the fit"):
        NaiveBayes().fit(FRAME, Y).set_params(blocks="auto").partial_fit(FRAME, Y)


# ---------------------------------------------------------------------- tables of all kinds


def test_copies_and_sums_of_columns_count_once():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((300, 2)) + CODES[:300, None]
    copied = np.column_stack([X, X, X, X.sum(axis=1)])
    model = NaiveBayes(blocks="auto").fit(copied, CODES[:300])
    assert set(model.blocks_["shrinkage"]) == {"oas"}
    assert np.isfinite(model.blocks_["gain"]).all()
    once = NaiveBayes().fit(X, CODES[:300]).predict_proba(X)
    naive = NaiveBayes().fit(copied, CODES[:300]).predict_proba(copied)
    error = [abs(p - once).max() for p in (model.predict_proba(copied), naive)]
    assert error[0] < 0.1 < 0.2 < error[1]


def test_missing_cells_keep_blocks():
    rng = np.random.default_rng(8)
    holes = FRAME.mask(pd.DataFrame(rng.random(FRAME.shape) < 0.2, FRAME.index, FRAME.columns))
    model = NaiveBayes(blocks="auto").fit(holes, Y)
    assert groups_of(model) == GROUPS
    assert np.isfinite(model.predict_proba(holes)).all()


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
@pytest.mark.filterwarnings("ignore::suffice.exceptions.SufficeWarning")
def test_units_and_constant_columns_have_no_effect(scale):
    X = FRAME[["length", "alone", "width"]].to_numpy()
    X = np.column_stack([X * [scale, 1.0, 1 / scale], np.full(N, 3.0), np.where(CODES == 1, 5.0, X[:, 1])])
    model = NaiveBayes(blocks="auto").fit(X, Y)
    assert groups_of(model) == groups_of(NaiveBayes(blocks="auto").fit(X * [1 / scale, 1, scale, 1, 1], Y))
    assert frozenset({0, 2}) in groups_of(model)


@pytest.mark.parametrize(("n", "d", "k"), [(2, 2, 2), (8, 30, 2), (50, 12, 5), (300, 80, 2), (400, 3, 200)])
@pytest.mark.filterwarnings("ignore::suffice.exceptions.SufficeWarning")
def test_few_rows_many_columns_and_many_classes(n, d, k):
    rng = np.random.default_rng(9)
    y = np.arange(n) % k
    X = rng.standard_normal((n, d)) + y[:, None] * 0.1
    for rows in (X, pd.DataFrame(np.round(X)).astype(int).astype("category")):
        model = NaiveBayes(blocks="auto").fit(rows, y)
        assert groups_of(model) == set()
        np.testing.assert_array_equal(model.predict_proba(rows), NaiveBayes().fit(rows, y).predict_proba(rows))
    shared = X + 3 * rng.standard_normal((n, 1))
    model = NaiveBayes(blocks="auto").fit(shared, y)
    assert np.isfinite(model.predict_proba(shared)).all()


def test_rows_of_all_forms_have_the_same_blocks(tmp_path):
    import scipy.sparse

    X = np.where(RNG.random((N, 4)) < 0.5, 0.0, BASE[:, None] + 0.2 * RNG.standard_normal((N, 4)))
    dense = NaiveBayes(blocks="auto").fit(X, Y)
    sparse = NaiveBayes(blocks="auto").fit(scipy.sparse.csr_matrix(X), Y)
    assert groups_of(sparse) == groups_of(dense)
    path = tmp_path / "rows.csv"
    FRAME.assign(label=Y).to_csv(path, index=False)
    from_file = suffice.fit(path, "label", model=NaiveBayes(blocks="auto"))
    assert groups_of(from_file) == GROUPS
    assert from_file.report_.blocks.groups == ((0, 3), (1, 4))
    np.testing.assert_allclose(
        from_file.predict_proba(FRAME), NaiveBayes(blocks="auto").fit(FRAME, Y).predict_proba(FRAME), rtol=1e-9
    )


def test_invalid_cells_are_the_error_of_the_fit():
    X = load_iris().data.copy()
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="inf"):
        NaiveBayes(blocks="auto").fit(X, load_iris().target)


def test_iris_is_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    assert list(NaiveBayes(blocks="auto").fit(X, y).families_) == [(0, 1, 2, 3)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": ((0, 9), (1, 4))},
        {"groups": ((0, 1), (1, 4))},
        {"groups": ((3, 0), (1, 4))},
        {"families": ("histogram", "joint_table")},
        {"covariances": ("own",)},
        {"gains": np.array([1.0])},
        {"gains": "many"},
    ],
)
def test_a_forged_file_with_invalid_blocks_is_refused(wrong):
    schema = NaiveBayes(blocks="auto").fit(FRAME, Y).fitted_.layout.schema
    schema.found.check(len(schema))
    with pytest.raises(InputError, match="do not belong to the columns"):
        replace(schema.found, **wrong).check(len(schema))
