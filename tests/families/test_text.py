"""Documents as bags of words, against scikit-learn's vectoriser and naive Bayes, and against their formulas."""

import pickle

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from families.corpora import corpus, relative
from suffice import InputError, MergeError
from suffice.families import Bernoulli, Multinomial, Text
from suffice.families.multinomial_draws import drawn_shares
from suffice.families.text.informative_words import informative_words, word_parts
from suffice.families.text.parameters import most_frequent
from suffice.model import Block, Model
from suffice.statistics import ClassAxis, Membership
from suffice.text.table import TextTable
from suffice.text.texts import Texts

THEIRS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}
WEIGHTED = [{}, {"binary": True}, {"idf": True}, {"binary": True, "idf": True}]
EVERY = [
    *({"event": event} | more for event in ("multinomial", "complement") for more in (*WEIGHTED, {"length": 0.6})),
    *({"estimation": "bayes"} | more for more in (*WEIGHTED, {"length": 1.0, "idf": True})),
    *({"event": event, "estimation": "mle"} for event in THEIRS),
    {"event": "bernoulli"},
]


def members(codes, **more):
    return Membership(ClassAxis.of(range(int(codes.max()) + 1)), codes=codes, **more)


def fitted(family, docs, codes, **more):
    statistic = family.summarize(Texts(docs), members(codes, **more))
    return statistic, family.estimate(statistic)


def chosen_columns(docs, most, **settings):
    """Counts of the most frequent words, by scikit-learn."""
    every = CountVectorizer(**settings)
    counts = every.fit_transform(docs)
    total = np.asarray(counts.sum(axis=0)).ravel()
    at = np.sort(np.argsort(-total, kind="stable")[:most])
    return counts[:, at], every.get_feature_names_out()[at].tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [None, 25, 10])
@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize(
    "settings",
    [{"event": event} | more for event in ("multinomial", "complement") for more in WEIGHTED]
    + [{"event": "bernoulli"}],
)
def test_scores_are_those_of_scikit_learn(settings, alpha, most, weighted):
    rng = np.random.default_rng(3)
    docs, codes = corpus(rng)
    # With weights on, the words that are chosen are those of the weighted counts.
    weights = rng.integers(1, 4, len(docs)).astype(float) if weighted else None
    repeated = np.repeat(np.arange(len(docs)), 1 if weights is None else weights.astype(int))
    family = Text(smoothing=alpha, max_words=most, **settings)
    _, parameters = fitted(family, docs, codes, weights=weights)
    x, words = chosen_columns([docs[i] for i in repeated], most)
    if family.binary:
        x = (x > 0).astype(float)
    if family.idf:
        x = TfidfTransformer(norm=None, smooth_idf=True).fit_transform(x)
    options = {} if family.event == "complement" else {"fit_prior": False}
    theirs = THEIRS[family.event](alpha=alpha, **options).fit(x, codes[repeated])
    assert parameters.words == words
    found = family.relative_log_likelihood(parameters, Texts([docs[i] for i in repeated]))
    np.testing.assert_allclose(relative(found), relative(theirs.predict_joint_log_proba(x)), atol=1e-10)


@pytest.mark.parametrize("settings", [{}, {"binary": True}, {"idf": True}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_of_the_complement_are_normalised_as_by_scikit_learn(settings, n_classes):
    docs, codes = corpus(np.random.default_rng(3), n_classes=n_classes)
    family = Text("normalised_complement", smoothing=0.3, max_words=20, **settings)
    _, parameters = fitted(family, docs, codes)
    x = chosen_columns(docs, 20)[0]
    x = (x > 0).astype(float) if family.binary else x
    x = TfidfTransformer(norm=None, smooth_idf=True).fit_transform(x) if family.idf else x
    theirs = ComplementNB(alpha=0.3, norm=True).fit(x, codes)
    plain = ComplementNB(alpha=0.3).fit(x, codes).feature_log_prob_
    # Weights sum to the mean of their sums, not to one: scores keep the scale of log-likelihoods.
    scale = plain.sum(axis=1).mean()
    found = family.relative_log_likelihood(parameters, Texts(docs))
    np.testing.assert_allclose(found, scale * theirs.predict_joint_log_proba(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(family.level_table(parameters)[1], np.exp(-plain).T, rtol=1e-12)


@pytest.mark.parametrize("settings", [{"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}])
def test_words_are_those_of_the_analysis(settings):
    docs, codes = corpus(np.random.default_rng(4), 40)
    family = Text(max_words=30, **settings)
    _, parameters = fitted(family, docs, codes)
    x, words = chosen_columns(docs, 30, **settings)
    assert parameters.words == words
    theirs = MultinomialNB(fit_prior=False).fit(x, codes)
    found = family.relative_log_likelihood(parameters, Texts(docs))
    np.testing.assert_allclose(relative(found), relative(theirs.predict_joint_log_proba(x)), atol=1e-10)


@pytest.mark.parametrize("how", ["map", "mle", "bayes"])
@pytest.mark.parametrize("binary", [False, True])
def test_log_likelihood_is_that_of_counts(how, binary):
    docs, codes = corpus(np.random.default_rng(5), 60)
    family = Text(estimation=how, smoothing=0.3, binary=binary, max_words=20)
    _, parameters = fitted(family, docs, codes)
    x = chosen_columns(docs, 20)[0].toarray().astype(float)
    x = (x > 0).astype(float) if binary else x
    same = Multinomial(estimation=how, smoothing=0.3)
    theirs = same.estimate(same.summarize(x, members(codes)))
    expected = same.log_likelihood(theirs, x)
    np.testing.assert_allclose(family.log_likelihood(parameters, Texts(docs)), expected, rtol=1e-12, atol=1e-10)
    found = family.relative_log_likelihood(parameters, Texts(docs))
    np.testing.assert_allclose(relative(found), relative(expected), atol=1e-10)


@pytest.mark.parametrize("how", ["map", "mle", "bayes"])
def test_bernoulli_words_are_yes_or_no_columns(how):
    docs, codes = corpus(np.random.default_rng(6), 60, n_words=8, missing=0.1)
    there = [i for i, each in enumerate(docs) if each is not None]
    family = Text("bernoulli", estimation=how, max_words=6)
    _, parameters = fitted(family, docs, codes)
    x = (chosen_columns([docs[i] for i in there], 6)[0].toarray() > 0).astype(float)
    same = Bernoulli(estimation=how)
    theirs = same.estimate(same.summarize(x, members(codes[there])))
    expected = np.zeros((len(docs), 3))  # a missing document has no effect
    expected[there] = same.log_likelihood(theirs, x)
    np.testing.assert_allclose(family.log_likelihood(parameters, Texts(docs)), expected, rtol=1e-12)


def test_long_documents_weigh_less():
    docs, codes = corpus(np.random.default_rng(7), 80)
    for gamma in (0.4, 1.0):
        family = Text(length=gamma, idf=True, max_words=12)
        _, parameters = fitted(family, docs, codes)
        x = chosen_columns(docs, 12)[0].toarray()
        length = x.sum(axis=1)
        scale = np.divide(length.mean(), length, out=np.ones(len(length)), where=length > 0) ** gamma
        idf = 1 + np.log((1 + len(docs)) / (1 + (x > 0).sum(axis=0)))
        expected = scale[:, None] * ((x * idf) @ parameters.slope.T)
        found = family.relative_log_likelihood(parameters, Texts(docs))
        np.testing.assert_allclose(relative(found), relative(expected), atol=1e-10)


def test_a_predictive_of_weighted_draws():
    docs, codes = corpus(np.random.default_rng(8), 50)
    family = Text(estimation="bayes", idf=True, length=0.5, smoothing=0.7, max_words=9)
    _, parameters = fitted(family, docs, codes)
    x = chosen_columns(docs, 9)[0].toarray()
    idf = 1 + np.log((1 + len(docs)) / (1 + (x > 0).sum(axis=0)))
    length = x.sum(axis=1)
    scale = np.divide(length.mean(), length, out=np.ones(len(length)), where=length > 0) ** 0.5
    draws = x * idf * scale[:, None]
    totals = np.array([(x[codes == k] * idf).sum(axis=0) for k in range(3)]) + 0.7
    size = totals.sum(axis=1)
    expected = (gammaln(totals + draws[:, None]) - gammaln(totals)).sum(axis=2)
    expected -= gammaln(size + draws.sum(axis=1, keepdims=True)) - gammaln(size)
    found = family.relative_log_likelihood(parameters, Texts(docs))
    np.testing.assert_allclose(relative(found), relative(expected), atol=1e-9)


@pytest.mark.parametrize("settings", EVERY)
def test_many_slots_are_words(settings):
    docs, codes = corpus(np.random.default_rng(9), 60)
    exact, hashed = Text(max_words=None, **settings), Text(max_words=None, slots=2**14, **settings)
    scores = [family.relative_log_likelihood(fitted(family, docs, codes)[1], Texts(docs)) for family in (exact, hashed)]
    np.testing.assert_allclose(relative(scores[1]), relative(scores[0]), atol=1e-9)
    few = Text(slots=5, max_words=3, **settings)
    statistic, parameters = fitted(few, docs, codes)
    assert statistic.count.shape == (3, 5)
    assert len(parameters.words) == 3
    assert not np.isnan(few.relative_log_likelihood(parameters, Texts([*docs, "never met", None, ""]))).any()


@pytest.mark.parametrize("settings", EVERY)
def test_documents_of_no_known_word_say_nothing(settings):
    docs, codes = corpus(np.random.default_rng(10), 60)
    family = Text(**settings)
    _, parameters = fitted(family, docs, codes)
    found = family.relative_log_likelihood(parameters, Texts(["", "unheard of", None, "a b c"]))
    if family.event == "bernoulli":
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(found[[0, 1, 3]], np.tile(found[0], (3, 1)))
        assert np.ptp(found[0]) > 0
        found = found[2:3]
    np.testing.assert_array_equal(found, 0.0)


def test_what_a_class_never_says_is_impossible():
    docs, codes = ["aa bb", "bb cc", "cc cc"], np.array([0, 1, 2])
    family = Text(estimation="mle")
    _, parameters = fitted(family, docs, codes)
    found = family.relative_log_likelihood(parameters, Texts(["aa", "bb", "aa cc", "dd"]))
    np.testing.assert_array_equal(
        np.isfinite(found), [[True, False, False], [True, True, False], [False] * 3, [True] * 3]
    )
    full = family.log_likelihood(parameters, Texts(["aa", "bb", "aa cc", "dd"]))
    np.testing.assert_array_equal(np.isfinite(full), np.isfinite(found))
    there = Text("bernoulli", estimation="mle")
    _, parameters = fitted(there, docs, codes)
    found = there.relative_log_likelihood(parameters, Texts(["aa bb", "cc", "", None]))
    np.testing.assert_array_equal(found, [[0, -np.inf, -np.inf], [-np.inf, -np.inf, 0], [-np.inf] * 3, [0] * 3])
    other = Text("complement", estimation="mle")
    _, parameters = fitted(other, docs, codes)
    found = other.relative_log_likelihood(parameters, Texts(["aa", "bb cc"]))
    np.testing.assert_array_equal(np.isfinite(found), [[True, False, False], [True, True, True]])


@pytest.mark.parametrize("scale", [1.0, 0.01, 0.37, 1e5])
def test_the_most_frequent_words(scale):
    rng = np.random.default_rng(0)
    for _ in range(200):
        total = scale * rng.choice([0, 1, 1, 1, 2, 3, 5, 70000, 2**20, rng.random()], int(rng.integers(1, 30)))
        most = int(rng.integers(1, 12))
        order = [i for i in np.argsort(-total, kind="stable") if total[i] > 0]
        assert most_frequent(total, most).tolist() == sorted(order[:most])
        assert most_frequent(total, None).tolist() == sorted(order)


def test_the_choice_of_words_costs_no_second_pass():
    docs, codes = corpus(np.random.default_rng(11))
    statistic, _ = fitted(Text(max_words=5), docs, codes)
    for family in (Text(max_words=17, idf=True), Text("bernoulli", max_words=None), Text("complement", binary=True)):
        found = family.relative_log_likelihood(family.estimate(statistic), Texts(docs))
        expected = family.relative_log_likelihood(fitted(family, docs, codes)[1], Texts(docs))
        np.testing.assert_array_equal(found, expected)


def test_an_empty_class_takes_the_shares_of_all():
    docs, codes = ["aa bb", "bb"], np.array([0, 0])
    axis = ClassAxis.of(["a", "b"])
    for event in ("multinomial", "bernoulli"):
        family = Text(event, estimation="mle")
        parameters = family.estimate(family.summarize(Texts(docs), Membership(axis, codes=codes)))
        np.testing.assert_allclose(parameters.slope[1], parameters.slope[0])
        assert not np.isnan(family.relative_log_likelihood(parameters, Texts(["aa", "bb aa", ""]))).any()


def test_no_word_at_all():
    axis = ClassAxis.of(["ham", "spam"])
    family = Text()
    with pytest.raises(InputError, match=r"Column 'body': no document has a word.*min_length"):
        family.estimate(family.summarize(Texts(["a", "!", ""]), Membership(axis, codes=np.array([0, 1, 0]))), ["body"])
    for nobody in (family.zero(axis, 1), family.summarize(Texts([None]), Membership(axis, codes=np.array([0])))):
        parameters = family.estimate(nobody, ["body"])  # nothing was there to have words
        np.testing.assert_array_equal(family.relative_log_likelihood(parameters, Texts(["some words"])), [[0.0, 0.0]])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"event": "poisson"}, "event must be"),
        ({"max_words": 0}, "max_words is a number of words"),
        ({"max_words": 2.5}, "max_words is a number of words"),
        ({"slots": -1}, "slots is the number of slots"),
        ({"slots": 2**40}, "slots is the number of slots"),
        ({"idf": "yes"}, "idf must be True or False"),
        ({"length": 1.5}, "length is a number from 0 to 1"),
        ({"length": float("nan")}, "length is a number from 0 to 1"),
        ({"event": "bernoulli", "idf": True}, "idf=True does not apply to event='bernoulli'"),
        ({"event": "bernoulli", "binary": True}, "binary=True does not apply"),
        ({"event": "bernoulli", "length": 0.5}, "length=0.5 does not apply"),
        ({"event": "complement", "estimation": "bayes"}, "is not a distribution"),
        ({"event": "normalised_complement", "estimation": "bayes"}, "is not a distribution"),
        ({"event": "normalised_complement", "estimation": "mle"}, "needs smoothing: .* infinite weight"),
        ({"event": "normalised_complement", "smoothing": 0.0}, "needs smoothing: .* infinite weight"),
        ({"smoothing": -1.0}, "smoothing is"),
        ({"ngram_range": (2, 1)}, "lower boundary"),
    ],
)
def test_settings_that_are_none(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        Text(**settings)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"event": "complement"}, "event='complement'"),
        ({"event": "normalised_complement"}, "event='normalised_complement'"),
        ({"idf": True}, "idf=True"),
        ({"length": 0.5}, "length=0.5"),
    ],
)
def test_scores_that_are_no_densities(settings, named):
    docs, codes = corpus(np.random.default_rng(12), 20)
    family = Text(**settings)
    _, parameters = fitted(family, docs, codes)
    with pytest.raises(InputError, match=f"Text with {named} has no log-likelihood"):
        family.log_likelihood(parameters, Texts(docs))
    with pytest.raises(InputError, match=f"Text with {named} has no sample"):
        family.sample(parameters, codes, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"slots": 8}, "slots=8"), ({"ngram_range": (1, 2)}, "ngram_range"), ({"analyzer": "char"}, "'char'")],
)
def test_what_cannot_be_sampled(settings, named):
    docs, codes = corpus(np.random.default_rng(13), 20)
    family = Text(**settings)
    _, parameters = fitted(family, docs, codes)
    with pytest.raises(InputError, match=named):
        family.sample(parameters, codes, np.random.default_rng(0))


@pytest.mark.parametrize("settings", [{}, {"estimation": "bayes"}, {"event": "bernoulli"}])
def test_samples_have_the_words_of_their_class(settings):
    docs, codes = corpus(np.random.default_rng(14), 300, n_words=10)
    family = Text(**settings)
    statistic, parameters = fitted(family, docs, codes)
    drawn = family.sample(parameters, np.repeat([0, 1, 2], 3000), np.random.default_rng(0))
    assert drawn.shape == (9000, 1)
    again = family.summarize(Texts(drawn[:, 0].tolist()), members(np.repeat([0, 1, 2], 3000)))
    assert again.vocabulary == statistic.vocabulary
    shares = [each.count / each.weight[:, None] for each in (statistic, again)]
    if family.event == "bernoulli":
        shares = [each.documents / each.weight[:, None] for each in (statistic, again)]
    np.testing.assert_allclose(shares[1], shares[0], atol=0.06, rtol=0.15)


@pytest.mark.parametrize("size", [1e-320, 1e-5, 1e-2, 1.0, 50.0])
def test_shares_are_drawn_from_their_dirichlet(size):
    draws = size * np.array([1.0, 2.0, 0.0, 5.0])
    rng = np.random.default_rng(0)
    drawn = np.array([drawn_shares(draws, rng) for _ in range(20_000)])
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    expected = draws / draws.sum()
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.015)
    np.testing.assert_allclose(drawn.var(axis=0), expected * (1 - expected) / (draws.sum() + 1), atol=0.01, rtol=0.05)


def test_a_class_without_words_has_empty_documents():
    family = Text(estimation="bayes", smoothing=1e-5)
    _, parameters = fitted(family, ["aa bb", ""], np.array([0, 1]))
    assert family.sample(parameters, np.array([1, 1]), np.random.default_rng(0)).ravel().tolist() == ["", ""]


@pytest.mark.parametrize("slots", [0, 7])
@pytest.mark.parametrize("settings", EVERY)
def test_what_words_say_sums_to_the_score(settings, slots):
    docs, codes = corpus(np.random.default_rng(15), 40, n_words=12, missing=0.1)
    family = Text(max_words=6, slots=slots, **settings)
    _, parameters = fitted(family, docs, codes)
    whole = family.relative_log_likelihood(parameters, Texts(docs))
    for row, text in enumerate(docs):
        said = word_parts(family, parameters, Texts(docs), row)
        np.testing.assert_allclose(said.parts.sum(axis=0) + said.rest, whole[row], atol=1e-10)
        known = {word for each in said.words for word in each.split(", ")}
        assert known | set(said.unknown) == set((text or "").split())
        assert said.counts.sum() <= len((text or "").split())


def test_telling_words():
    docs = ["cheap cheap pills you", "cheap pills", "hello you", "hello hello"]
    _, parameters = fitted(Text(), docs, np.array([1, 1, 0, 0]))
    found = informative_words(parameters, 1, 0, 2)
    assert found.words == ["cheap", "pills"]
    np.testing.assert_array_equal(found.counts, [[3.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(found.log_odds, np.log([(4 / 10) / (1 / 8), (3 / 10) / (1 / 8)]))
    assert informative_words(parameters, 0, 1, 1).words == ["hello"]


def test_a_model_of_texts():
    docs, codes = corpus(np.random.default_rng(16), missing=0.05)
    family = Text(max_words=15)
    block, table = Block(family, slice(None), ["body"]), TextTable(Texts(docs), ["body"])
    model = Model.summarize([block], table, members(codes))
    estimate = model.estimate()
    ((name, part),) = estimate.terms(table)
    assert name == "body"
    np.testing.assert_allclose(part + estimate.log_prior, estimate.relative_joint(table))
    (column,) = estimate.sample(np.zeros(3, dtype=int), np.random.default_rng(0))
    assert [type(each) for each in column] == [str] * 3
    halves = [Model.summarize([block], table.rows(a, b), members(codes).rows(a, b)) for a, b in ((0, 90), (90, 200))]
    joined = halves[0].merge(halves[1])
    np.testing.assert_array_equal(joined.estimate().relative_joint(table), estimate.relative_joint(table))
    other = Block(Text(ngram_range=(1, 2)), slice(None), ["body"])
    with pytest.raises(MergeError, match=r"the default ngram_range and ngram_range=\(1, 2\)\."):
        model.with_blocks([other])
    with pytest.raises(MergeError, match="read with different settings"):
        model.merge(Model.summarize([other], table, members(codes)))
    changed = model.with_blocks([Block(Text("bernoulli", max_words=3), slice(None), ["body"])])
    assert len(changed.estimate().parameters[0].words) == 3


def test_numbers_where_text_is_due():
    for names, sentence in (
        (["a"], "Column 'a' holds numbers; expected text"),
        (["a", "b"], "takes one column of texts, got 2"),
    ):
        with pytest.raises(InputError, match=sentence):
            Block(Text(), slice(None), names).take(np.ones((3, len(names))))
    table = TextTable(Texts(["some text"]))
    for reads in (table.numbers, table.categories):
        with pytest.raises(InputError, match=r"Set families=\{'body': 'text'\}"):
            reads(slice(None), ["body"])


def test_parameters_are_pickled_without_what_was_made_of_them():
    docs, codes = corpus(np.random.default_rng(17), 30)
    family = Text()
    _, parameters = fitted(family, docs, codes)
    scores = family.relative_log_likelihood(parameters, Texts(docs))
    again = pickle.loads(pickle.dumps(parameters))
    np.testing.assert_array_equal(family.relative_log_likelihood(again, Texts(docs)), scores)
