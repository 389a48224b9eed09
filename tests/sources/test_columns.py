"""Columns of Python objects: times as seconds since 1970."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice
from suffice import NaiveBayes
from suffice.sources.frames import _can_hold

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
EAST, WEST = timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))


@pytest.mark.parametrize("zone", [UTC, EAST, WEST])
def test_one_moment_is_one_number_in_every_zone(zone):
    cells = [NOON.astimezone(zone) + timedelta(hours=hour) for hour in range(4)]
    model = NaiveBayes(estimation="mle").fit(pd.DataFrame({"at": pd.Series(cells, dtype=object)}), list("aabb"))
    np.testing.assert_allclose(model.means_[:, 0], [NOON.timestamp() + 1800, NOON.timestamp() + 9000], rtol=1e-15)


def test_dates_and_times_without_zone_are_utc():
    cells = [date(1970, 1, 2), datetime(1970, 1, 2, 1)]
    model = NaiveBayes(estimation="mle").fit(pd.DataFrame({"at": pd.Series(cells * 2, dtype=object)}), list("abab"))
    np.testing.assert_allclose(model.means_[:, 0], [86400, 90000])


def test_types_that_hold_the_levels_of_a_model():
    assert _can_hold(nw.Boolean(), (0, 1))
    assert _can_hold(nw.Boolean(), (False, True))
    assert not _can_hold(nw.Boolean(), (0, 2))
    assert not _can_hold(nw.Boolean(), ("0", "1"))
    assert _can_hold(nw.Int64(), (3, -1))
    assert not _can_hold(nw.Int64(), (0.5,))
    assert _can_hold(nw.String(), ("a",))
    assert not _can_hold(nw.String(), ("a", 1))
    assert _can_hold(nw.Enum(["a", "b"]), ("b",))
    assert not _can_hold(nw.Enum(["a", "b"]), ("c",))


@pytest.mark.parametrize("cell", [lambda i: Decimal(i) / 4, lambda i: time(i % 24, 1)], ids=["decimal", "time"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pa.table], ids=["pandas", "pyarrow"])
def test_a_table_that_was_fitted_as_a_stream_can_be_predicted(frame, cell):
    """Also if its cells are decimals, or times of day, which streams read as numbers and as durations."""
    cells, y = [cell(i) for i in range(40)], ["a", "b"] * 20
    model = suffice.fit(frame({"x": cells, "y": y}), "y", model="naive-bayes", validate=False)
    numbers = [float(each) if isinstance(each, Decimal) else 3600.0 * each.hour + 60 for each in cells]
    plain = NaiveBayes().fit(np.array(numbers)[:, None], y)
    np.testing.assert_allclose(
        model.predict_proba(frame({"x": cells})), plain.predict_proba(np.array(numbers)[:, None])
    )
