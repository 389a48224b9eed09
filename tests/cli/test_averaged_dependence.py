"""``--model averaged-dependence`` in the shell: fit, update, merge, remove."""

import numpy as np

import suffice
from cli.made import ran, refused, run
from support.every_estimator import table


def test_the_command_fits_updates_and_merges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X, labels = table(rng, y), np.array(["low", "mid", "top"])[y]
    X[:300].assign(label=labels[:300]).to_csv("a.csv", index=False)
    X[300:].assign(label=labels[300:]).to_csv("b.csv", index=False)
    kind = ("--target", "label", "--model", "averaged-dependence", "--n-bins", "4", "--quiet", "-o")
    ran("fit", "a.csv", *kind, "a.suffice")
    ran("fit", "b.csv", *kind, "b.suffice")
    assert "--like a.suffice." in refused("merge", "a.suffice", "b.suffice", "-o", "m.suffice")
    ran("fit", "b.csv", *kind, "b.suffice", "--like", "a.suffice")
    ran("merge", "a.suffice", "b.suffice", "-o", "m.suffice")
    ran("fit", "b.csv", "--update", "a.suffice", "-o", "u.suffice", "--quiet")
    ran("remove", "u.suffice", "b.csv", "-o", "r.suffice")
    assert "given low" in ran("inspect", "m.suffice", "--column", "size")
    for one, other in (("m", "u"), ("r", "a")):
        one, other = suffice.load(f"{one}.suffice"), suffice.load(f"{other}.suffice")
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-10)
    assert "averaged_dependence (block of 2 columns)" in ran(
        "fit", "a.csv", "-t", "label", "--family", "size,kind=averaged_dependence", "--no-validate"
    )


def test_settings_of_other_models_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "size,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "a.csv").write_text(rows)
    fit = ("fit", "a.csv", "-t", "label", "--model", "averaged-dependence")
    assert "has no --estimation" in run(*fit, "--estimation", "mle").stderr
    assert "needs --model averaged-dependence" in run("fit", "a.csv", "-t", "label", "--max-levels", "4").stderr
    ran("fit", "a.csv", "-t", "label", "--model", "naive-bayes", "-o", "nb.suffice", "--quiet")
    assert "Give --model naive-bayes." in run(*fit, "--like", "nb.suffice").stderr
    assert "no file" in run(*fit, "--like", "none.suffice").stderr


def test_cuts_of_dates_are_dates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days = [f"2021-{1 + i % 12:02d}-05,{'ab'[i % 12 > 5]}\n" for i in range(120)]
    (tmp_path / "d.csv").write_text("when,y\n" + "".join(days))
    ran("fit", "d.csv", "-t", "y", "--model", "averaged-dependence", "--no-validate", "-o", "d.suffice")
    shown = ran("inspect", "d.suffice", "--column", "when")
    assert "when    yes     2021-" in shown
    assert "≤ 2021-" in shown
