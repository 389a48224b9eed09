"""Messages of files, folders, mbox and Maildir: in order, one at a time, with clear errors."""

import bz2
import gzip
import io
import lzma
import mailbox
import os
import random
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from suffice import InputError
from suffice.text.mail import load_mails, read_mail, read_mails
from suffice.text.mail.mbox import split_mbox
from text.mail.made import made_mail

FROM = b"From a@example.com Thu Aug 22 13:17:22 2002\n"


def subjects(source, **settings):
    return [mail.subject for mail in read_mails(source, **settings)]


def write(path, data=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"Subject: " + path.name.encode() + b"\n\nbody\n" if data is None else data)
    return path


class TestMbox:
    def test_as_python_reads_it(self, tmp_path):
        rng = random.Random(1)
        made = [made_mail(rng) for _ in range(40)]
        path = tmp_path / "box"
        box = mailbox.mbox(path)
        for message in made:
            box.add(message)
        box.close()
        read = list(read_mails(path))
        assert [mail.number for mail in read] == list(range(40))
        assert {mail.path for mail in read} == {str(path)}
        again = mailbox.mbox(path)
        by_python = [read_mail(each.as_bytes()) for each in again]
        again.close()
        # Its writer quotes "From" within texts, and its reader does not remove the quotes.
        assert [mail.text.replace(">From", "From") for mail in read] == [
            mail.text.replace(">From", "From") for mail in by_python
        ]

    @pytest.mark.parametrize(
        ("box", "messages"),
        [
            (b"", []),
            (b"\n\n", []),
            (FROM, [b""]),
            (FROM + FROM, [b"", b""]),
            (FROM + b"a\n" + FROM + b"b\n", [b"a\n", b"b\n"]),
            (FROM + b"a\n\n" + FROM + b"b", [b"a\n", b"b"]),
            (FROM + b"a\r\n\r\n" + FROM + b"b", [b"a\r\n", b"b"]),
            (FROM + b"a\n\nFrom now on it rains.\n", [b"a\n\nFrom now on it rains.\n"]),
            (FROM + b"a\nFrom what I hear, Mon at 12:30.\n", [b"a\nFrom what I hear, Mon at 12:30.\n"]),
            (FROM + b"a\n\nFrom Thu on, at 10:00.\n" + FROM + b"b", [b"a\n\nFrom Thu on, at 10:00.\n", b"b"]),
            (b"From 1@xxx Fri Jul 08 12:08:34 +0000 2011\na\nFrom b Fri, 8 Jul 2011 9:08\nb", [b"a\n", b"b"]),
            (b"From b Fri Jul  8 12:08:34 MET DST 2011\r\na\r\nFrom b Fri, 08-Jul-11 9:08\nb", [b"a\r\n", b"b"]),
            (FROM + b">From a\n>>From b\n> From c\n", [b"From a\n>From b\n> From c\n"]),
            (b"From - Sat Aug 10 20:00:00 2024\na\n\nFrom \nb\n\nFrom -\nc\n", [b"a\n", b"b\n", b"c\n"]),
            (b"From x 2024-01-01\na\n\nFrom y 2024-01-02\nb\n", [b"a\n", b"b\n"]),
            (b"no mbox\n", [b"no mbox\n"]),
            (b"\n" + FROM + b"a", [b"a"]),
        ],
    )
    def test_by_hand(self, box, messages):
        assert list(split_mbox(io.BytesIO(box), 1000)) == messages

    def test_a_message_is_cut_where_it_is_too_long(self):
        box = FROM + b"a" * 100_000 + b"\nFrom b\n" * 5 + FROM + b"c"
        assert list(split_mbox(io.BytesIO(box), 10)) == [b"a" * 11, b"c"]

    def test_memory_is_that_of_one_message(self, tmp_path):
        path = tmp_path / "box.mbox"
        with open(path, "wb") as file:
            for number in range(200):
                file.write(FROM + b"Subject: %d\n\n" % number + b"some words " * 10_000 + b"\n\n")
            file.write(FROM + b"x" * 20_000_000)
        assert path.stat().st_size > 40_000_000
        tracemalloc.start()
        count = sum(1 for _ in read_mails(path, max_bytes=200_000))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 201
        assert peak < 2_000_000

    def test_kinds(self, tmp_path):
        path = write(tmp_path / "box", FROM + b"Subject: a\n\n" + FROM + b"Subject: b\n")
        assert subjects(path) == ["a", "b"]
        assert subjects(path, kind="mail") == ["a"]
        assert subjects(path.rename(tmp_path / "box.eml")) == ["a"]
        assert subjects(tmp_path / "box.eml", kind="mbox") == ["a", "b"]

    def test_an_empty_box_holds_no_mail(self, tmp_path):
        assert subjects(write(tmp_path / "Inbox", b"")) == []
        assert subjects(write(tmp_path / "sent.mbox", b"")) == []
        assert subjects(write(tmp_path / "a.eml", b"")) == [""]


class TestFolders:
    def test_order(self, tmp_path):
        for name in ("b.eml", "a.eml", "sub/c.eml", "sub/deeper/d.eml", "aaa/e.eml", ".hidden", ".git/f.eml"):
            write(tmp_path / name)
        write(tmp_path / "box", FROM + b"Subject: 1\n\n" + FROM + b"Subject: 2\n")
        assert subjects(tmp_path) == ["a.eml", "b.eml", "1", "2", "e.eml", "c.eml", "d.eml"]
        assert subjects(tmp_path, pattern="[ab].eml") == ["a.eml", "b.eml"]
        assert subjects([tmp_path / "sub", str(tmp_path / "a.eml")]) == ["c.eml", "d.eml", "a.eml"]

    def test_maildir_as_python_writes_it(self, tmp_path):
        box = mailbox.Maildir(tmp_path / "mail")
        for number in range(20):
            message = mailbox.MaildirMessage(f"Subject: {number}\n\nbody")
            if number % 2:
                message.set_subdir("cur")
                message.set_flags("S")
            box.add(message)
        sent = box.add_folder("Sent")
        sent.add("Subject: sent\n\nbody")
        write(tmp_path / "mail" / "tmp" / "unfinished")
        read = subjects(tmp_path / "mail")
        assert sorted(read[:-1], key=int) == [str(number) for number in range(20)]
        assert read[-1] == "sent"
        assert subjects(tmp_path) == read

    def test_maildir_in_order_of_arrival(self, tmp_path):
        for name in ("new/3.x", "cur/2.x:2,S", "cur/4.x:2,", "new/1.x"):
            write(tmp_path / name)
        os.makedirs(tmp_path / "tmp")
        assert [subject[0] for subject in subjects(tmp_path)] == ["1", "2", "3", "4"]
        assert [subject[0] for subject in subjects(tmp_path, pattern="*.eml")] == ["1", "2", "3", "4"]

    def test_links_and_pipes(self, tmp_path):
        write(tmp_path / "a.eml")
        (tmp_path / "loop").symlink_to(tmp_path)
        (tmp_path / "dangling.eml").symlink_to(tmp_path / "nowhere")
        (tmp_path / "itself.eml").symlink_to(tmp_path / "itself.eml")
        (tmp_path / "pipe of.eml").symlink_to(tmp_path / "pipe.eml")
        os.mkfifo(tmp_path / "pipe.eml")
        first, *broken = read_mails(tmp_path)
        assert first.subject == "a.eml"
        assert [(os.path.basename(mail.path), mail.text) for mail in broken] == [
            ("dangling.eml", ""),
            ("itself.eml", ""),
        ]
        assert "No such file" in broken[0].faults[0]
        assert "symbolic links" in broken[1].faults[0]

    def test_a_file_that_vanishes_is_said(self, tmp_path):
        for name in ("a.eml", "b.eml", "c.eml"):
            write(tmp_path / name)
        reading = read_mails(tmp_path)
        assert next(reading).subject == "a.eml"
        (tmp_path / "b.eml").unlink()
        gone, last = reading
        assert (gone.text, last.subject) == ("", "c.eml")
        assert "No such file" in gone.faults[0]

    def test_a_folder_that_is_closed_is_said(self, tmp_path, monkeypatch):
        for name in ("a.eml", "closed/b.eml", "mail/cur/c", "mail/new/d", "open/e.eml"):
            write(tmp_path / name)
        closed = [str(tmp_path / "closed"), str(tmp_path / "mail" / "cur")]
        scandir = os.scandir

        def refusing(path):
            if path in closed:
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refusing)
        read = list(read_mails(tmp_path))
        assert [mail.subject for mail in read] == ["a.eml", "", "", "e.eml"]
        assert [mail.path for mail in read[1:3]] == [closed[0], str(tmp_path / "mail")]
        assert read[1].faults == (f"The folder {closed[0]!r} cannot be read: Permission denied.",)
        with pytest.raises(InputError, match="cannot be read: Permission denied"):
            list(read_mails(closed[0]))

    def test_names_that_are_no_text(self, tmp_path):
        name = os.fsdecode(b"caf\xe9 \n.eml")
        write(tmp_path / "x.eml").rename(tmp_path / name)
        (mail,) = read_mails(tmp_path)
        assert (mail.subject, os.path.basename(mail.path)) == ("x.eml", name)

    def test_files_of_apples_mail(self, tmp_path):
        message = b"Subject: a\n\nbody\n"
        path = write(tmp_path / "1.emlx", b"%d      \n" % len(message) + message + b'<?xml version="1.0"?><plist/>')
        assert [mail.text for mail in read_mails(tmp_path)] == ["a\nbody"]
        assert read_mail(path).text == "a\nbody"
        assert read_mail(write(path, message)).text == "a\nbody"

    def test_folder_of_many_levels(self, tmp_path):
        here = tmp_path
        for _ in range(100):
            here = here / "d"
        write(here / "deep.eml")
        assert subjects(tmp_path) == ["deep.eml"]


COMPRESSIONS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": pa.Codec("zstd").compress}


class TestCompressed:
    @pytest.mark.parametrize("suffix", COMPRESSIONS)
    @pytest.mark.parametrize("name", ["a.eml", "archive.mbox", "1795000001.M1P1.host:2,SZ"])
    def test_a_compressed_file_is_an_error(self, tmp_path, suffix, name):
        content = bytes(COMPRESSIONS[suffix](FROM + b"Subject: a\n\nbody\n"))
        path = write(tmp_path / "mails" / f"{name}.{suffix}", content)
        for kind in ("auto", "mail", "mbox"):
            with pytest.raises(InputError, match=r"is compressed\. Decompress it first\.") as caught:
                list(read_mails(path, kind=kind))
            assert caught.value.file == str(path)
            with open(path, "rb") as file, pytest.raises(InputError, match=r"^The file is compressed\. Decompress"):
                list(read_mails(file, kind=kind))

    def test_within_a_folder_it_is_an_empty_mail(self, tmp_path):
        write(tmp_path / "cur" / "1.host:2,S")
        write(tmp_path / "cur" / "2.host:2,SZ", gzip.compress(b"Subject: b\n\nbody\n"))
        (tmp_path / "new").mkdir()
        mails = load_mails({"ham": tmp_path})
        assert mails.texts == ["1.host:2,S\nbody", ""]
        assert mails.faulty.tolist() == [1]
        assert list(mails.faults) == [f"The file {mails.paths[1]!r} is compressed. Decompress it first."]

    def test_a_text_that_begins_like_one(self, tmp_path):
        assert [mail.text for mail in read_mails(write(tmp_path / "a.eml", b"BZh is short for bzip2."))] == [
            "BZh is short for bzip2."
        ]


class TestErrors:
    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("no/such", "There is no file or folder of mail at 'no/such'"),
            (["no/such"], "There is no file or folder"),
            ("a\0b", "There is no file or folder"),
            ([], "the list of paths is empty"),
            (5, "got int"),
            ([5], "one of them is int"),
            (b"bytes", "got bytes"),
            ([b"bytes"], "one of them is bytes"),
        ],
    )
    def test_sources(self, source, message):
        with pytest.raises(InputError, match=message):
            read_mails(source)

    def test_folder_without_mails(self, tmp_path):
        with pytest.raises(InputError, match=r"The folder '.*' holds no mail\."):
            list(read_mails(tmp_path))
        write(tmp_path / "a.txt")
        with pytest.raises(InputError, match=r"holds no mail that matches '\*\.eml'"):
            list(read_mails(tmp_path, pattern="*.eml"))

    @pytest.mark.parametrize(
        ("setting", "message"), [({"kind": "pst"}, "kind must be"), ({"pattern": 3}, "pattern must")]
    )
    def test_settings(self, setting, message, tmp_path):
        with pytest.raises(InputError, match=message):
            read_mails(tmp_path, **setting)


class TestLoading:
    def test_classes(self, tmp_path):
        write(tmp_path / "ham" / "a.eml")
        write(tmp_path / "ham" / "b.eml", b"Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: a/b\n\nx\n")
        write(tmp_path / "spam.mbox", FROM + b"Subject: \xff\xfe\n\n" + FROM + b"Subject: 2\n")
        mails = load_mails({"spam": tmp_path / "spam.mbox", "ham": [tmp_path / "ham"]})
        assert mails.labels.tolist() == ["spam", "spam", "ham", "ham"]
        assert mails.texts == ["ÿþ", "2", "a.eml\nbody", ""]
        assert mails.paths[:2] == [f"{tmp_path / 'spam.mbox'}#0", f"{tmp_path / 'spam.mbox'}#1"]
        assert mails.paths[3] == str(tmp_path / "ham" / "b.eml")
        assert mails.faulty.tolist() == [0, 3]
        assert mails.skipped == {"a/b": 1}
        assert sum(mails.faults.values()) == 2
        shown = "Mails(4 read: 2 ham, 2 spam; 1 without text; 2 with faults; 1 attachments skipped)"
        assert (repr(mails), len(mails)) == (shown, 4)

    def test_labels_that_are_numbers(self, tmp_path):
        mails = load_mails({0: write(tmp_path / "a.eml"), 1: write(tmp_path / "b.eml")}, headers=["subject"])
        assert mails.labels.dtype == np.int64
        assert "subject_a_eml" in mails.texts[0]

    @pytest.mark.parametrize(
        ("sources", "message"),
        [
            ("folder", "must be a dict"),
            ({}, "is empty"),
            ({"a": "/", 1: "/"}, "labels must have one type"),
            ({"a": "no/such"}, "There is no file or folder"),
            ({("a", 1): os.devnull, ("b", 2): os.devnull}, "Each label must be one value"),
        ],
    )
    def test_errors(self, sources, message):
        with pytest.raises(InputError, match=message):
            load_mails(sources)

    def test_class_without_mail(self, tmp_path):
        with pytest.raises(InputError, match="Class 'ham' has no mail"):
            load_mails({"spam": write(tmp_path / "a.eml"), "ham": write(tmp_path / "Inbox", b"")})


def test_a_mail_of_two_classes_is_an_error(tmp_path):
    """A Maildir includes its folders ``.Name``."""
    for name in ("cur", "new", "tmp", ".Junk/cur", ".Junk/new", ".Junk/tmp"):
        (tmp_path / "Maildir" / name).mkdir(parents=True)
    write(tmp_path / "Maildir" / "cur" / "1.host:2,S")
    write(tmp_path / "Maildir" / ".Junk" / "cur" / "2.host:2,S")
    with pytest.raises(InputError, match=r"belongs to two classes, 'ham' and 'spam'\. .* includes its subfolders"):
        load_mails({"ham": tmp_path / "Maildir", "spam": tmp_path / "Maildir" / ".Junk"})
    mails = load_mails({"ham": tmp_path / "Maildir" / "cur", "spam": tmp_path / "Maildir" / ".Junk"})
    assert mails.labels.tolist() == ["ham", "spam"]
    with pytest.raises(InputError, match="is given twice"):
        load_mails({"ham": [tmp_path / "Maildir" / "cur", tmp_path / "Maildir" / "cur"]})
