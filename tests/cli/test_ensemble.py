"""``--model ensemble``, the default of tables, in the shell: fit, inspect, explain, update, merge, remove."""

import json

import numpy as np
import pytest

import suffice
from cli.made import ran, refused, run
from suffice.cli.settings import SETTINGS_OF, default_model
from support.every_estimator import table


@pytest.fixture(scope="module")
def _made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensemble")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X, labels = table(rng, y).assign(note="x"), np.array(["low", "mid", "top"])[y]
    X[:100].assign(label=labels[:100]).to_csv(folder / "a.csv", index=False)
    X[100:].assign(label=labels[100:]).to_csv(folder / "b.csv", index=False)
    fit = ("--target", "label", "--no-validate", "-o")
    ran("fit", folder / "a.csv", "--family", "best", "--family", "note=none", *fit, folder / "a.suffice")
    ran("fit", folder / "b.csv", "--like", folder / "a.suffice", *fit, folder / "b.suffice")
    return folder


@pytest.fixture
def place(_made, tmp_path, monkeypatch):
    """An empty folder, which is the current one; the files of the tests are in ``made``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").symlink_to(_made)
    return tmp_path


def test_the_default_is_the_model_that_has_the_settings():
    assert default_model({}) == default_model({"prior": "uniform", "n_bins": 3, "families": "best"}) == "ensemble"
    for setting in ("estimation", "smoothing", "calibrate", "blocks"):
        assert default_model({setting: "any", "families": "best"}) == "naive-bayes"
    assert default_model({"covariance": "own"}) == default_model({"blocks": "auto", "n_bins": 4}) == "ensemble"
    for names in SETTINGS_OF.values():
        assert len(set(names)) == len(names)


def test_the_output_names_the_model(place):
    (place / "d.csv").write_text("x,y\n" + "".join(f"{i % 7 + i % 2},{'ab'[i % 2]}\n" for i in range(30)))
    assert "model  GenerativeEnsemble\n" in ran("fit", "d.csv", "-t", "y", "--no-validate")
    assert "model  NaiveBayes, estimation mle\n" in ran("fit", "d.csv", "-t", "y", "--estimation", "mle")
    said = refused("fit", "d.csv", "-t", "y", "--model", "ensemble", "--calibrate", "columns", code=2)
    assert "--model ensemble has no --calibrate: its probabilities are always calibrated." in said
    said = refused("fit", "d.csv", "-t", "y", "--model", "ensemble", "--smoothing", "2", code=2)
    assert "--smoothing needs --model naive-bayes or discriminant or averaged-dependence or text" in said


def test_a_model_with_the_choices_of_another_merges(place):
    first, other = (suffice.load(f"made/{name}.suffice") for name in "ab")
    assert isinstance(other, suffice.GenerativeEnsemble)
    assert (other.families_, other.cuts_, other.parents_) == (first.families_, first.cuts_, first.parents_)
    assert other.families_["note"] is None
    ran("merge", "made/a.suffice", "made/b.suffice", "-o", "m.suffice")
    ran("fit", "made/b.csv", "--update", "made/a.suffice", "-o", "u.suffice", "--no-validate")
    ran("remove", "u.suffice", "made/b.csv", "-o", "r.suffice")
    for name, expected in (("m", suffice.merge([first, other])), ("u", suffice.load("m.suffice")), ("r", first)):
        rows = first.sample(20, random_state=0)[0]
        found = suffice.load(f"{name}.suffice").predict_proba(rows)
        np.testing.assert_allclose(found, expected.predict_proba(rows), rtol=1e-8)


def test_a_merge_of_other_choices_names_the_option(place):
    ran("fit", "made/b.csv", "-t", "label", "--family", "note=none", "--no-validate", "-o", "c.suffice")
    said = refused("merge", "made/a.suffice", "c.suffice", "-o", "m.suffice")
    assert "Fit the second model with the" in said
    assert said.endswith("of the first: --like made/a.suffice.\nSee docs/algebra.md.\n")


def test_choices_of_naive_bayes(place):
    fit = ("fit", "made/a.csv", "-t", "label", "--no-validate", "-o")
    ran(*fit, "n.suffice", "--blocks", "auto")
    ran(*fit, "o.suffice", "--like", "n.suffice")
    assert suffice.load("n.suffice").families_ == suffice.load("o.suffice").families_
    ran("merge", "n.suffice", "o.suffice", "-o", "m.suffice")
    ran(*fit, "d.suffice", "--model", "discriminant", "--columns", "size,visits")
    assert "which chooses neither families nor cuts" in run(*fit, "e.suffice", "--like", "d.suffice").stderr
    assert "Give --model naive-bayes." in run(*fit, "e", "--like", "n.suffice", "--model", "ensemble").stderr
    assert "--family cannot be combined" in run(*fit, "e", "--like", "n.suffice", "--family", "best").stderr
    assert "--like cannot be combined with --update" in run(*fit, "e", "--like", "n.suffice", "--update", "n").stderr


def test_inspect_lists_the_members(place):
    found = json.loads(ran("inspect", "made/a.suffice", "--json"))
    assert [each["name"] for each in found["members"]] == ["averaged dependence", "own covariance", "shared covariance"]
    assert found["members"][1]["columns"] == ["size", "visits"]
    assert [each["column"] for each in found["bins"]] == ["size", "member", "kind", "visits"]
    weights = suffice.load("made/a.suffice").weights_["weight"]
    assert [each["weight"] for each in (*found["columns"], *found["members"])] == pytest.approx(list(weights))
    shown = ran("inspect", "made/a.suffice")
    assert max(len(line) for line in shown.splitlines() if not line.startswith("model")) <= 80
    assert "Other members\nmember               columns  weight\naveraged dependence        4" in shown


def test_explain_sums_the_members(place):
    asked = ("explain", "made/a.suffice", "made/b.csv", "--row", "3")
    parts = {}
    for words in ((), ("--members",)):
        (found,) = json.loads(ran(*asked, *words, "--json"))["rows"]
        assert sum(each["part"] for each in found["parts"]) == pytest.approx(found["log_odds"])
        parts[words] = found["parts"]
    assert not any("member" in each for each in parts[()])
    of_size = [each["part"] for each in parts["--members",] if each["column"] == "size"]
    assert len(of_size) > 1
    assert sum(of_size) == pytest.approx(next(each["part"] for each in parts[()] if each["column"] == "size"))
    assert "column    member" in ran(*asked, "--members")
    assert "weighted log-odds of" in ran(*asked)
    ran("fit", "made/a.csv", "-t", "label", "--model", "naive-bayes", "--no-validate", "-o", "n.suffice")
    said = refused("explain", "n.suffice", "made/b.csv", "--members", code=2)
    assert "--members needs an ensemble; the model is NaiveBayes." in said
    assert "--pairs needs" in refused("explain", "n.suffice", "made/b.csv", "--pairs", code=2)


def test_explain_lists_pairs(place):
    ran("fit", "made/a.csv", "-t", "label", "--model", "averaged-dependence", "--no-validate", "-o", "d.suffice")
    (found,) = json.loads(ran("explain", "d.suffice", "made/b.csv", "--pairs", "--json"))["rows"]
    assert any(", " in each["column"] for each in found["parts"])
    assert sum(each["part"] for each in found["parts"]) == pytest.approx(found["log_odds"])
    (found,) = json.loads(ran("explain", "made/a.suffice", "made/b.csv", "--pairs", "--members", "--json"))["rows"]
    (plain,) = json.loads(ran("explain", "made/a.suffice", "made/b.csv", "--members", "--json"))["rows"]
    pairs = [each for each in found["parts"] if ", " in each["column"]]
    assert {each["member"] for each in pairs} == {"averaged dependence"}
    assert found["log_odds"] == pytest.approx(plain["log_odds"])
    size, column = (
        sum(each["part"] for each in of["parts"] if (each["member"], each["column"]) == ("averaged dependence", "size"))
        for of in (found, plain)
    )
    assert size + sum(each["part"] for each in pairs if "size" in each["column"].split(", ")) / 2 == pytest.approx(
        column
    )


def test_like_takes_the_target_and_refuses_options_without_effect(place):
    fit = ("fit", "made/b.csv", "--like", "made/a.suffice", "--no-validate")
    assert json.loads(ran(*fit, "--json"))["target"] == "label"
    assert "--n-bins cannot be combined with --like, which gives the cuts." in refused(*fit, "--n-bins", "3", code=2)
    assert "--max-parents cannot be combined with --like" in refused(*fit, "--max-parents", "3", code=2)
    assert "--missing cannot be combined with --like" in refused(*fit, "--missing", "category", code=2)


def test_like_names_columns_that_differ(place):
    text = (place / "made/b.csv").read_text()
    header, _, rest = text.partition("\n")
    (place / "c.csv").write_text(header.replace("size", "height") + "\n" + rest)
    said = refused("fit", "c.csv", "--like", "made/a.suffice")
    assert "c.csv has no column 'size', which made/a.suffice has;" in said
    assert "made/a.suffice has no column 'height', which c.csv has" in said


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--ignore", "size"], "--ignore names the column 'size', which made/a.suffice reads."),
        (["--weights", "size"], "--weights names the column 'size', which made/a.suffice reads."),
        (["--columns", "kind,member,visits"], "--columns does not name 'size', which made/a.suffice reads."),
    ],
)
def test_like_names_the_option_that_takes_a_column(place, options, reason):
    assert reason in refused("fit", "made/b.csv", "--like", "made/a.suffice", *options)
