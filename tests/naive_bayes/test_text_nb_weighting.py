"""Documents of unit length, against scikit-learn on the same matrix."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize

import suffice
from families.corpora import corpus
from suffice import InputError, MergeError, TextNaiveBayes


@pytest.fixture
def documents():
    docs, y = corpus(np.random.default_rng(3), 80)
    return [each for each in docs if each], y[[bool(each) for each in docs]]


@pytest.mark.parametrize(("event", "model"), [("multinomial", MultinomialNB), ("complement", ComplementNB)])
def test_the_model_of_normalised_rows(documents, event, model):
    docs, y = documents
    words = CountVectorizer().fit(docs)
    unit = normalize(words.transform(docs).astype(float).log1p())
    theirs = model(alpha=0.3, fit_prior=event == "multinomial").fit(unit, y).predict_log_proba(unit)
    mine = TextNaiveBayes(event, weighting="unit", smoothing=0.3, prior="data" if event == "multinomial" else "uniform")
    np.testing.assert_allclose(mine.fit(docs, y).predict_log_proba(docs), theirs, atol=1e-7)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"idf": True},
        {"event": "complement"},
        {"event": "normalised_complement", "idf": True},
        {"slots": 9},
        {"estimation": "bayes"},
    ],
)
def test_parts_of_words_sum_to_the_log_odds(documents, settings):
    docs, y = documents
    model = TextNaiveBayes(weighting="unit", **settings).fit(docs, y % 2)
    odds = np.diff(model.predict_log_proba(docs)).ravel()
    explained = [parts.sum() for parts in model.explain(docs, label=1, against=0).parts]
    np.testing.assert_allclose(explained, odds, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_transformed_weight_normalised_complement(documents, n_classes):
    """Rennie, Shih, Teevan and Karger (2003), with lengths before inverse document frequencies."""
    docs, y = documents[0], documents[1] % n_classes
    unit = normalize(CountVectorizer().fit_transform(docs).astype(float).log1p())
    unit.data = np.round(unit.data * 2**30) / 2**30  # as weights are stored
    x = unit.multiply(TfidfTransformer(smooth_idf=True).fit(unit > 0).idf_).tocsr()
    theirs = ComplementNB(alpha=0.3, norm=True).fit(x, y)
    mine = TextNaiveBayes("normalised_complement", weighting="unit", idf=True, smoothing=0.3, prior="uniform")
    scale = ComplementNB(alpha=0.3).fit(x, y).feature_log_prob_.sum(axis=1).mean()
    scores = scale * theirs.predict_joint_log_proba(x)
    expected = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    np.testing.assert_allclose(mine.fit(docs, y).predict_log_proba(docs), expected, atol=1e-10)
    np.testing.assert_array_equal(mine.predict(docs), theirs.predict(x))


@pytest.mark.parametrize("event", ["multinomial", "normalised_complement"])
def test_streams_and_merges_are_exact(documents, tmp_path, event):
    docs, y = documents
    model = TextNaiveBayes(event, weighting="unit", idf=True)
    whole = model.fit(docs, y).predict_proba(docs)
    parts = [TextNaiveBayes(event, weighting="unit", idf=True).fit(docs[i::3], y[i::3]) for i in range(3)]
    merged = suffice.merge(parts)
    np.testing.assert_array_equal(merged.predict_proba(docs), whole)
    merged.partial_fit(["word of another kind"], [0]).remove(["word of another kind"], [0]).save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict_proba(docs), whole)
    with pytest.raises(MergeError, match="different settings: weighting='unit' and the default weighting"):
        merged.merge(TextNaiveBayes().fit(docs, y))


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_weights_are_no_density(documents, event):
    model = TextNaiveBayes(event, weighting="unit").fit(*documents)
    for method in (lambda: model.sample(3), lambda: model.log_likelihood(["word"])):
        with pytest.raises(InputError, match=r"Use weighting='count'"):
            method()
    with pytest.raises(InputError, match=r"weighting='unit' has no log-likelihood.*Use weighting='count'"):
        model.score_samples(["word"])
    with pytest.raises(InputError, match=r"weighting must be 'count' or 'unit'.*Did you mean 'unit'"):
        TextNaiveBayes(weighting="units").fit(*documents)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "normalised_complement"])
def test_a_document_without_known_words_has_the_prior(documents, event, tmp_path):
    docs, y = documents[0] * 3, np.random.default_rng(0).integers(0, 2, 3 * len(documents[0]))
    y[::3] = 1  # labels that words do not explain, so the model is too confident
    model = TextNaiveBayes(event, weighting="unit", smoothing=0.001, calibrate=True)
    model.fit([*docs, "", "", None], [*y, 0, 1, 1])
    assert model.calibration_.slope < 1
    expected = np.tile(model.class_prior_, (3, 1))
    np.testing.assert_allclose(model.predict_proba(["", "unknown", None]), expected, rtol=1e-12)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict_proba([""]), model.predict_proba([""]))
    np.testing.assert_allclose(model.set_params(prior="uniform").predict_proba(["", None]), 0.5, rtol=1e-12)
    parts = model.explain([""]).parts
    np.testing.assert_allclose(np.sum(parts[0]), 0.0, atol=1e-12)


def test_missing_documents_do_not_move_the_calibration(documents):
    docs, y = documents[0], documents[1] % 2
    model = TextNaiveBayes("bernoulli", weighting="unit", calibrate=True, prior="uniform")
    # As many missing documents in both classes: the class shares, and so the scores, stay as they are.
    n = np.bincount(y)
    missing = np.repeat([0, 1], 2 * n)
    alone = model.fit(docs, y).predict_proba(docs)
    together = model.fit([*docs, *([None] * len(missing))], [*y, *missing]).predict_proba(docs)
    np.testing.assert_allclose(together, alone, atol=0.02)
    np.testing.assert_allclose(model.predict_proba([None]), 0.5, rtol=1e-12)


@pytest.mark.parametrize("calibrate", [False, True])
def test_the_linear_form_is_that_of_documents_with_known_words(documents, calibrate):
    docs, y = documents[0], documents[1] % 2
    model = TextNaiveBayes("bernoulli", weighting="unit", calibrate=calibrate).fit(docs, y)
    form = model.linear_form()
    assert model.known_words(docs).all()
    rows = np.array([[word in doc.lower().split() for word in form.columns] for doc in docs], dtype=float)
    linear = 1 / (1 + np.exp(-rows @ form.theta - form.theta0))
    outliers = model.calibration_.outliers if calibrate else 0.0  # the linear form is without them
    expected = (1 - outliers) * linear + outliers * model.class_prior_[1]
    np.testing.assert_allclose(model.predict_proba(docs)[:, 1], expected, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba([""])[0], model.class_prior_, rtol=1e-12)
