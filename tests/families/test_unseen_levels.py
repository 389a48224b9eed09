"""Levels that a model does not know: ignored, or refused with the first row that has one."""

import numpy as np
import pytest

from suffice.exceptions import InputError
from suffice.families.categorical import check_unseen
from suffice.tables import CodedColumn
from suffice.tables.levels import Levels

KNOWN = Levels.of(["blue", "red"])


def column(values):
    levels = Levels.of(values)
    return CodedColumn(levels, np.array([levels.values.index(value) for value in values]))


def codes(values, policy, levels=KNOWN):
    return check_unseen(column(values), levels, "colour", policy, len(values)).dense(len(values)).tolist()


def test_unknown_levels_have_a_code_of_their_own():
    assert codes(["red", "green", "blue"], "ignore") == [1, -2, 0]
    assert codes(["green", "grey"], "ignore") == [-2, -2]


@pytest.mark.parametrize(("values", "first"), [(["green", "grey"], 0), (["red", "grey"], 1)])
def test_unknown_levels_are_refused(values, first):
    with pytest.raises(InputError) as caught:
        codes(values, "error")
    assert caught.value.column == "colour"
    assert caught.value.rows[0] == first


@pytest.mark.parametrize("policy", ["ignore", "share", "error"])
def test_levels_of_another_type_are_refused(policy):
    with pytest.raises(InputError, match="holds 3, a number; the model was fitted on levels such as 'blue'") as caught:
        codes([3, 4], policy)
    assert list(caught.value.rows) == [0, 1]
