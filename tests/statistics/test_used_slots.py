"""A few documents hashed to many slots are counted without a table of all slots."""

import numpy as np
import pytest

from suffice.kernels.text import Documents, TokenRules
from suffice.statistics import ClassAxis, Membership
from suffice.statistics.word_sums import WordSums
from suffice.tables.word_rows import WordRows

TEXTS = ["a pill a day, a pill", None, "a day off", "no class here", ""]


@pytest.mark.parametrize("texts", [TEXTS, [None], [""]])
def test_used_slots_are_counted_as_rows_are(texts):
    documents, slots = Documents.of_strings(texts), 1 << 16
    members = Membership(ClassAxis.of(["ham", "spam"]), codes=np.array([1, 0, 0, -1, 1])[: len(texts)])
    found = WordSums.summarize(documents, TokenRules(), members, slots)
    (table,) = found.tables()
    assert len(table) < 10
    expected = WordSums.of_rows(WordRows.read(documents, TokenRules(), slots), members)
    for name in ("weight", "missing", "count", "documents"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
