"""Values of the closed set are encoded as JSON and arrays, and decoded without change."""

import json
import math
from datetime import datetime, time

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from suffice.model_file.arrays import unpack_array
from suffice.model_file.encoding import NotStorableError, ValueReader, ValueWriter, storable

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**62, max_value=2**2000)
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.text(st.characters(categories=["Cs"]))
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.uuids()
)
VALUES = st.recursive(
    PLAIN,
    lambda each: (
        st.lists(each, max_size=20)
        | st.lists(each, max_size=4).map(tuple)
        | st.dictionaries(PLAIN, each, max_size=4)
        | st.frozensets(PLAIN, max_size=20)
    ),
    max_leaves=30,
)
LISTS = st.lists(st.text(st.characters()), min_size=10, max_size=40) | st.lists(st.integers(), min_size=10, max_size=40)


def round_trip(value):
    writer = ValueWriter()
    text = json.dumps(writer.value(value, "x"), ensure_ascii=True, allow_nan=False)
    reader = ValueReader(writer.arrays)
    found = reader.value(json.loads(text))
    assert not reader.arrays
    return found


@settings(max_examples=300, deadline=None)
@given(VALUES | LISTS)
def test_values(value):
    found = round_trip(value)
    assert found == value
    assert repr(found) == repr(value) or isinstance(value, frozenset | dict | list | tuple)
    assert type(found) is type(value)


def test_ambiguous_times():
    for value in (datetime(2026, 10, 25, 2, 30, fold=1), time(2, 30, fold=1), datetime(2026, 10, 25, 2, 30)):
        found = round_trip(value)
        assert repr(found) == repr(value)


def test_nan():
    assert math.isnan(round_trip(float("nan")))


@pytest.mark.parametrize(
    "array",
    [
        np.array(3.5),
        np.zeros((0, 3)),
        np.arange(24).reshape(2, 3, 4).transpose(1, 2, 0)[:, ::2],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(4, dtype=">i4"),
        np.array([True, False]),
        np.array([1.5, np.nan, -0.0], dtype=np.float16),
        np.array(["a", "", "\ud800", "x" * 9]),
        np.array(["a"] * 50, dtype="<U7"),
        np.array([["a", "é"]], dtype=np.dtypes.StringDType()),
        np.array([b"a", b"\xff\0x"]),
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        np.array([1, 2], dtype="m8[25s]"),
        np.array([1, "a", None, (2, 3)], dtype=object),
        np.array([], dtype=object),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays(array):
    found = round_trip(array)
    assert found.dtype == (array.dtype if array.dtype.kind == "T" else array.dtype.newbyteorder("="))
    assert found.shape == array.shape
    assert found.tolist() == array.tolist() or array.dtype.kind in "fM"
    assert np.array_equal(found, array, equal_nan=array.dtype.kind in "fM")
    assert np.argsort(found.strides).tolist() == np.argsort(array.strides).tolist() or not array.size


@pytest.mark.parametrize("scalar", [np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("é"), np.datetime64(5, "s")])
def test_scalars_of_numpy(scalar):
    found = round_trip(scalar)
    assert type(found) is type(scalar)
    assert found == scalar


@pytest.mark.parametrize(
    "value",
    [object(), 1j, np.longdouble(1), np.zeros(2, dtype="f4,i4"), np.ma.masked_array([1.0]), print, int, range(3)],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_refused(value):
    with pytest.raises(NotStorableError):
        ValueWriter().value([{"a": value}], "x")


def test_two_classes_with_the_same_name_are_refused():
    def made():
        class Moments:
            pass

        return Moments

    with pytest.raises(TypeError, match="another storable class Moments"):
        storable(made())


def test_a_string_array_cannot_be_far_wider_than_its_strings():
    wide = {"dtype": "<U20000", "shape": [1000]}
    with pytest.raises(ValueError, match="width of a string array"):
        unpack_array(wide, ["a"] * 1000)
    assert unpack_array(wide | {"shape": [2]}, ["a", "b"]).dtype == "<U20000"
    with pytest.raises(ValueError, match="width of a string array"):
        unpack_array({"dtype": f"<U{1 << 25}", "shape": [0]}, [])
