"""New classes, lost classes, and labels of mails."""

from pathlib import Path

import pytest

from cli.made import ran, refused, run

BOX = "The label of a mail is the name of its folder or mbox."


@pytest.fixture
def mails(folder):
    ran("fit", "inbox", "-o", "mails.suffice", "-q")
    for label in ("Spam", "spam", "news"):
        path = Path(label, label, "1.eml")
        path.parent.mkdir(parents=True)
        path.write_text("Subject: A short survey\n\nPlease reply.\n")
    return "mails.suffice"


def test_an_update_notes_new_classes(mails):
    update = ("--update", mails, "--no-validate")
    assert "note: New class 'Spam' (1 row). Did you mean 'spam'?\n" in run("fit", "Spam", *update).stderr
    assert "note: New class 'news' (1 row).\n" in run("fit", "news", *update).stderr
    assert "New class" not in run("fit", "spam", *update).stderr
    assert "New class" not in run("fit", "inbox", "--no-validate").stderr


def test_new_classes_of_a_table(folder):
    Path("more.csv").write_text(Path("test.csv").read_text().replace("setosa", "Setosa"))
    said = run("fit", "more.csv", "--update", "flowers.suffice", "-t", "species", "--no-validate").stderr
    rows = Path("more.csv").read_text().count("Setosa")
    assert f"note: New class 'Setosa' ({rows} rows). Did you mean 'setosa'?\n" in said


def test_a_second_removal_names_the_label(mails):
    ran("fit", "spam", "--update", mails, "-o", mails, "--no-validate", "-q")
    ran("remove", mails, "spam", "-o", mails)
    said = refused("remove", mails, "spam", "-o", mails)
    assert "there are none in the model. They were not learned with the label 'spam', or were already removed." in said
    ran("fit", "news", "--update", mails, "-o", mails, "--no-validate", "-q")
    assert "Some of these documents were not learned with this label, were already removed, or had other weights." in (
        refused("remove", mails, "spam", "-o", mails)
    )


def test_errors_about_labels_of_mails_say_where_labels_come_from(mails):
    said = refused("remove", mails, "Spam", "-o", mails)
    assert f"Rows of class 'Spam' cannot be removed: the model has none. Its classes are 'ham', 'spam'. {BOX}" in said
    assert f"All 3 mails have the label 'spam'; expected at least two classes. {BOX}" in refused("fit", "inbox/spam")
    assert f"The only mail has the label 'news'; expected at least two classes. {BOX}" in refused("fit", "news")
    said = refused("evaluate", mails, "Spam")
    assert BOX in said
    assert "--target" not in said
    Path("Spam/ham").mkdir()
    Path("Spam/ham/1.eml").write_text("Subject: Lunch\n\nAt noon?\n")
    assert f"are not part of the log-loss. {BOX}" in run("evaluate", mails, "Spam").stderr


def test_labels_of_tables_have_their_column(folder):
    assert BOX not in refused("remove", "flowers.suffice", "messages.jsonl", "-t", "kind", "-o", "m.suffice")
    Path("one.csv").write_text("size,label\n1,a\n2,a\n")
    said = refused("fit", "one.csv", "-t", "label")
    assert "Column 'label' holds 'a' in all 2 rows; expected at least two classes." in said
    assert BOX not in said


def test_a_class_without_rows_is_noted(mails):
    result = run("remove", mails, "inbox/spam", "-o", "ham.suffice")
    assert result.exit_code == 0
    assert "note: No row of class 'spam' remains, so the model no longer has this class.\n" in result.stderr
    ran("fit", "spam", "--update", mails, "-o", "more.suffice", "--no-validate")
    assert "remains, so" not in run("remove", "more.suffice", "spam", "-o", "more.suffice").stderr
