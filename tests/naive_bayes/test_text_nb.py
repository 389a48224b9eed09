"""`TextNaiveBayes` against scikit-learn's pipelines, and through its verbs."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection import cross_val_score as their_cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import suffice
from suffice import InputError, MergeError, TextNaiveBayes
from suffice.model_selection import cross_val_predict, cross_validate, leave_one_out

RNG = np.random.default_rng(3)
WORDS = np.array([f"{stem}{end}" for stem in ("spam", "Straße", "日本", "x", "ab_", "ÉTÉ") for end in range(30)])
SHARES = RNG.dirichlet(np.full(len(WORDS), 0.3), 3)


def corpus(n=240, n_classes=3, seed=0):
    """Documents of words of several scripts; some are empty."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    sizes = rng.integers(0, 25, n)
    texts = [" ".join(rng.choice(WORDS, size, p=SHARES[k])) for size, k in zip(sizes, y, strict=True)]
    return texts, np.array(["ham", "spam", "list"])[y]


X, Y = corpus()
NEW = [*corpus(60, seed=1)[0], "", "nothing known", "spam1 " * 500]
EVENTS = {
    "multinomial": MultinomialNB,
    "bernoulli": BernoulliNB,
    "complement": ComplementNB,
}


def most_frequent(texts, most):
    """The vocabulary of the notes: the most frequent words, of equally frequent ones the first."""
    counter = CountVectorizer()
    totals = counter.fit_transform(texts).sum(axis=0).A1
    words = counter.get_feature_names_out()
    return sorted(words[np.lexsort((words, -totals))[:most]].tolist())


def their_pipeline(event, texts, most=None, smoothing=1.0):
    return make_pipeline(CountVectorizer(vocabulary=most_frequent(texts, most)), EVENTS[event](alpha=smoothing))


@pytest.mark.parametrize("max_words", [10_000, 40, None])
@pytest.mark.parametrize("smoothing", [1.0, 0.1])
@pytest.mark.parametrize("event", EVENTS)
def test_probabilities_are_those_of_scikit_learn(event, smoothing, max_words):
    theirs = their_pipeline(event, X, max_words, smoothing).fit(X, Y)
    ours = TextNaiveBayes(event, smoothing=smoothing, max_words=max_words).fit(X, Y)
    assert ours.vocabulary_ == most_frequent(X, max_words)
    scores = ours.predict_log_proba(NEW)
    expected = theirs.predict_log_proba(NEW)
    if event == "complement":  # whose scores there have no prior
        expected = expected + np.log(ours.class_prior_)
        expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-11)
    counts = theirs[0].transform(X).toarray()
    assert_array_equal(ours.word_count_, [counts[label == Y].sum(axis=0) for label in ours.classes_])
    assert_array_equal(ours.document_count_, [(counts[label == Y] > 0).sum(axis=0) for label in ours.classes_])


@pytest.mark.parametrize(
    "settings",
    [
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"lowercase": False},
        {"stop_words": ["spam1", "x2"]},
        {"strip_accents": "unicode"},
        {"analyzer": str.split},
    ],
    ids=str,
)
def test_words_are_read_as_scikit_learn_reads_them(settings):
    theirs = make_pipeline(CountVectorizer(**settings), MultinomialNB()).fit(X, Y)
    ours = TextNaiveBayes(**settings, max_words=None).fit(X, Y)
    assert_allclose(ours.predict_log_proba(NEW), theirs.predict_log_proba(NEW), rtol=1e-8, atol=1e-10)


def test_marks_are_words_if_asked_for():
    texts = [f"{text}!!! {i}$" for i, text in enumerate(X)]
    pattern = r"(?u)\b\w+\b|[^\w\s]"
    theirs = make_pipeline(CountVectorizer(token_pattern=pattern, ngram_range=(1, 2)), MultinomialNB()).fit(texts, Y)
    ours = TextNaiveBayes(punctuation=True, min_length=1, ngram_range=(1, 2), max_words=None).fit(texts, Y)
    assert "! !" in ours.vocabulary_
    assert_allclose(ours.predict_log_proba(texts), theirs.predict_log_proba(texts), rtol=1e-8, atol=1e-10)


def test_counts_by_class():
    model = TextNaiveBayes().fit(["a pill, a pill", "one pill", None, "one day"], ["s", "s", "s", "h"])
    assert model.vocabulary_ == ["day", "one", "pill"]
    assert_array_equal(model.word_count_, [[1, 1, 0], [0, 1, 3]])
    assert_array_equal(model.document_count_, [[1, 1, 0], [0, 1, 2]])
    assert_array_equal(model.missing_count_, [0, 1])
    assert_array_equal(model.class_count_, [1, 3])
    model.set_params(max_words=1)
    assert model.vocabulary_ == ["pill"]
    assert_array_equal(model.document_count_, [[0], [2]])


@pytest.mark.parametrize(
    "given",
    [
        tuple,
        np.array,
        lambda x: np.array(x, dtype=object)[:, None],
        pd.Series,
        lambda x: pd.DataFrame({"body": x}),
        pl.Series,
        lambda x: pl.DataFrame({"body": x}),
        pa.array,
        lambda x: pa.table({"body": x}),
        lambda x: [each.encode() for each in x],
        iter,
    ],
)
def test_any_column_of_texts(given):
    plain = TextNaiveBayes().fit(X, Y)
    model = TextNaiveBayes().fit(given(X), Y)
    assert_array_equal(model.predict_proba(given(NEW)), plain.predict_proba(NEW))


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    "settings",
    [
        {"event": "bernoulli"},
        {"event": "complement", "smoothing": 0.5},
        {"max_words": 12},
        {"estimation": "bayes"},
        {"binary": True, "idf": True, "length": 0.7},
    ],
    ids=str,
)
def test_settings_are_changed_without_reading_again(settings):
    model = TextNaiveBayes().fit(X, Y)
    before = model.predict_proba(NEW)
    model.set_params(**settings)
    assert_array_equal(model.predict_proba(NEW), TextNaiveBayes(**settings).fit(X, Y).predict_proba(NEW))
    assert np.abs(model.predict_proba(NEW) - before).max() > 1e-6


def test_settings_that_read_otherwise_need_another_fit():
    model = TextNaiveBayes().fit(X, Y).set_params(lowercase=False)
    with pytest.raises(MergeError, match=r"lowercase=False. Restore the settings, or call fit again"):
        model.predict(NEW)
    assert model.set_params(lowercase=True).score(X, Y) > 0.5
    with pytest.raises(MergeError, match="ngram_range"):
        TextNaiveBayes().fit(X, Y).merge(TextNaiveBayes(ngram_range=(1, 2)).fit(X, Y))
    with pytest.raises(MergeError, match="hashed to 64 slots"):
        TextNaiveBayes().fit(X, Y).merge(TextNaiveBayes(slots=64).fit(X, Y))


def test_scikit_learn_takes_it_for_an_estimator():
    model = TextNaiveBayes("bernoulli", smoothing=0.3, stop_words=["x1"])
    assert clone(model).get_params() == model.get_params()
    model.fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    tags = model.__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    piped = make_pipeline(FunctionTransformer(lambda texts: [text.upper() for text in texts]), TextNaiveBayes())
    assert piped.fit(X, Y).score(X, Y) == TextNaiveBayes().fit([x.upper() for x in X], Y).score(
        [x.upper() for x in X], Y
    )
    search = GridSearchCV(TextNaiveBayes(), {"smoothing": [0.01, 1.0], "event": ["bernoulli", "multinomial"]}, cv=3)
    pipeline = make_pipeline(CountVectorizer(max_features=10_000), MultinomialNB())
    search.fit(X, Y)
    theirs = their_cross_val_score(pipeline, X, Y, cv=3).mean()
    at = search.cv_results_["params"].index({"event": "multinomial", "smoothing": 1.0})
    assert_allclose(search.cv_results_["mean_test_score"][at], theirs)


def test_it_shows_itself():
    assert repr(TextNaiveBayes("complement")) == "TextNaiveBayes(event='complement')"
    model = TextNaiveBayes().fit(["one", "two", None], [0, 1, 1])
    assert repr(model) == "TextNaiveBayes()\n  3 documents of 2 classes, 2 words"
    assert "16 slots" in repr(TextNaiveBayes(slots=16).fit(["one", "two"], [0, 1]))
    assert model.settings_["event"] == "multinomial"


# ---------------------------------------------------------------------- verbs


def statistics(model):
    statistic = model.fitted_.model.statistics[0]
    words = statistic.vocabulary.words
    return words, statistic.count, statistic.documents, statistic.weight, statistic.missing


def assert_same_counts(a, b):
    """Whether two models have counted the same, exactly."""
    assert_array_equal(a.classes_, b.classes_)
    for mine, theirs in zip(statistics(a), statistics(b), strict=True):
        assert_array_equal(mine, theirs)


@pytest.mark.parametrize("slots", [0, 64])
def test_streamed_in_batches_it_is_the_model_of_all(slots):
    whole = TextNaiveBayes(slots=slots).fit(X, Y)
    stream = TextNaiveBayes(slots=slots)
    for start in range(0, len(X), 37):
        stream.partial_fit(X[start : start + 37], Y[start : start + 37])
    stream.partial_fit([], [])
    assert_same_counts(stream, whole)
    assert_array_equal(stream.predict_proba(NEW), whole.predict_proba(NEW))


@pytest.mark.parametrize("slots", [0, 64])
def test_eight_filters_become_one(slots):
    own = [f"{text} own{i % 8}" for i, text in enumerate(X)]
    parts = [TextNaiveBayes(slots=slots).fit(own[i::8], Y[i::8]) for i in range(8)]
    if not slots:
        assert len({tuple(part.vocabulary_) for part in parts}) == 8
    whole = TextNaiveBayes(slots=slots).fit(own, Y)
    merged = suffice.merge(parts)
    assert_same_counts(merged, whole)
    assert_array_equal(merged.predict_proba(NEW), whole.predict_proba(NEW))


def test_removing_a_document_restores_the_model():
    model = TextNaiveBayes().fit(X, Y)
    before = TextNaiveBayes().fit(X, Y)
    model.partial_fit(["brand new words", X[0], None], ["spam", "spam", "ham"])
    assert "brand" in model.vocabulary_
    model.remove(["brand new words", X[0], None], ["spam", "spam", "ham"])
    assert_same_counts(model, before)
    with pytest.raises(MergeError, match="Cannot remove documents with 'never', 'there' in column 'text'"):
        model.remove(["never there"], ["spam"])
    with pytest.raises(MergeError, match="Cannot remove a weight of 300"):
        model.remove([X[0]] * 300, ["spam"] * 300)
    assert_same_counts(model, before)


def test_forgetting():
    model = TextNaiveBayes().fit(X, Y).decay(0.5)
    weighted = TextNaiveBayes().fit(X, Y, sample_weight=np.full(len(X), 0.5))
    assert_allclose(model.predict_proba(NEW), weighted.predict_proba(NEW), rtol=1e-12)
    streamed = TextNaiveBayes().fit(X, Y).partial_fit(NEW, ["ham"] * len(NEW), decay=0.5)
    both = TextNaiveBayes().fit([*X, *NEW], [*Y, *["ham"] * len(NEW)], sample_weight=[0.5] * len(X) + [1.0] * len(NEW))
    assert_allclose(streamed.predict_proba(X), both.predict_proba(X), rtol=1e-10)


def test_weights_are_copies():
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = TextNaiveBayes().fit(X, Y, sample_weight=weights)
    copies = TextNaiveBayes().fit(np.repeat(np.array(X, dtype=object), weights), np.repeat(Y, weights))
    assert_same_counts(weighted, copies)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_documents_are_drawn_with_the_shares_of_their_class(event):
    model = TextNaiveBayes(event).fit(X, Y)
    drawn, labels = model.sample(4000, random_state=0)
    assert drawn.shape == (4000,)
    assert all(isinstance(text, str) for text in drawn)
    assert model.sample(2, label="spam", random_state=1)[1].tolist() == ["spam", "spam"]
    again = TextNaiveBayes(event).fit(drawn, labels)
    assert_allclose(again.class_prior_, model.class_prior_, atol=0.03)
    common = [model.vocabulary_.index(word) for word in again.vocabulary_]
    mine, theirs = (m.fitted_.estimate.parameters[0].slope for m in (model, again))
    assert_allclose(np.exp(theirs), np.exp(mine[:, common]), atol=0.05)
    assert np.isfinite(model.score_samples(drawn)).all()
    one = model.conditional("spam")
    assert isinstance(str(one.rvs(random_state=0)), str)
    assert_allclose(
        one.logpdf(drawn[:3]), model.predict_joint_log_proba(drawn[:3])[:, 2] - np.log(model.class_prior_[2])
    )


def test_densities_are_those_of_the_multinomial():
    from scipy.stats import multinomial

    model = TextNaiveBayes().fit(X, Y)
    counter = CountVectorizer(vocabulary=model.vocabulary_)
    counts = counter.transform(NEW).toarray()
    shares = model.word_count_ + 1
    shares = shares / shares.sum(axis=1, keepdims=True)
    expected = np.column_stack([multinomial.logpmf(counts, counts.sum(axis=1), share) for share in shares])
    assert_allclose(model.predict_joint_log_proba(NEW), expected + np.log(model.class_prior_), rtol=1e-9, atol=1e-9)
    assert_allclose(
        model.log_likelihood(NEW), np.logaddexp.reduce(expected + np.log(model.class_prior_), axis=1).sum(), rtol=1e-9
    )
    with pytest.raises(InputError, match="event='complement'"):
        TextNaiveBayes("complement").fit(X, Y).score_samples(NEW)


def test_saved_and_loaded(tmp_path):
    path = tmp_path / "filter.suffice"
    settings = {"event": "auto", "smoothing": "auto", "max_words": "auto", "calibrate": True, "stop_words": ("x1",)}
    for model in (TextNaiveBayes(slots=128), TextNaiveBayes(**settings)):
        model.fit(X, Y).save(path)
        loaded = suffice.load(path)
        assert loaded.get_params() == model.get_params()
        assert_array_equal(loaded.predict_proba(NEW), model.predict_proba(NEW))
        assert loaded.settings_ == model.settings_
        assert_same_counts(loaded.partial_fit(NEW, ["ham"] * len(NEW)), model.partial_fit(NEW, ["ham"] * len(NEW)))
    assert repr(loaded.tuning_) == repr(model.tuning_)
    with pytest.raises(suffice.ModelFileError, match="analyzer"):
        TextNaiveBayes(analyzer=re.compile(r"\w").findall).fit(X, Y).save(path)


def test_unlabelled_documents_teach():
    texts, labels = corpus(600, n_classes=2, seed=5)
    few = TextNaiveBayes(smoothing=0.1).fit(texts[:8], labels[:8])
    more = TextNaiveBayes(smoothing=0.1).fit(texts[:8], labels[:8], unlabelled=texts[8:500])
    assert (np.diff(more.log_likelihoods_) >= 0).all()
    assert more.score(texts[500:], labels[500:]) > few.score(texts[500:], labels[500:])
    assert set(few.vocabulary_) < set(more.vocabulary_)
    streamed = TextNaiveBayes(smoothing=0.1).fit(texts[:8], labels[:8], unlabelled=iter(texts[8:500]))
    assert_array_equal(streamed.log_likelihoods_, more.log_likelihoods_)
    with pytest.raises(InputError, match="Text with event='complement' has no log-likelihood"):
        TextNaiveBayes("complement").fit(texts[:8], labels[:8], unlabelled=texts[8:])


# ---------------------------------------------------------------------- rows that are left out


@pytest.mark.parametrize("event", EVENTS)
def test_left_out_as_by_scikit_learn(event):
    texts, labels = corpus(60, seed=7)
    found = leave_one_out(TextNaiveBayes(event, max_words=40), texts, labels)
    for i in range(len(texts)):
        others, rest = [*texts[:i], *texts[i + 1 :]], np.delete(labels, i)
        plain = TextNaiveBayes(event, max_words=40).fit(others, rest)
        assert_allclose(found[i], plain.predict_proba(texts[i : i + 1])[0], rtol=1e-8, atol=1e-12)
        if event != "complement":
            theirs = their_pipeline(event, others, 40).fit(others, rest)
            assert_allclose(found[i], theirs.predict_proba([texts[i]])[0], rtol=1e-8, atol=1e-12)


def test_cross_validated_in_one_pass():
    theirs = their_cross_val_score(make_pipeline(CountVectorizer(), MultinomialNB()), X, Y, cv=4)
    assert_allclose(cross_validate(TextNaiveBayes(), X, Y, cv=4)["test_score"], theirs)
    assert_allclose(np.mean(cross_val_predict(TextNaiveBayes(), X, Y, cv=4) == Y), np.mean(theirs), atol=0.01)


@pytest.mark.parametrize("calibrate", [True, "isotonic"])
def test_calibrated(calibrate):
    texts, labels = corpus(1500, seed=9)
    long = [" ".join(5 * text.split()[:3]) for text in texts]  # each word five times: far too sure
    plain, mended = (TextNaiveBayes(calibrate=each).fit(long[:700], labels[:700]) for each in (False, calibrate))
    codes = plain.fitted_.model.classes.positions(labels[700:])
    losses = [-np.log(m.predict_proba(long[700:])[np.arange(800), codes]).mean() for m in (plain, mended)]
    assert losses[1] < losses[0]
    assert mended.calibration_.rule == "leave-one-out"
    if calibrate is True:
        assert mended.calibration_.slope < 0.8


def test_other_class_shares():
    model = TextNaiveBayes().fit(X, Y)
    other = model.with_prior({"ham": 0.9, "list": 0.05, "spam": 0.05})
    ratio = other.predict_log_proba(NEW) - model.predict_log_proba(NEW)
    ratio -= np.log([0.9, 0.05, 0.05]) - np.log(model.class_prior_)
    assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape), atol=1e-8)
    texts, labels = corpus(3000, seed=11)
    few = np.flatnonzero((labels != "ham") | (np.arange(3000) % 5 == 0))
    adapted = model.adapt_prior([texts[i] for i in few])
    assert adapted.significant
    assert_array_equal(model.adapt_prior(texts[i] for i in few).shares, adapted.shares)
    assert_allclose(adapted.shares[0], (labels[few] == "ham").mean(), atol=0.05)
