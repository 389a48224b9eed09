"""Texts and mails as data: lines, `--text`, files and folders of mails, standard input."""

import csv
import gzip
import io
import json
import os
import shutil
from email.message import EmailMessage
from pathlib import Path

import pyarrow as pa
import pytest

import suffice
from cli.made import MESSAGES, ran, refused, run, shell
from suffice import NaiveBayes, TextNaiveBayes


def mail(subject, body="Hello."):
    made = EmailMessage()
    made["Subject"] = subject
    made.set_content(body)
    return made.as_bytes()


@pytest.fixture
def mails(folder):
    for i, (kind, body) in enumerate(MESSAGES):
        path = folder / "mails" / kind / f"{i}.eml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mail(body))
    return folder / "mails"


def labels(text):
    return [row["label"] for row in csv.DictReader(io.StringIO(text))]


@pytest.fixture
def sms(folder):
    """A model that knows its column of texts by name."""
    ran("fit", "messages.jsonl", "-t", "kind", "--model", "text", "--columns", "body", "-o", "sms.suffice", "-q")
    return "sms.suffice"


# ---------------------------------------------------------------------- lines


@pytest.mark.parametrize("first", ["WINNER!! buy cheap pills", "cheap, cheap", "cheap\tpills", 'a "cheap pill', "text"])
def test_piped_lines_are_texts(sms, first):
    result = run("predict", sms, "-", stdin=f"{first}\nlunch at noon?\n\nthe report\n")
    expected = suffice.load(sms).predict([first, "lunch at noon?", "", "the report"]).tolist()
    assert labels(result.stdout) == expected
    assert "note: The first line of standard input does not name a column 'body', so each line is one text" in (
        result.stderr
    )


@pytest.mark.parametrize(
    "text", ["body\ncheap pills\nlunch\n", "id,body\n1,cheap pills\n2,lunch\n", "id\t Body\n1\tb\n"]
)
def test_a_piped_table_has_the_column_of_the_model(sms, text):
    result = run("predict", sms, "-", stdin=text)
    assert len(labels(result.stdout)) == text.count("\n") - 1
    assert "each line is one text" not in result.stderr


def test_options_of_tables_make_a_table(sms):
    text = "x,y\n1,cheap pills\n"
    for options in (["--format", "csv"], ["--columns", "y"], ["--delimiter", ","], ["--names", "a,b"]):
        found = labels(ran("predict", sms, "-", *options, stdin=text))
        assert len(found) == 1 + ("--names" in options) * 0
    assert len(labels(ran("predict", sms, "-", "--format", "lines", stdin=text))) == 2
    assert len(labels(ran("predict", sms, "-", stdin='{"body": "cheap"}\n{"body": "lunch"}\n'))) == 2


def test_a_model_of_texts_without_a_name(folder):
    assert len(labels(ran("predict", "spam.suffice", "-", stdin="hello\n"))) == 1
    assert len(labels(ran("predict", "spam.suffice", "-", stdin="text\nhello\n"))) == 1
    (folder / "lines.txt").write_text("cheap pills\nlunch at noon\n")
    assert labels(ran("predict", "spam.suffice", "lines.txt")) == ["spam", "ham"]
    (folder / "table.csv").write_text("body\ncheap pills\n")
    assert labels(ran("predict", "spam.suffice", "table.csv")) == ["spam"]


def test_lines_are_kept_and_bad_ones_are_skipped(folder):
    data = b'cheap pills\nca\xffe\n  lunch, "noon"  \n'
    assert "standard input, line 2: the line is not UTF-8" in refused("predict", "spam.suffice", "-", stdin=data)
    found = ran("predict", "spam.suffice", "-", "--keep", "text", "--bad-rows", "skip", stdin=data)
    assert [row["text"] for row in csv.DictReader(io.StringIO(found))] == ["cheap pills", '  lunch, "noon"  ']
    assert "lines, line 2" in ran("explain", "spam.suffice", "-", "--row", "1", stdin="a\ncheap\n").replace(
        "standard input", "lines"
    )


def test_other_models_read_tables(folder):
    NaiveBayes().fit(pa.table({"text": ["a", "b"]}), ["x", "y"]).save("colours.suffice")
    assert labels(ran("predict", "colours.suffice", "-", stdin="text\na\n")) == ["x"]


# ---------------------------------------------------------------------- texts on the command line


def test_text_option(sms, folder):
    expected = TextNaiveBayes.tuned().fit([body for _, body in MESSAGES], [kind for kind, _ in MESSAGES])
    found = list(csv.DictReader(io.StringIO(ran("predict", sms, "--text", "cheap\npills", "--text", "-o lunch"))))
    assert [row["label"] for row in found] == ["spam", "ham"]
    assert float(found[0]["p(ham)"]) == pytest.approx(expected.predict_proba(["cheap pills"])[0, 0], rel=1e-9)
    shown = ran("explain", sms, "--text", "cheap pills", "--text", "lunch")
    assert "Row 0: predicted spam" in shown
    assert "Row 1: predicted ham" in shown
    facts = json.loads(ran("explain", "spam.suffice", "--text", "cheap", "--json"))
    assert (facts["source"], len(facts["rows"])) == ("--text", 1)


def test_text_option_is_for_text_models(folder):
    said = refused("predict", "flowers.suffice", "--text", "a", code=2)
    assert "--text needs a model of one column of texts; this is a NaiveBayes of 5 columns." in " ".join(said.split())
    assert "instead of DATA" in refused("predict", "spam.suffice", "messages.jsonl", "--text", "a", code=2)
    assert "Missing argument 'DATA...'" in refused("predict", "spam.suffice", code=2)


# ---------------------------------------------------------------------- mails


def test_mails_are_fitted_with_the_text_model(mails):
    facts = json.loads(ran("fit", "mails", "-o", "m.suffice", "--json"))
    assert (facts["model"], facts["target"], facts["rows"]) == ("TextNaiveBayes", "label", 6)
    assert json.loads(ran("fit", "mails", "--event", "bernoulli", "--json"))["settings"]["event"] == "bernoulli"
    assert json.loads(ran("fit", "mails", "-t", "label", "--model", "naive-bayes", "--json"))["model"] == "NaiveBayes"
    assert isinstance(suffice.fit(mails), TextNaiveBayes)


def test_one_mail_a_folder_of_mails_and_a_pipe(mails):
    ran("fit", "mails", "-o", "m.suffice", "-q")
    assert labels(ran("predict", "m.suffice", "mails/spam/0.eml")) == ["spam"]
    assert labels(ran("predict", "m.suffice", "mails/ham")) == ["ham"] * 3
    assert labels(ran("predict", "m.suffice", "mails/ham/*.eml", "mails/spam/0.eml")) == [*["ham"] * 3, "spam"]
    assert labels(ran("predict", "m.suffice", "mails/ham/*", "mails/spam")) == [*["ham"] * 3, *["spam"] * 3]
    piped = ran("predict", "m.suffice", "-", "--format", "mails", "--keep", "path", stdin=mail("cheap pills"))
    assert next(csv.DictReader(io.StringIO(piped)))["path"] == "standard input"
    assert labels(piped) == ["spam"]
    line = b"From a@example.com Thu Aug 22 13:17:22 2002\n"
    box = line + mail("cheap pills") + b"\n" + line + mail("lunch at noon")
    assert labels(ran("predict", "m.suffice", "-", "--format", "mails", stdin=box)) == ["spam", "ham"]
    assert json.loads(ran("evaluate", "m.suffice", "mails", "--json"))["accuracy"] == 1


def test_the_class_of_a_single_mail_is_its_folder(mails):
    found = suffice.fit(["mails/ham/1.eml", "mails/spam/0.eml", "mails/spam/2.eml"])
    assert found.classes_.tolist() == ["ham", "spam"]


def test_explain_names_the_file_of_a_mail(mails):
    ran("fit", "mails", "-o", "m.suffice", "-q")
    assert "Row 1 (mails/spam/2.eml): predicted spam" in ran("explain", "m.suffice", "mails/spam", "--row", "1")
    assert "Row 0 (mails/ham/1.eml): predicted ham" in ran("explain", "m.suffice", "mails/ham/1.eml")


# ---------------------------------------------------------------------- the target of a model


def test_a_model_knows_its_target(folder):
    ran("fit", "train.csv", "-t", "species", "-o", "m.suffice", "-q")
    assert suffice.load("m.suffice").fitted_.target == "species"
    assert json.loads(ran("evaluate", "m.suffice", "test.csv", "--json"))["data"]["rows"] == 50
    assert json.loads(ran("fit", "test.csv", "--update", "m.suffice", "-o", "n.suffice", "--json"))["rows"] == 150
    assert json.loads(ran("remove", "n.suffice", "test.csv", "-o", "n.suffice", "--json"))["rows"] == 100
    assert suffice.fit("test.csv", model=suffice.load("n.suffice")).report_.n_rows == 50
    assert "Missing option '-t'" in refused("fit", "train.csv", code=2)
    assert "Missing option '-t'" in refused("evaluate", "flowers.suffice", "test.csv", code=2)
    with pytest.raises(suffice.InputError, match="Name the column of class labels"):
        suffice.fit("test.csv")


def test_a_text_model_names_the_columns_that_it_ignores(folder):
    Path("t.csv").write_text("id,body,size,kind\n1,cheap pills,1.5,spam\n2,my friend,2.5,ham\n3,my dear,2,ham\n")
    result = run("fit", "t.csv", "-t", "kind", "--model", "text")
    assert "note: The model reads the texts of column 'body' and ignores columns 'id', 'size'." in result.stderr
    assert ["body", "text", "text"] in [line.split() for line in result.stdout.splitlines()]


# ---------------------------------------------------------------------- mails without a name that says so

MAIL = b"Return-Path: <a@example.com>\nSubject: Buy\n\nBuy cheap pills now.\n"


def test_mails_are_recognised_by_their_first_lines(mails, folder):
    """A Maildir names mails by time and host, and Thunderbird an mbox ``Junk``."""
    model = "recognised.suffice"
    ran("fit", mails, "-o", model)
    (folder / "cur").mkdir()
    for name in ("1795000001.M1P1.host:2,S", "1795000002.M2P1.host:2,"):
        (folder / "cur" / name).write_bytes(MAIL)
    (folder / "Junk").write_bytes(b"From a@example.com Thu Aug 22 13:17:22 2002\n" + MAIL + b"\n")
    expected = labels(ran("predict", model, "cur/1795000001.M1P1.host:2,S", "--format", "mails"))
    assert labels(ran("predict", model, "cur/1795000001.M1P1.host:2,S")) == expected
    assert labels(ran("predict", model, "Junk")) == expected
    assert labels(ran("predict", model, "cur")) == 2 * expected


@pytest.mark.parametrize("head", [b"", b"From a@example.com Thu Aug 22 13:17:22 2002\n"])
def test_a_piped_mail_is_not_read_line_by_line(sms, head):
    said = refused("predict", sms, "-", stdin=(head + MAIL).decode())
    assert "standard input looks like a mail. To read it as one, set --format mails" in said
    assert said.endswith("See docs/mail.md.\n")
    lines = "Subject: lunch\nSubject: dinner\n"  # texts that begin like a header
    assert len(labels(ran("predict", sms, "-", "-q", stdin=lines))) == 2


def test_a_named_pipe_is_not_opened_to_look_at_it(sms):
    done = shell(f"suffice predict {sms} <(printf 'body\\ncheap pills\\n') -q", ".")
    assert (done.returncode, len(labels(done.stdout))) == (0, 1), done.stderr


def test_a_maildir_is_one_class(mails, folder):
    ran("fit", mails, "-o", "maildir.suffice")
    for name in ("cur", "new", "tmp"):
        (folder / "Maildir" / name).mkdir(parents=True)
    (folder / "Maildir" / "cur" / "1795000001.M1P1.host:2,S").write_bytes(MAIL)
    (folder / "Maildir" / "new" / "1795000002.M2P1.host").write_bytes(MAIL)
    found = labels(ran("predict", "maildir.suffice", "Maildir"))
    assert found == 2 * labels(ran("predict", "maildir.suffice", "Maildir/new/1795000002.M2P1.host"))


def test_a_compressed_mail_is_not_classified(mails, folder):
    model = "compressed.suffice"
    ran("fit", mails, "-o", model)
    (folder / "a.eml.gz").write_bytes(gzip.compress(MAIL))
    said = refused("predict", model, "a.eml.gz", "--format", "mails", "-q")
    assert "The file 'a.eml.gz' is compressed. Decompress it first." in said
    said = refused("predict", model, "a.eml.gz")
    assert "The file 'a.eml.gz' is compressed. Decompress it first." in said
    (folder / "a.gz").write_bytes(gzip.compress(MAIL))
    said = refused("predict", model, "a.gz")
    assert "a.gz looks like a compressed mail. Decompress it first." in said
    assert "--format" not in said
    assert "Mails on standard input have no label." in refused("fit", "-", "--format", "mails", stdin=MAIL)
    piped = ran("predict", model, "-", "--format", "mails", stdin=gzip.compress(MAIL))
    assert piped == ran("predict", model, "-", "--format", "mails", stdin=MAIL)


def test_standard_input_without_a_byte_is_an_error(sms):
    for options in ([], ["--format", "mails"]):
        assert "standard input is empty; there are no rows." in refused("predict", sms, "-", *options, "-q", stdin="")


@pytest.mark.parametrize("options", [[], ["--keep", "path"], ["--keep", "all"]])
def test_a_mail_in_a_text_file_is_not_a_table(sms, folder, options):
    (folder / "t").mkdir()
    (folder / "t" / "mail.txt").write_bytes(b"\xef\xbb\xbf" + MAIL)
    for path in ("t", "t/mail.txt"):
        said = refused("predict", sms, path, *options, "-q")
        assert "t/mail.txt looks like a mail. To read it as one, set --format mails" in said
    found = ran("predict", sms, "t", "--format", "mails", *options, "-q").replace("predicted label", "predicted")
    (row,) = csv.DictReader(io.StringIO(found))
    assert row.get("predicted", row["label"]) == "spam"
    (folder / "table.txt").write_text("path,body\na,cheap pills\n")
    assert labels(ran("predict", sms, "table.txt", *options, "-q")) == ["spam"]


def test_paths_with_bytes_that_are_not_utf_8(mails, folder):
    ran("fit", mails, "-o", "m.suffice")
    path = folder / os.fsdecode(b"gr\xfc\xdfe.eml")
    path.write_bytes(MAIL)
    (row,) = csv.DictReader(io.StringIO(ran("predict", "m.suffice", path, "--keep", "path", "-q")))
    assert row["path"].endswith("gr\\udcfc\\udcdfe.eml")
    assert "gr\\udcfc\\udcdfe.eml" in ran("explain", "m.suffice", path)
    path.unlink()
    (mails / "spam").rename(mails / os.fsdecode(b"\xfc"))
    assert "would be '\\udcfc', which is not UTF-8. Rename the folder or mbox." in refused("fit", mails)


def test_a_folder_of_train_and_test(mails, folder):
    (folder / "all").mkdir()
    for name in ("train", "test"):
        shutil.copytree(mails, folder / "all" / name)
    said = run("fit", "all").stderr
    note = "note: The labels are the names of the folders in all: 'test', 'train'. all/train holds the folders"
    assert said.count(note) == 1
    assert "For these labels, read all/train." in said


def test_a_file_beside_the_folders_of_mails(mails, folder):
    ran("fit", mails, "-o", "m.suffice")
    (mails / "README.txt").write_text("Collected in March.")
    said = refused("fit", "mails")
    assert "but 'mails/README.txt' is not. Move this file, or remove it." in said
    for command in (["fit"], ["evaluate", "m.suffice"]):
        said = refused(*command, "mails", "--format", "mails")
        assert "'mails/README.txt' lies beside the folders and mboxes of the classes. Move it" in said
    assert len(labels(ran("predict", "m.suffice", "mails", "--format", "mails"))) == 7
    assert len(labels(ran("predict", "m.suffice", "mails/*am"))) == 6
