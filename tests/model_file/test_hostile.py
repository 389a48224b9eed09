"""Files with a valid checksum that Suffice did not write are refused with a sentence, and run no code."""

import copy
import functools

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance

from model_file.cases import CASES, fitted
from suffice import ModelFileError, SufficeError, load
from suffice.discriminant_analysis import QuadraticDiscriminantAnalysis
from suffice.model_file.container import read_container, write_container

NAME = "NaiveBayes, blocks"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A function that saves a model once, and returns the path of its file."""
    folder = tmp_path_factory.mktemp("saved")

    @functools.cache
    def path_of(name):
        path = str(folder / name)
        fitted(name)[0].save(path)
        return path

    return path_of


@pytest.fixture
def forge(tmp_path, saved):
    """A function that changes the content of a saved model, and writes it again with the right checksum."""

    def forged(name, change):
        path = str(tmp_path / "forged")
        document, arrays = read_container(saved(name))
        change(document, arrays)
        write_container(path, document, arrays)
        return path

    return forged


def put(part, value):
    """A change of the document: put a value at a path."""

    def change(document, _):
        at = document
        for key in part[:-1]:
            at = at[key]
        at[part[-1]] = value

    return change


def turn(name, function):
    """A change of an array."""

    def change(_, arrays):
        arrays[name] = np.ascontiguousarray(function(arrays[name]))

    return change


def fill(value):
    def filled(array):
        out = array.copy()
        out.flat[0] = value
        return out

    return filled


FORGED = {
    "unknown estimator": (put(["estimator"], "Popen"), "unknown estimator 'Popen'"),
    "estimator of a module": (put(["estimator"], "os.system"), "unknown estimator"),
    "estimator is a list": (put(["estimator"], ["NaiveBayes"]), "unknown estimator"),
    "another estimator": (put(["estimator"], "GaussianNB"), "GaussianNB has no 'blocks' among its parameters"),
    "unknown parameter": (put(["parameters", "shell"], "ls"), "has no 'shell' among its parameters"),
    "unknown attribute": (put(["attributes", "predict"], "ls"), "has no 'predict' among its attributes"),
    "attribute of another name": (put(["attributes", "_model"], None), "has no '_model'"),
    "unknown tag": (
        put(["parameters", "prior"], {"object": "os.system"}),
        "values of the kind 'object' are not supported",
    ),
    "unknown family": (put(["parameters", "families"], {"family": ["os", {}]}), "family 'os', which is not registered"),
    "a class that is not storable": (put(["parameters", "prior"], {"Popen": {"args": "ls"}}), "kind 'Popen' are not"),
    "two tags": (put(["parameters", "prior"], {"list": [], "tuple": []}), "has the tags"),
    "no tag": (put(["parameters", "prior"], {}), "has the tags"),
    "an invalid setting": (put(["parameters", "unseen"], "explode"), "unseen must be one of"),
    "families of unknown columns": (put(["parameters", "families"], {"dict": [["nose", "gaussian"]]}), "nose"),
    "other families": (put(["parameters", "families"], "poisson"), "statistics"),
    "an unknown array": (put(["weights", "Sums", "weight"], {"array": {"at": "nowhere"}}), "no array 'nowhere'"),
    "an array used twice": (put(["schema", "names"], {"array": {"at": "schema.kinds"}}), "it is used twice"),
    "an invalid array type": (
        put(["classes"], {"array": {"at": "weights.weight", "dtype": "V8"}}),
        "is not an array type",
    ),
    "an array of objects by its bytes": (
        put(["classes"], {"array": {"at": "weights.weight", "dtype": "O"}}),
        "cannot be read as",
    ),
    "an array of a huge shape": (
        put(["classes"], {"array": {"dtype": "<U3", "shape": [10**15], "values": ["a"]}}),
        "do not make an array",
    ),
    "texts of a huge width": (
        put(["classes"], {"array": {"dtype": "<U99999999", "shape": [3], "values": ["a", "b", "c"]}}),
        "width of a string array does not match",
    ),
    "invalid axes": (
        put(["weights", "Sums", "weight"], {"array": {"at": "weights.weight", "axes": [5]}}),
        "axes",
    ),
    "a huge whole number": (
        put(["attributes", "n_features_in"], {"int": "0x" + "f" * 10000}),
        "n_features_in is not 7, the number of columns",
    ),
    "too few columns": (put(["attributes", "n_features_in"], 2), "n_features_in is not 7, the number of columns"),
    "names of different columns": (
        put(["attributes", "feature_names_in"], ["a"]),
        "feature_names_in does not name the columns",
    ),
    "a type of rows": (put(["attributes", "dtype"], {"dtype": "O"}), "is not the type of rows"),
    "declared classes of another type": (put(["attributes", "declared"], 3), "declared classes are not a list"),
    "declared classes as a list": (put(["attributes", "declared"], ["a"]), "declared classes are not a list"),
    "declared classes of numbers": (
        put(
            ["attributes", "declared"],
            {"ClassAxis": {"labels": {"array": {"dtype": "O", "shape": [1], "values": [1]}}}},
        ),
        "class labels of different types",
    ),
    "classes that are not an array": (
        put(["parameters", "prior"], {"ClassAxis": {"labels": 3}}),
        "classes are not an array of labels",
    ),
    "a form of rows": (put(["attributes", "form"], "ls"), "'ls' is not a form of rows"),
    "a form of other rows": (
        put(["attributes", "form"], {"StoredFrameForm": {"backend": "os", "names": [], "types": []}}),
        "0 columns",
    ),
    "nested": (put(["parameters", "prior"], functools.reduce(lambda inner, _: [inner], range(60), [])), "nested too"),
    "columns with the same name": (put(["schema", "names"], ["size"] * 7), "two of its columns have the same name"),
    "no columns": (put(["schema"], None), "The model in .* cannot be loaded"),
    "no statistics": (put(["statistics"], []), "0 statistics; its settings make"),
    "statistics of another type": (put(["statistics", 0], {"list": []}), "the settings need"),
    "a negative weight": (turn("weights.weight", fill(-1.0)), "weight holds a negative number"),
    "no weight": (turn("weights.weight", fill(np.nan)), "weight holds a number that is not finite"),
    "weights of another type": (turn("weights.weight", lambda x: x.astype(np.float32)), "type float32"),
    "weights of different classes": (turn("weights.weight", lambda x: x[:2]), "weight has 2 classes; expected 3"),
    "unknown kinds": (turn("schema.kinds", fill(200)), "The model in .* cannot be loaded"),
    "fewer columns": (turn("schema.kinds", lambda x: x[:3]), "7 names and 3 kinds"),
    "an unused array": (turn("weights.weight", lambda x: x), None),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged(name, forge):
    change, message = FORGED[name]
    if message is None:
        with pytest.raises(ModelFileError, match="nothing refers to its array 'more'"):
            load(forge(NAME, lambda _, arrays: arrays.update(more=np.zeros(3))))
        return
    with pytest.raises(ModelFileError, match=message):
        load(forge(NAME, change))


def test_forged_classes(forge):
    def swapped(document, _):
        values = document["classes"]["array"]["values"]
        values[0], values[1] = values[1], values[0]

    with pytest.raises(ModelFileError, match="classes are not sorted and distinct"):
        load(forge(NAME, swapped))

    def doubled(document, _):
        values = document["classes"]["array"]["values"]
        values[0] = values[1]

    with pytest.raises(ModelFileError, match="classes are not sorted and distinct"):
        load(forge(NAME, doubled))


def level_twice(document, _):
    values = document["statistics"][0]["Counts"]["levels"]["tuple"][2]["Levels"]["values"]["tuple"]
    values[1] = values[0]


def test_forged_levels(forge):
    with pytest.raises(ModelFileError, match="column 2 has a duplicate level"):
        load(forge("CategoricalNB", level_twice))
    with pytest.raises(ModelFileError, match="the counts do not match the levels"):
        load(forge("CategoricalNB", turn("statistics.0.count", lambda x: x[:, 1:])))
    with pytest.raises(ModelFileError, match="the counts do not match the levels"):
        load(forge("family joint_table", turn("statistics.0.cells", fill(99))))
    with pytest.raises(ModelFileError, match="the end positions of strings do not match their bytes"):
        load(forge("NaiveBayes, odd levels", turn("statistics.0.levels.18.values.ends", lambda x: x[::-1])))


WORDS = "statistics.0.vocabulary"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (turn(f"{WORDS}.text", fill(0xFF)), "its words are not UTF-8"),
        (turn(f"{WORDS}.text", fill(ord("~"))), "its words are not sorted and distinct"),
        (turn(f"{WORDS}.text", lambda x: x[:-1]), "its words have invalid ends"),
        (turn(f"{WORDS}.text", lambda x: x.astype(np.int8)), "its words are not packed"),
        (turn(f"{WORDS}.ends", lambda x: x[::-1]), "its words have invalid ends"),
        (turn(f"{WORDS}.ends", lambda x: x + 10**12), "its words have invalid ends"),
        (turn("statistics.0.count", lambda x: x[:, 1:]), "the counts do not match the words"),
        (turn("statistics.0.documents", lambda x: 0 * x), "some words occur in no document"),
        (turn("statistics.0.documents", fill(-1.0)), "documents holds a negative number"),
        (
            put(["statistics", 0, "WordSums", "settings", "tuple"], ["lowercase=False"]),
            "the settings read documents differently",
        ),
        (put(["statistics", 0, "WordSums", "vocabulary", "Vocabulary", "slots"], 7), "both words and slots"),
        (
            put(["statistics", 0, "WordSums", "vocabulary", "Vocabulary", "slots"], 1.5),
            "its number of slots is invalid",
        ),
        (put(["statistics", 0, "WordSums", "vocabulary"], {"tuple": []}), "vocabulary is a tuple"),
        (
            put(["parameters", "families", "family", 1, "slots"], 2**60),
            "slots is the number of slots that words are hashed to",
        ),
        (
            put(["parameters", "families", "family", 1, "ngram_range"], {"tuple": [1, 2]}),
            "the settings read documents differently",
        ),
    ],
)
def test_forged_words(change, sentence, forge):
    with pytest.raises(ModelFileError, match=sentence):
        load(forge("family text", change))


PAIRS = ["statistics", 0, "PairCounts"]
BINS = [*PAIRS, "bins", "tuple", 0, "Bins"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (turn("statistics.0.pairs", fill(-1.0)), "pairs holds a negative number"),
        (turn("statistics.0.pairs", fill(1e6)), "do not sum to the rows"),
        (turn("statistics.0.single", fill(np.nan)), "single holds a number that is not finite"),
        (turn("statistics.0.single", lambda x: x[:, 1:]), "the counts do not match the bins"),
        (turn("statistics.0.pairs", lambda x: x[:, :1]), "the counts do not match the bins"),
        (put([*PAIRS, "parents", "tuple"], [0, 99]), "the parents are not columns"),
        (put([*PAIRS, "parents", "tuple"], [1, 0]), "the parents are not columns"),
        (put([*PAIRS, "parents", "tuple"], ["a"]), "the parents are not columns"),
        (put([*PAIRS, "n_columns"], 4), "belong to other columns"),
        (put([*PAIRS, "n_columns"], "x"), "n_columns is a str"),
        (put([*PAIRS, "bins", "tuple"], []), "the levels belong|the bins belong"),
        (put([*PAIRS, "bins", "tuple"], [1, 2, 3]), "the bins are not cuts or levels"),
        (put([*BINS, "cuts", "tuple"], [2.0, 1.0, 3.0, 4.0]), "the cuts are not increasing"),
        (put([*BINS, "cuts", "tuple"], ["a", 1.0, 3.0, 4.0]), "the cuts are not numbers"),
        (put([*BINS, "cuts"], 3.5), "the cuts are not numbers"),
        (put([*BINS, "kept"], {"tuple": [1]}), "the cuts are not increasing"),
        (put([*BINS, "cuts"], None), "the numbers in the bins are not valid"),
        (put([*BINS, "ends"], {"tuple": [1]}), "the numbers in the bins are not valid"),
        (put([*BINS, "whole"], "yes"), "the numbers in the bins are not valid"),
        (put(["parameters", "cuts"], {"dict": [[0, [1.0]], [1, [1.0]], [2, [1.0]]]}), "different bins"),
        (put(["parameters", "cuts"], [1.0]), "cuts must be a mapping"),
        (put(["parameters", "n_bins"], 2**70), "n_bins must be a whole number from 2"),
        (put(["parameters", "smoothing"], -1.0), "smoothing"),
    ],
)
def test_forged_pairs(change, sentence, forge):
    with pytest.raises((ModelFileError, SufficeError), match=sentence):
        load(forge("AveragedDependence", change)).predict([[0.0, 1.0, 2.0]])


JUNK = [
    *[None, True, -1, 0, 2**80, 1.5, "", "x", [], [[]], {}],
    *[{"list": 3}, {"array": {}}, {"tuple": {"texts": "weights.weight"}}, {"dict": [[[], 1]]}, {"dict": [1]}],
    *[{"float": "nan"}, {"dtype": "<f8"}, {"axis": 1}, {"family": ["gaussian", {"mix": "a"}]}, {"Moments": {}}],
    *[{"Levels": {"values": [[]]}}, {"ClassAxis": {"labels": 3}}, {"date": "x"}, {"interval": [1, 0, "x"]}],
]


def nodes(value, trail=()):
    """The paths of a document."""
    yield trail
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from nodes(each, (*trail, key))


@pytest.mark.filterwarnings("ignore")  # about junk settings
@pytest.mark.parametrize(
    "name",
    [
        NAME,
        "NaiveBayes, polars",
        "GaussianNB",
        "LDA, eigen",
        "CategoricalNB",
        "family text",
        "AveragedDependence, pandas",
    ],
)
def test_junk_anywhere_gives_an_error_or_a_model(name, tmp_path):
    rng = np.random.default_rng(1)
    path = str(tmp_path / "forged")
    model, rows = fitted(name)
    model.save(path)
    document, arrays = read_container(path)
    places = [trail for trail in nodes(document) if trail]
    refused = 0
    for _ in range(250):
        changed, parts = copy.deepcopy(document), dict(arrays)
        if rng.random() < 0.8:
            put(places[rng.integers(len(places))], JUNK[rng.integers(len(JUNK))])(changed, parts)
        else:
            key = list(parts)[rng.integers(len(parts))]
            array = parts[key]
            parts[key] = [
                np.zeros(array.shape, dtype=np.float16),
                np.full_like(array, 200),
                np.zeros((0, 2)),
                array[None],
                np.array(array[:-1]) if array.ndim else array,
            ][rng.integers(5)]
        write_container(path, changed, parts)
        try:
            found = load(path)
        except ModelFileError as error:
            refused += str(error).endswith(".")
            continue
        try:  # a model that loads predicts, or raises a proper error
            with np.errstate(all="ignore"):
                found.predict(rows[:5])
        except (SufficeError, ValueError, TypeError, OverflowError):
            pass
    assert refused > 150


def test_array_names_start_with_their_part(saved):
    """Names tell where an array belongs, so that other tools can show a file."""
    for name in CASES:
        _, arrays = read_container(saved(name))
        assert {key.split(".")[0] for key in arrays} <= {
            "parameters",
            "schema",
            "classes",
            "weights",
            "statistics",
            "attributes",
        }


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x[:-1],
        lambda x: np.concatenate([x, x[:1]]),
        lambda x: x[:, :-1],
        lambda x: x[:, :, :-1],
        lambda x: x * np.nan,
    ],
    ids=["one fewer", "one more", "fewer rows", "fewer columns", "not finite"],
)
def test_given_covariances_that_do_not_fit(tmp_path, change):
    x, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    path = tmp_path / "given.suffice"
    estimator = QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=EmpiricalCovariance())
    estimator.fit(x, y).set_params(covariance_estimator=None).save(path)
    load(path)
    document, arrays = read_container(str(path))
    given = document["attributes"]["given"]
    matrices = change(np.stack([arrays[each["array"]["at"]] for each in given]))
    for name in [each["array"]["at"] for each in given]:
        del arrays[name]
    document["attributes"]["given"] = [{"array": {"at": f"given.{k}"}} for k in range(len(matrices))]
    arrays.update({f"given.{k}": np.ascontiguousarray(matrix) for k, matrix in enumerate(matrices)})
    write_container(str(path), document, arrays)
    with pytest.raises(ModelFileError, match="given covariances are not 2 matrices of 3 columns"):
        load(path)
