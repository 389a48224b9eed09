"""Times with nanoseconds, in a process that has not imported pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("ns")])
def test_fit_and_explain(tmp_path, kind):
    cells = 1_704_067_200_000_000_000 + np.arange(100) * 10**9 + 7
    table = pa.table({"t": pa.array(cells).cast(kind), "d": pa.array(cells).cast(kind), "label": ["a", "b"] * 50})
    pq.write_table(table, tmp_path / "rows.parquet")
    fit = "fit", "rows.parquet", "--target", "label", "--model", "naive-bayes", "-o", "m.suffice"
    for words in (fit, ("explain", "m.suffice", "rows.parquet", "--row", "3")):
        done = subprocess.run([sys.executable, "-m", "suffice", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "(prior)" in done.stdout
