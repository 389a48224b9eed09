"""Folders of mails as rows."""

import gzip
import mailbox
import os
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


# ---------------------------------------------------------------------- Maildirs


def maildir(path, *subjects):
    """A Maildir with the files that Dovecot keeps beside its folders."""
    for name in ("cur", "new", "tmp"):
        (path / name).mkdir(parents=True)
    for i, subject in enumerate(subjects):
        (path / "cur" / f"179500000{i}.M{i}P1.host:2,S").write_bytes(mail(subject).as_bytes())
    for name in ("dovecot.index", "dovecot-uidlist", "subscriptions", "maildirfolder", "dovecot.list.index.log"):
        (path / name).write_bytes(b"\x07\x03x\x00")
    return path


def test_a_maildir_with_the_files_of_a_mail_server(tmp_path):
    maildir(tmp_path / "Maildir", "lunch", "dinner")
    maildir(tmp_path / "Maildir" / ".Junk", "pills")
    rows = rows_of(open_source(tmp_path / "Maildir"))
    assert [row["text"].split()[0] for row in rows] == ["lunch", "dinner", "pills"]
    assert {row["label"] for row in rows} == {"Maildir"}
    junk = rows_of(open_source(tmp_path / "Maildir" / ".Junk"))
    assert [(row["text"].split()[0], row["label"]) for row in junk] == [("pills", ".Junk")]


def test_a_maildir_for_each_class(tmp_path):
    maildir(tmp_path / "ham", "lunch", "dinner")
    maildir(tmp_path / "spam", "pills")
    maildir(tmp_path / "spam" / ".Junk", "watches")
    source = open_source(tmp_path)
    assert [(row["text"].split()[0], row["label"]) for row in rows_of(source)] == [
        ("lunch", "ham"),
        ("dinner", "ham"),
        ("pills", "spam"),
        ("watches", "spam"),
    ]
    assert source.notes == []  # each class holds the folders cur, new and tmp


def test_index_files_elsewhere_are_not_mails(tmp_path):
    (tmp_path / "dovecot.index").write_bytes(b"\x07\x03x\x00")
    with pytest.raises(InputError, match="no data files"):
        open_source(tmp_path)


# ---------------------------------------------------------------------- files beside the classes


@pytest.mark.parametrize("name", ["README.txt", "Thumbs.db", "desktop.ini", "list.csv", "README"])
def test_a_file_that_is_not_a_mail(folder, name):
    stray = folder / name
    stray.write_text("a,label\n1,x\n")
    words = rf"Most files of the folder .*mails are mails, but '.*mails/{name}' is not\. Move this file, or remove it\."
    with pytest.raises(InputError, match=words) as caught:
        open_source(folder)
    assert caught.value.file == str(stray)
    assert ("To read this file alone, give its path." in str(caught.value)) == (name == "list.csv")
    declared = open_source(folder, format="mails")
    with pytest.raises(InputError, match=rf"'.*mails/{name}' lies beside the folders and mboxes of the classes\. Move"):
        rows_of(declared)
    assert len(rows_of(declared, ["text", "path"])) == 16  # without labels, it is one more mail
    stray.rename(folder / "spam" / name)
    if name not in ("README.txt", "README"):  # texts in the folder of a class are mails
        with pytest.raises(InputError, match=rf"but '.*mails/spam/{name}' is not\."):
            open_source(folder)
    assert {row["label"] for row in rows_of(open_source(folder, format="mails"))} == {"ham", "spam"}


def test_a_mail_beside_the_folders_has_no_class(folder, tmp_path):
    (folder / "new.eml").write_bytes(mail("new").as_bytes())
    with pytest.raises(InputError, match=r"mails/new\.eml' lies beside the folders") as caught:
        rows_of(open_source(folder))
    assert caught.value.file == str(folder / "new.eml")
    assert len(rows_of(open_source(folder), ["text"])) == 16
    boxed(tmp_path / "boxes.mbox", ["lunch"])
    (tmp_path / "boxes").mkdir()
    (tmp_path / "boxes.mbox").rename(tmp_path / "boxes" / "ham.mbox")
    boxed(tmp_path / "boxes" / "Junk", ["pills"])
    with pytest.raises(InputError, match=r"boxes/Junk' lies beside .* The name of an mbox must end in \.mbox\."):
        rows_of(open_source(tmp_path / "boxes"))


def test_a_few_mails_do_not_make_a_folder_of_mails(tmp_path):
    for i in range(3):
        (tmp_path / f"part-{i}.csv").write_text("x,y\n1,a\n")
        (tmp_path / f"{i}.eml").write_bytes(mail("a").as_bytes())
    assert open_source(tmp_path).names == ["x", "y"]


def test_folders_of_the_same_names_are_noted(tmp_path):
    for part in ("test", "train"):
        for label in ("ham", "spam"):
            (tmp_path / part / label).mkdir(parents=True)
            (tmp_path / part / label / "1.eml").write_bytes(mail(label).as_bytes())
    source = open_source(tmp_path)
    assert source.notes == [
        f"The labels are the names of the folders in {tmp_path}: 'test', 'train'. {tmp_path}/train holds the folders "
        f"'ham', 'spam'. For these labels, read {tmp_path}/train."
    ]
    assert {row["label"] for row in rows_of(source)} == {"test", "train"}
    assert open_source(tmp_path / "train").notes == []
    (tmp_path / "train" / "README.txt").write_text("Collected in March.")
    (tmp_path / "test" / "2.eml").write_bytes(mail("more").as_bytes())
    assert len(open_source(tmp_path).notes) == 1
    for number in range(3):
        (tmp_path / "train" / f"{number}.eml").write_bytes(mail("more").as_bytes())
    assert open_source(tmp_path).notes == []


def test_single_mails_have_the_label_of_their_folder(tmp_path):
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        for name in ("001", "1.txt", "1605.M1P2.host:2,S"):
            (tmp_path / label / name).write_bytes(mail(label).as_bytes())
    boxed(tmp_path / "Inbox", ["lunch"])
    rows = rows_of(open_source([tmp_path / "*" / "*", tmp_path / "Inbox"], format="mails"))
    assert [row["label"] for row in rows] == ["ham"] * 3 + ["spam"] * 3 + ["Inbox"]


# ---------------------------------------------------------------------- globs


def test_a_glob_of_folders(folder, tmp_path):
    whole = rows_of(open_source([folder / "ham", folder / "spam"], format="mails"), ["text", "path"])
    for options in ({}, {"format": "mails"}):
        assert rows_of(open_source(folder / "*", **options), ["text", "path"]) == whole
        assert rows_of(open_source(folder.parent / "*" / "spam" / "deep", **options)) == rows_of(
            open_source(folder / "spam" / "deep", **options)
        )
        assert len(rows_of(open_source(folder / "**", **options), ["path"])) == 15
        assert len(rows_of(open_source(folder / "**" / "deep", **options), ["path"])) == 7
        assert len(rows_of(open_source(folder / "**" / "*am", **options), ["path"])) == 15


# ---------------------------------------------------------------------- names that are not UTF-8


def test_paths_that_are_not_utf_8_are_escaped(folder):
    name = os.fsdecode(b"gr\xfc\xdfe.eml")
    (folder / "spam" / name).write_bytes(mail("Hi").as_bytes())
    paths = [row["path"] for row in rows_of(open_source(folder))]
    assert f"{folder}/spam/gr\\udcfc\\udcdfe.eml" in paths


def test_a_label_that_is_not_utf_8_is_an_error(folder):
    bad = folder.parent / os.fsdecode(b"\xfc")
    (folder / "spam").rename(folder / bad.name)
    source = open_source(folder)
    with pytest.raises(
        InputError, match=r"'.*mails/\\udcfc' would be '\\udcfc', which is not UTF-8\. Rename"
    ) as caught:
        rows_of(source)
    assert caught.value.file == str(folder / bad.name)
    assert len(rows_of(source, ["path"])) == 15
    folder.rename(bad)
    assert len(rows_of(open_source(bad / "ham"), ["path"])) == 12


def test_mails_that_cannot_be_read_are_bad_rows(folder):
    lost = folder / "ham" / "lost.eml"
    lost.symlink_to(folder / "nowhere")
    with pytest.raises(InputError, match=r"lost\.eml' cannot be read: No such file.*bad_rows='skip'") as caught:
        rows_of(open_source(folder))
    assert caught.value.file == str(lost)
    source = open_source(folder, bad_rows="skip")
    assert (len(rows_of(source)), source.skipped) == (15, 1)
    lost.unlink()
    (folder / "ham" / "small.eml.gz").write_bytes(gzip.compress(mail("small").as_bytes()))
    with pytest.raises(InputError, match=r"small\.eml\.gz' is compressed\. Decompress it first\."):
        rows_of(open_source(folder))


def test_single_mails_that_cannot_be_read_are_bad_rows(folder, tmp_path):
    lost, compressed, good = tmp_path / "lost.eml", tmp_path / "small.eml.lz4", tmp_path / "good.eml"
    lost.symlink_to(tmp_path / "nowhere")
    compressed.write_bytes(b"\x04\x22\x4d\x18\x40")
    good.write_bytes(mail("lunch").as_bytes())
    with pytest.raises(InputError, match=r"lost\.eml'\. Or skip such mails with bad_rows='skip'\."):
        rows_of(open_source([lost, good]), ["text"])
    with pytest.raises(InputError, match=r"small\.eml\.lz4' is compressed\. Decompress it first\."):
        rows_of(open_source(compressed), ["text"])
    source = open_source([lost, compressed, good], bad_rows="skip")
    assert (len(rows_of(source, ["text"])), source.skipped) == (1, 2)


def test_few_mails_among_tables(tmp_path):
    for number in range(20):
        folder = tmp_path / ("a" if number < 5 else "b")
        folder.mkdir(exist_ok=True)
        if number < 5:
            (folder / f"{number}.eml").write_bytes(mail("lunch").as_bytes())
        else:
            (folder / f"{number}.csv").write_text("x,y\n1,2\n")
    assert len(rows_of(open_source(tmp_path))) == 15


def test_a_mail_is_read_once(folder):
    for paths in ([folder, folder], [folder, folder / "ham"], [folder / "ham" / "..", folder]):
        with pytest.raises(InputError, match="so its rows would count twice"):
            open_source(paths)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "1.eml").write_bytes(mail("hidden").as_bytes())
    assert len(rows_of(open_source([folder, folder / ".hidden"]), ["text"])) == 16


def test_folders_of_years_are_not_folders_of_classes(tmp_path):
    for label in ("ham", "spam"):
        for year in ("2002", "2003"):
            (tmp_path / "years" / label / year).mkdir(parents=True)
            (tmp_path / "years" / label / year / "1.eml").write_bytes(mail("lunch").as_bytes())
    assert open_source(tmp_path / "years").notes == []
    for label in ("ham", "spam"):
        (tmp_path / "all" / "train" / label).mkdir(parents=True)
        (tmp_path / "all" / "train" / label / "1.eml").write_bytes(mail("lunch").as_bytes())
    (tmp_path / "all" / "test" / "ham").mkdir(parents=True)
    (tmp_path / "all" / "test" / "ham" / "1.eml").write_bytes(mail("lunch").as_bytes())
    assert "read " in str(open_source(tmp_path / "all").notes[0])
