import pytest

from sklearn_contract.swap import swapped
from suffice.text import WordCounts

pytestmark = [  # scikit-learn's tests cause these, of its own classes too
    pytest.mark.filterwarnings("ignore:The parameter '.*' will not be used"),
    pytest.mark.filterwarnings("ignore:matching against an empty string"),
]
THEIRS = ["ENGLISH_STOP_WORDS", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
found = swapped(
    "test_text",
    "feature_extraction.text",
    ours=["WordCounts as CountVectorizer"],
    also=[*THEIRS, "strip_accents_ascii", "strip_accents_unicode", "strip_tags"],
    private=["test_countvectorizer_sort_features_64bit_sparse_indices"],  # calls _sort_features
    folder="feature_extraction/tests",
    home="text",
)


def concerns_us(test):
    """Whether a test names the class, itself or in its parameters; others are about scikit-learn alone."""
    return "CountVectorizer" in test.__code__.co_names or "WordCounts" in str(getattr(test, "pytestmark", ""))


globals().update({name: test for name, test in found.items() if concerns_us(test)})


def test_theirs_are_here():
    ours = {name for name in globals() if name.startswith("test_")}
    assert len(ours) > 40
    assert {"test_vectorizer", "test_feature_names", "test_pickling_vectorizer", "test_unused_parameters_warn"} <= ours


@pytest.mark.parametrize("name", ["fit", "fit_transform", "transform", "inverse_transform", "get_feature_names_out"])
def test_counting_is_not_inherited(name):
    assert name in vars(WordCounts)
