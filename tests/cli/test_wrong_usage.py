"""Messages about wrong usage say what to type instead."""

import os
from pathlib import Path

import pytest

import suffice
from cli.made import MESSAGES, ran, refused, run
from suffice.exceptions import InputError

FIT = ("fit", "train.csv", "-t", "species")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (("frobnicate",), "No such command 'frobnicate'. The commands are fit, merge, remove, predict, "),
        (("fit", "-t", "x"), "Missing argument 'DATA...'. Give - to read standard input."),
        (("predict", "flowers.suffice"), "Missing argument 'DATA...'. Give - to read standard input."),
        (("predict",), "Missing argument 'MODEL'."),
        (("predict", "flowers.suffice", "x", "--format", "mbox"), "Did you mean 'mails'?"),
        (("predict", "flowers.suffice", "x", "--format", "eml"), "Did you mean 'mails'?"),
        (("predict", "flowers.suffice", "x", "--format", "json"), "Did you mean 'jsonl'?"),
        (
            ("predict", "spam.suffice", "--text", "hi", "new.eml"),
            "Give either --text or DATA, not both: --text is used instead of DATA, and new.eml is DATA.",
        ),
        (("evaluate", "flowers.suffice", "test.csv", "--cost", "a:b=2"), "'--cost'. The command predict has it."),
        (("evaluate", "flowers.suffice", "test.csv", "--threshold", "a=.2"), "The command predict has it."),
        (("sample", "flowers.suffice", "--json"), "No such option '--json'. The commands fit, merge, remove, "),
        (("evaluate", "flowers.suffice", "test.csv", "--colum", "a"), "--columns"),
        (("explain", "flowers.suffice", "test.csv", "--members"), "--members needs an ensemble; the model is NaiveB"),
        (("explain", "flowers.suffice", "test.csv", "--pairs"), "dependence or an ensemble; the model is NaiveBayes."),
        (("explain", "flowers.suffice", "test.csv", "--absent-words"), "needs a model of texts; the model is NaiveB"),
        ((*FIT, "--prior", "setosa=90"), "'setosa=90' has a share above 1. The shares of all classes sum to 1"),
    ],
)
def test_usage(folder, line, sentence):
    said = refused(*line, code=2)
    assert sentence in said
    assert "--model" not in said


def test_one_model_is_noted(folder):
    result = run("merge", "flowers.suffice", "-o", "m.suffice")
    assert result.exit_code == 0
    assert "note: flowers.suffice is the only model, so m.suffice equals it." in result.stderr
    assert "only model" not in run("merge", "monday.suffice", "tuesday.suffice", "-o", "m.suffice").stderr


def test_sizes_of_compare(folder):
    assert "--sizes must be between 6" in refused("compare", "test.csv", "-t", "species", "--sizes", "5000")


# ---------------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("tset.csv", " Did you mean 'test.csv'?"),
        ("inbox/spma", " Did you mean 'inbox/spam'?"),
        ("imbox/spam", " Did you mean 'inbox/spam'?"),
        ("imbox/xyz", " Did you mean 'inbox'?"),
        ("zzz/zzz", ""),
        ("zzzzzz", ""),
        ("./tset.csv", " Did you mean './test.csv'?"),
    ],
)
def test_a_path_that_does_not_exist(folder, path, hint):
    for line in (
        ("predict", "spam.suffice", path),
        ("fit", "-t", "species", path),
        ("remove", "flowers.suffice", "test.csv", path, "-t", "species", "-o", "m"),
    ):
        said = refused(*line)
        assert said == f"suffice: There is no file or folder {path!r}.{hint}\nSee docs/files.md.\n"


def test_a_glob_that_matches_nothing_keeps_its_sentence(folder):
    assert "No file matches 'none-*.csv'" in refused("predict", "flowers.suffice", "none-*.csv")


def test_a_file_that_cannot_be_read_is_bad_data(folder, monkeypatch):
    """As a missing file, and not as a wrong option; root can read all files, so opening is replaced."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # what click would ask
    monkeypatch.setattr("suffice.sources.files.raw_input.open", refuse, raising=False)
    said = refused("predict", "spam.suffice", "messages.jsonl")
    assert said == "suffice: messages.jsonl cannot be read: Permission denied.\nSee docs/files.md.\n"


def test_errors_come_without_a_note_on_the_density(folder):
    ran("fit", "messages.jsonl", "-t", "kind", "--model", "text", "--columns", "body", "-o", "sms.suffice", "-q")
    assert "density" not in refused("predict", "sms.suffice", "nowhere.csv")
    Path("bad.csv").write_text('body\nhi\n"open\n')
    assert "density" not in refused("predict", "sms.suffice", "bad.csv")
    result = run("predict", "sms.suffice", "messages.jsonl")
    assert "note: The model has no density p(x), so log p(x) is not written." in result.stderr
    assert "density" not in run("predict", "sms.suffice", "messages.jsonl", "--no-density").stderr


# ---------------------------------------------------------------------- texts in a column of another name


@pytest.fixture
def sms(folder):
    ran("fit", "messages.jsonl", "-t", "kind", "--model", "text", "--columns", "body", "-o", "sms.suffice", "-q")
    Path("other.csv").write_text("kind,message,size\n" + "".join(f"{k},{b.replace(',', '')},1\n" for k, b in MESSAGES))
    Path("one.csv").write_text("message\ncheap pills\nlunch\n")
    return "sms.suffice"


def test_a_column_of_another_name_is_noted(sms):
    sentence = (
        "suffice: note: Column 'message' of {} is read instead of 'body', the column that the model was fitted on.\n"
    )
    for line in (("predict", sms, "one.csv"), ("explain", sms, "one.csv")):
        assert run(*line).stderr.count(sentence.format("one.csv")) == 1
    assert sentence.format("other.csv") in run("evaluate", sms, "other.csv", "-t", "kind").stderr
    assert "is read instead of" not in run("evaluate", sms, "messages.jsonl").stderr
    assert "is read instead of" not in run("predict", sms, "inbox").stderr  # mails have no column of that name
    assert "is read instead of" not in run("predict", "spam.suffice", "one.csv").stderr  # the model knows no name


def test_python_warns_of_a_column_of_another_name(sms):
    model = suffice.load(sms)
    with pytest.warns(suffice.SufficeWarning, match=r"Column 'message' of one\.csv is read instead of 'body'"):
        model.report("one.csv")


# ---------------------------------------------------------------------- Python


def test_costs_show_their_form():
    model = suffice.TextNaiveBayes().fit(["cheap", "lunch"], ["spam", "ham"])
    with pytest.raises(InputError, match=r"such as \{\('ham', 'spam'\): 9\}; got 'ham:spam'"):
        model.decide(["cheap"], costs={"ham:spam": 9})


@pytest.mark.parametrize("texts", [["hello"], ("hello", "you"), ["hello?"], ["hello", "see [1]"]])
def test_one_label_for_texts(texts):
    model = suffice.TextNaiveBayes().fit(["cheap", "lunch"], ["spam", "ham"])
    for call in (model.partial_fit, model.remove, model.fit, suffice.fit):
        with pytest.raises(InputError, match=r"no file 'hello\??'.*give a list of labels: y=\['spam'\]") as caught:
            call(texts, "spam")
        assert caught.value.argument == "y"


def test_lists_of_files_have_a_column_of_labels(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    for paths in (["monday.csv", "tuesday.csv"], ["~/monday.csv", "tuesday.csv"], ["[mt]*day.csv"]):
        model = suffice.fit(paths, "species", model="naive-bayes")
        assert model.report_.n_rows == 100
    with pytest.raises(InputError, match="is a URL, not a file"):
        suffice.fit(["https://example.org/a.csv"], "species")
    with pytest.raises(InputError, match=r"There is no file 'nowhere\.csv'"):
        suffice.fit(["monday.csv", "nowhere.csv"], "species")
