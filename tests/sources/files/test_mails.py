"""Folders of mails as rows."""

import mailbox
from email.message import EmailMessage

import pytest

from file_formats import rows_of
from suffice.exceptions import InputError
from suffice.sources.files import open_source
from suffice.text.mail import load_mails


def mail(subject, body="Hello."):
    made = EmailMessage()
    made["Subject"] = subject
    made["From"] = "alice@example.com"
    made.set_content(body)
    return made


@pytest.fixture
def folder(tmp_path):
    for label, n in (("ham", 12), ("spam", 3)):
        (tmp_path / "mails" / label / "deep").mkdir(parents=True)
        for i in range(n):
            path = tmp_path / "mails" / label / ("deep" if i % 2 else "") / f"{i:04}.eml"
            path.write_bytes(mail(f"{label} number {i}", "Grüße").as_bytes())
    return tmp_path / "mails"


def boxed(path, subjects):
    box = mailbox.mbox(str(path))
    for subject in subjects:
        box.add(mail(subject))
    box.close()


@pytest.mark.parametrize("options", [{}, {"format": "mails"}, {"batch_rows": 2}])
def test_a_folder_for_each_class(folder, options):
    source = open_source(folder, **options)
    assert source.names == ["text", "label", "path"]
    assert source.types == dict.fromkeys(source.names, "text")
    rows = rows_of(source)
    known = load_mails({"ham": folder / "ham", "spam": folder / "spam"})
    assert [row["text"] for row in rows] == known.texts
    assert [row["label"] for row in rows] == known.labels.tolist()
    assert [row["path"] for row in rows] == known.paths
    assert rows == rows_of(source)
    assert source.done_bytes == source.total_bytes == sum(path.stat().st_size for path in folder.rglob("*.eml"))
    assert rows_of(source, ["label"])[0] == {"label": "ham"}


def test_an_mbox_for_each_class(tmp_path):
    boxed(tmp_path / "ham.mbox", [f"lunch {i}" for i in range(5)])
    boxed(tmp_path / "spam.mbox", ["win", "buy"])
    rows = rows_of(open_source(tmp_path))
    assert [row["label"] for row in rows] == ["ham"] * 5 + ["spam"] * 2
    assert rows[3]["text"].startswith("lunch 3")
    assert rows[3]["path"] == f"{tmp_path / 'ham.mbox'}#3"
    listed = rows_of(open_source([tmp_path / "spam.mbox", tmp_path / "ham.mbox"], format="mails"))
    assert [row["label"] for row in listed] == ["spam"] * 2 + ["ham"] * 5
    assert rows_of(open_source(tmp_path / "spam.mbox", format="mails")) == [
        row for row in rows if row["label"] == "spam"
    ]


def test_file_names_of_corpora(tmp_path):
    for label in ("easy_ham", "spam_2"):
        (tmp_path / label).mkdir()
        for i in range(3):
            name = f"{i:05}.7c53336b37003a9286aba55d2945844c"
            (tmp_path / label / name).write_bytes(mail(f"{label} {i}").as_bytes())
    assert [row["label"] for row in rows_of(open_source(tmp_path))] == ["easy_ham"] * 3 + ["spam_2"] * 3


def test_a_folder_of_data_is_not_mails(tmp_path):
    for year in ("2023", "2024"):
        (tmp_path / year).mkdir()
        (tmp_path / year / "data.csv").write_text("x,y\n1,a\n")
    assert open_source(tmp_path).names == ["x", "y"]


def test_one_class_and_no_class(folder):
    rows = rows_of(open_source(folder / "ham" / "deep", format="mails"))
    assert {row["label"] for row in rows} == {"deep"}
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=r"The folder .*empty is empty"):
        open_source(folder / "empty", format="mails")
    with pytest.raises(InputError, match="There is no file or folder of mail"):
        rows_of(open_source(folder / "gone", format="mails"))


def test_a_mail_that_is_not_text_gives_a_row(folder):
    (folder / "spam" / "odd.eml").write_bytes(b"Subject: \xff\xfe\x00\n\n\x00\xff\xed\xa0\x80")
    rows = rows_of(open_source(folder))
    assert len(rows) == 16
    assert sum(row["path"].endswith("odd.eml") for row in rows) == 1
