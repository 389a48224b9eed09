"""One rule tells documents from categories, wherever a column of strings is read."""

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes
from suffice.comparison.compared_rows import ComparedRows
from suffice.text.recognition import are_documents, have_words

WORDS = np.array(["red", "old", "big", "sea", "sky", "tea", "cup", "ink"])
N = 120


def phrases(*sizes):
    rng = np.random.default_rng(0)
    return [" ".join([*rng.choice(WORDS, sizes[i % len(sizes)] - 1), f"no{i}"]) for i in range(N)]


@pytest.mark.filterwarnings("ignore:Column 'phrase' holds:suffice.SufficeWarning")
@pytest.mark.parametrize(("sizes", "expected"), [((3, 4), True), ((3,), True), ((2, 3), False), ((1,), False)])
def test_a_comparison_and_best_families_agree(sizes, expected):
    y = np.arange(N) % 2
    frame = pd.DataFrame({"phrase": phrases(*sizes), "x": np.arange(N) / N})
    tried = NaiveBayes("best").fit(frame, y).family_scores_["column"]
    assert ("phrase" in tried) is expected
    assert (ComparedRows(frame, y).roles.documents == [0]) is expected


@pytest.mark.parametrize(
    "category",
    ["New York, NY", "Executive managerial", "Married civilian spouse", "Other service", "some college, no degree"],
)
def test_repeated_categories_are_not_documents(category):
    values = [category, "another level of it", None, category] * 30
    assert not are_documents(values)
    assert not have_words([None, None])
