"""Columns of texts beside numbers and categories, in frames of every engine and in arrays of objects."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

import suffice
from suffice import EmptyColumnWarning, InputError, MergeError, NaiveBayes, SufficeWarning
from suffice.families import family_named
from suffice.sources.columns import NoColumn
from suffice.text.texts import Texts

RNG = np.random.default_rng(4)
N = 90
Y = np.array(["ham", "spam", "list"])[RNG.integers(0, 3, N)]
WORDS = {
    "ham": ["hello", "lunch", "Tomorrow", "meet"],
    "spam": ["cheap", "PILLS", "buy", "hello"],
    "list": ["re", "fwd"],
}
BODY = [" ".join(RNG.choice(WORDS[label], RNG.integers(1, 7))) for label in Y]
TITLE = [" ".join(RNG.choice(["re", "free", "hello"], RNG.integers(1, 4))) for _ in Y]
SIZE = RNG.normal(size=N) + (Y == "spam")
HOLED = [None if i % 11 == 0 else text for i, text in enumerate(BODY)]
COLUMNS = {"body": HOLED, "size": SIZE, "title": TITLE}

ENGINES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "objects": lambda columns: pd.DataFrame({k: pd.Series(list(v), dtype=object) for k, v in columns.items()}),
    "category": lambda columns: pd.DataFrame(columns).astype({"body": "category"}),
    "pandas arrow": lambda columns: pd.DataFrame(columns).astype({"body": "string[pyarrow]"}),
    "polars": lambda columns: pl.DataFrame(columns),
    "polars category": lambda columns: pl.DataFrame(columns, schema_overrides={"body": pl.Categorical}),
    "arrow": lambda columns: pa.table(columns),
    "array": lambda columns: np.array([list(each) for each in columns.values()], dtype=object).T,
}


def take(X, index):
    if isinstance(X, pd.DataFrame):
        return X.iloc[index]
    return X.take(pa.array(index)) if isinstance(X, pa.Table) else X[index]


def model(engine, **settings):
    body, title = ("body", "title") if engine != "array" else (0, 2)
    return NaiveBayes({body: "text", title: "text"}, estimation=None, **settings)


def by_hand(smoothing=1.0):
    """log p(x, y) by scikit-learn, column by column."""
    _, y = np.unique(Y, return_inverse=True)
    total = np.log(np.bincount(y) / N)[None, :].repeat(N, axis=0)
    there = np.array([text is not None for text in HOLED])
    for texts, known in ((BODY, there), (TITLE, np.full(N, True))):
        counts = CountVectorizer().fit([text for text, here in zip(texts, known, strict=True) if here])
        X = counts.transform(texts)
        words = MultinomialNB(alpha=smoothing, fit_prior=False).fit(X[known], y[known])
        total[known] += X[known] @ words.feature_log_prob_.T
    size = GaussianNB(var_smoothing=0.0, priors=np.ones(3) / 3).fit(SIZE[:, None], y)
    return total + size.predict_joint_log_proba(SIZE[:, None]) - np.log(1 / 3)


def probabilities(joint):
    shifted = np.exp(joint - joint.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("smoothing", [None, 0.1])
def test_every_engine_agrees_with_scikit_learn(engine, smoothing):
    X = ENGINES[engine](COLUMNS)
    fitted = model(engine, smoothing=smoothing).fit(X, Y)
    expected = probabilities(by_hand(1.0 if smoothing is None else smoothing))
    np.testing.assert_allclose(fitted.predict_proba(X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_verbs(engine, tmp_path):
    X = ENGINES[engine](COLUMNS)
    whole = model(engine).fit(X, Y)
    expected = whole.predict_proba(X)
    first, rest = np.arange(40), np.arange(40, N)
    begun = model(engine).fit(take(X, first), Y[first])
    stream = model(engine).partial_fit(take(X, first), Y[first]).partial_fit(take(X, rest), Y[rest])
    merged = suffice.merge([begun, model(engine).fit(take(X, rest), Y[rest])])
    for other in (stream, merged, pickle.loads(pickle.dumps(whole))):
        np.testing.assert_allclose(other.predict_proba(X), expected, rtol=1e-9)
    merged.remove(take(X, rest), Y[rest])
    np.testing.assert_allclose(merged.predict_proba(X), begun.predict_proba(X), rtol=1e-9)
    path = tmp_path / "model.suffice"
    whole.save(path)
    loaded = suffice.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), expected)
    for each in (whole, loaded):
        drawn, labels = each.sample(50, random_state=0)
        assert type(drawn) is type(X)
        assert each.predict_proba(drawn).shape == (50, 3)
        body = Texts.of(drawn[:, 0] if engine == "array" else drawn["body"]).listed()
        known = {word.lower() for words in WORDS.values() for word in words}
        assert {word for text in body for word in text.split()} <= known
        assert (each.predict(drawn) == labels).mean() > 0.5
    np.testing.assert_allclose(
        whole.explain(X, "spam", "ham").log_odds, np.log(expected[:, 2] / expected[:, 0]), rtol=1e-8
    )
    names = ["body", "title"] if engine != "array" else [0, 2]
    assert [name for name, family in whole.families_.items() if family.name == "text"] == names
    shares = whole.parameters(names[0])
    assert sorted(shares["level"]) == sorted(known)
    np.testing.assert_allclose(np.sum(shares["given spam"]), 1.0)
    assert np.isfinite(whole.score_samples(X)).all()


def test_one_block_for_each_column():
    both = {("body", "title"): "text", "size": "gaussian"}
    frame = pd.DataFrame(COLUMNS)
    grouped, apart = NaiveBayes(both, estimation=None).fit(frame, Y), model("pandas").fit(frame, Y)
    assert list(grouped.families_) == ["body", "size", "title"]
    np.testing.assert_array_equal(grouped.predict_proba(frame), apart.predict_proba(frame))
    texts = frame[["body", "title"]]
    all_texts = NaiveBayes("text").fit(texts, Y)
    assert list(all_texts.families_) == ["body", "title"]
    np.testing.assert_array_equal(
        all_texts.predict_proba(texts), NaiveBayes({"body": "text", "title": "text"}).fit(texts, Y).predict_proba(texts)
    )
    one = NaiveBayes("text").fit(frame[["body"]], Y)
    assert list(one.families_) == ["body"]


def test_an_array_of_one_column():
    X = np.array(BODY)[:, None]
    _, y = np.unique(Y, return_inverse=True)
    counts = CountVectorizer(binary=True).fit(BODY)
    theirs = BernoulliNB(alpha=0.5).fit(counts.transform(BODY), y)
    ours = NaiveBayes(type(family_named("text"))(event="bernoulli", smoothing=0.5)).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(counts.transform(BODY)), rtol=1e-9)
    assert NaiveBayes("text").fit(X, Y).predict([["cheap pills"]]).tolist() == ["spam"]


def test_settings_that_do_not_concern_text():
    frame = pd.DataFrame(COLUMNS)
    expected = model("pandas").fit(frame, Y).predict_proba(frame)
    for settings in ({"missing": "category"}, {"unseen": "error"}, {"unseen": "share"}):
        np.testing.assert_array_equal(model("pandas", **settings).fit(frame, Y).predict_proba(frame), expected)


def test_text_is_a_category_unless_it_is_named():
    frame = pd.DataFrame({"kind": TITLE, "body": [f"{text} {i}" for i, text in enumerate(BODY)]})
    with pytest.warns(
        SufficeWarning,
        match=r"Column 'body' holds 90 different strings.*count its words with families=\{'body': 'text'\}",
    ):
        fitted = NaiveBayes().fit(frame, Y)
    assert {family.name for family in fitted.families_.values()} == {"categorical"}
    NaiveBayes({"body": "text"}).fit(frame, Y)


def test_a_column_without_a_document():
    frame = pd.DataFrame({"body": pd.Series([None] * N, dtype=object), "size": SIZE})
    with pytest.warns(EmptyColumnWarning, match="no values in column 'body', so it has no effect"):
        fitted = NaiveBayes({"body": "text"}).fit(frame, Y)
    alone = NaiveBayes().fit(frame[["size"]], Y)
    np.testing.assert_allclose(fitted.predict_proba(frame), alone.predict_proba(frame[["size"]]))
    with pytest.raises(InputError, match="no document has a word"):
        NaiveBayes({"body": "text"}).fit(pd.DataFrame({"body": ["a"] * N, "size": SIZE}), Y)


def test_documents_that_say_nothing():
    frame = pd.DataFrame({"body": HOLED})
    fitted = NaiveBayes({"body": "text"}).fit(frame, Y)
    nothing = pd.DataFrame({"body": pd.Series(["", "never met", None, np.nan], dtype=object)})
    np.testing.assert_allclose(fitted.predict_proba(nothing), fitted.class_prior_[None, :].repeat(4, axis=0))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([1.5, 2.5], "Column 'body', row 0 holds 1.5, which is not a string"),
        (pd.Series(["a", 5], dtype=object), "Column 'body', row 1 holds 5, which is not a string"),
        (pd.Series([b"ok", b"\xff"], dtype=object), "row 1 holds bytes that are not utf-8: .* Decode the column"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "Column 'body', row 0 holds"),
    ],
)
def test_what_is_no_text(body, message):
    frame = pd.DataFrame({"body": body})
    with pytest.raises(InputError, match=message):
        NaiveBayes({"body": "text"}).fit(frame, ["a", "b"])
    fitted = NaiveBayes({"body": "text"}).fit(pd.DataFrame({"body": ["ab", "cd"]}), ["a", "b"])
    with pytest.raises(InputError, match=message):
        fitted.predict(frame)


def test_numbers_where_text_is_due():
    with pytest.raises(InputError, match="Column 1 holds numbers; expected text"):
        NaiveBayes({1: "text"}).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert NoColumn(2).documents("body").listed() == [None, None]


def test_words_read_differently_do_not_merge():
    frame = pd.DataFrame({"body": BODY})
    text = type(family_named("text"))
    with pytest.raises(MergeError):
        NaiveBayes({"body": "text"}).fit(frame, Y).merge(NaiveBayes({"body": text(lowercase=False)}).fit(frame, Y))


def test_stop_words_that_are_never_met():
    text = type(family_named("text"))
    with pytest.warns(SufficeWarning, match="gives 'lunch', not among them"):
        NaiveBayes({"body": text(stop_words=["LUNCH"])}).fit(pd.DataFrame({"body": BODY}), Y)


@pytest.mark.parametrize("settings", [{"smoothing": "auto"}, {"calibrate": True}], ids=str)
def test_chosen_and_calibrated(settings):
    frame = pd.DataFrame(COLUMNS)
    fitted = model("pandas", **settings).fit(frame, Y)
    np.testing.assert_allclose(fitted.predict_proba(frame).sum(axis=1), 1.0)
    assert (fitted.predict(frame) == Y).mean() > 0.9


def test_texts_of_a_frame_are_read_once(monkeypatch):
    frame = pd.DataFrame(COLUMNS)
    made = []
    of = Texts.of.__func__
    monkeypatch.setattr(Texts, "of", classmethod(lambda cls, *args, **named: made.append(1) or of(cls, *args, **named)))
    model("pandas", smoothing="auto").fit(frame, Y)
    assert len(made) == 2  # two columns
