"""Every kind of model is inspected, explained, sampled, used and merged by the command."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.made import ran, refused, run
from every_estimator import ESTIMATORS, WITH_DENSITY, example


@pytest.fixture(params=sorted(ESTIMATORS))
def saved(request, tmp_path, monkeypatch):
    """A saved model of arrays or a frame, and a file of its labelled rows."""
    monkeypatch.chdir(tmp_path)
    model, X, y = example(request.param, np.random.default_rng(0))
    model.fit(X, y).save("m.suffice")
    if hasattr(X, "columns"):
        columns = pa.Table.from_pandas(X, preserve_index=False)
    else:
        cells = np.asarray(X).reshape(len(y), -1)
        columns = pa.table(
            [pa.array(cells[:, j].tolist()) for j in range(cells.shape[1])], [f"c{j}" for j in range(cells.shape[1])]
        )
    pq.write_table(columns.append_column("y", pa.array(y)), "d.parquet")
    return request.param, model, X, y


def test_model(saved):
    name, model, X, y = saved
    found = json.loads(ran("inspect", "m.suffice", "--json"))
    assert [each["label"] for each in found["classes"]] == [0, 1, 2]
    assert found["rows"] == len(y)
    assert bool(found["telling_columns"]) == (name in WITH_DENSITY and not name.startswith("text"))
    assert bool(found["telling_words"]) == name.startswith("text")
    ran("inspect", "m.suffice")

    scores = json.loads(ran("evaluate", "m.suffice", "d.parquet", "-t", "y", "--json"))
    assert scores["accuracy"] == pytest.approx(np.mean(model.predict(X) == y))
    rows = ran("predict", "m.suffice", "d.parquet", "--ignore", "y").splitlines()
    assert rows[0] == "label,p(0),p(1),p(2)" + (",log p(x)" if name in WITH_DENSITY else "")
    p = np.array([row.split(",")[1:4] for row in rows[1:]], dtype=float)
    assert (p == model.predict_proba(X)).all()

    looks = [run("monitor", "m.suffice", "d.parquet", "-t", "y", "--window", "w", "--json")]
    looks.append(run("monitor", "m.suffice", "w", "--html", "drift.html", "--json"))
    drift, same = (json.loads(each.stdout) for each in looks)
    assert [each.exit_code for each in looks] == [3 if drift["alarm"] else 0] * 2
    assert drift["findings"] == same["findings"]
    assert drift["labels"]["accuracy"] == pytest.approx(scores["accuracy"])

    asked = ("explain", "m.suffice", "d.parquet", "--ignore", "y", "--row", "2", "--json")
    if name == "ComplementNB":
        assert "explain needs p(x | y) and p(y), but ComplementNB has neither" in refused(*asked)
    else:
        said = json.loads(ran(*asked))["rows"][0]
        assert sum(part["part"] for part in said["parts"]) == pytest.approx(said["log_odds"])
        odds = model.predict_log_proba(X)[2]
        assert name == "ensemble" or said["log_odds"] == pytest.approx(
            odds[said["label"]] - odds[said["against"]], rel=1e-6, abs=1e-9
        )

    ran("merge", "m.suffice", "m.suffice", "-o", "two.suffice")
    twice = json.loads(ran("inspect", "two.suffice", "--json"))
    assert twice["rows"] == 2 * len(y)
    if name in WITH_DENSITY and name != "text_slots":  # which does not store the words
        drawn = ran("sample", "m.suffice", "-n", "20", "--seed", "0", "--to", "jsonl").splitlines()
        assert len(drawn) == 20
        assert {json.loads(line)["label"] for line in drawn} <= {0, 1, 2}
    else:
        assert "no" in refused("sample", "m.suffice", "-n", "20")
