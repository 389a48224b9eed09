"""One message: the text, the skipped parts, and the faults."""

import base64
import io
import random

import pytest
from sklearn.feature_extraction.text import CountVectorizer

from suffice import InputError
from suffice.text.mail import Skipped, read_mail

MULTIPART = b"Subject: s\nContent-Type: multipart/%s; boundary=B\n\n"


def mail_of(kind, *parts, close=True):
    body = b"".join(b"--B\n" + part + b"\n" for part in parts)
    return MULTIPART % kind + body + (b"--B--\n" if close else b"")


def typed(kind, text):
    return b"Content-Type: " + kind + b"\n\n" + text


def test_subject_and_text():
    mail = read_mail(b"Subject: hello\n world\n\nbody\n")
    assert (mail.text, mail.subject, mail.faults, mail.skipped) == ("hello world\nbody", "hello world", (), ())


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n\n", b"\r", b"Subject:"])
def test_mails_that_say_nothing(data):
    assert read_mail(data).text == ""


@pytest.mark.parametrize(
    "text",
    ["just a text", "Note: buy milk\nand bread", "Dear Bob: hello\n\nbye", "\nSubject: after a blank line", "{}"],
)
def test_what_is_no_mail_is_its_own_text(text):
    mail = read_mail(text.encode())
    assert mail.text == text.strip()
    assert mail.faults == ()


def test_header_without_a_blank_line():
    mail = read_mail(b"Subject: s\nthis is the body\n")
    assert mail.text == "s\nthis is the body"
    assert mail.faults == ("its header ends without a blank line",)


def test_line_ends_of_old_macs_and_a_byte_order_mark():
    assert read_mail(b"Subject: s\r\rbody").text == "s\nbody"
    assert read_mail(b"\xef\xbb\xbfSubject: s\n\nbody").text == "s\nbody"


class TestCharsets:
    def read(self, data, charset):
        mail = read_mail(b"Content-Type: text/plain; charset=" + charset + b"\n\n" + data)
        return mail.text, mail.faults

    def test_right(self):
        for charset in ("utf-8", "koi8-r", "windows-1251", "utf-7", "utf-16", "iso-2022-jp", "cp866"):
            text = "会議" if charset == "iso-2022-jp" else "Привет"
            assert self.read(text.encode(charset), charset.encode()) == (text, ())

    def test_larger_charset_of_the_name(self):
        assert self.read(b"\x93quoted\x94", b"iso-8859-1") == ("“quoted”", ())
        assert self.read("镕".encode("gbk"), b"gb2312") == ("镕", ())

    @pytest.mark.parametrize("name", [b"no-such", b"DEFAULT", b'"a b"', b"x" * 500, b"zlib", b"rot13", b"idna", b"hex"])
    def test_unknown(self, name):
        text, faults = self.read("naïve".encode(), name)
        assert text == "naïve"
        assert "is unknown" in faults[0]
        assert len(faults[0]) < 100
        assert self.read("naïve".encode("latin-1"), name)[0] == "naïve"

    def test_undeclared(self):
        assert read_mail(b"Subject: s\n\n" + "naïve".encode()).text == "s\nnaïve"
        assert read_mail(b"Subject: s\n\n" + "naïve".encode("cp1252")).text == "s\nnaïve"
        assert read_mail(b"Subject: na\xefve\n\n").subject == "naïve"

    def test_lies(self):
        assert self.read("naïve".encode("latin-1"), b"utf-8")[0] == "naïve"
        assert self.read("naïve".encode(), b"us-ascii") == ("naïve", ())
        text, faults = self.read(b"plain text", b"utf-16")
        assert text == "plain text"
        assert faults == ("a text is declared as utf-16 but is not",)
        assert self.read(b"\x81\x8d\x90", b"utf-8")[0] == "\x81\x8d\x90"

    def test_a_text_that_was_cut_within_a_letter_keeps_the_others(self):
        text, faults = self.read("Привет, это письмо".encode()[:-1], b"utf-8")
        assert text == "Привет, это письм\ufffd"
        assert len(faults) == 1

    def test_no_lone_surrogates(self):
        assert self.read(b"a+2AA-b", b"utf-7")[0] == "a\ufffdb"

    def test_invisible_characters_do_not_cut_words(self):
        assert self.read("via\u00adgra vi\u200bagra".encode(), b"utf-8")[0] == "viagra viagra"


class TestTransfer:
    def read(self, data, encoding, kind=b"text/plain"):
        header = b"Content-Type: " + kind + b"\nContent-Transfer-Encoding: " + encoding
        mail = read_mail(header + b"\n\n" + data)
        return mail.text, mail.faults

    def test_in_order(self):
        assert self.read(base64.encodebytes(b"hello " * 50), b"BASE64") == (("hello " * 50).strip(), ())
        assert self.read(b"sp=\n=61m =3D", b"Quoted-Printable") == ("spam =", ())
        assert self.read(b"as it is", b"8bit") == ("as it is", ())
        assert self.read(b"begin 644 a\n$<W!A;0``\n`\nend\n", b"x-uuencode") == ("spam", ())

    def test_damaged_base64(self):
        whole = base64.encodebytes(b"hello " * 50)
        text, faults = self.read(whole[:100] + b"!" + whole[100:], b"base64")
        assert text == ("hello " * 50).strip()
        assert faults == ("its base64 is damaged; the valid part is read",)
        assert self.read(whole[:101], b"base64")[0].startswith("hello hello")

    def test_clear_text_behind_base64(self):
        text, faults = self.read(base64.encodebytes(b"hello") + b"\n-- \nA list, for all.\n", b"base64")
        assert text == "hello\n-- \nA list, for all."
        assert faults == ("base64 is followed by clear text; both are read",)

    def test_unknown(self):
        text, faults = self.read(b"body", b"x-rot13")
        assert text == "body"
        assert faults == ("the transfer encoding 'x-rot13' is unknown; the part is read unchanged",)
        assert self.read(b"Ym9keQ==", b"base64; (comment)") == ("body", ())

    def test_damaged_uuencode(self):
        assert self.read(b"no begin", b"x-uuencode")[1] == ("its uuencoded part has no begin line; it is ignored",)
        assert self.read(b"begin 644 a\nM(\n$<W!A;0``\nend", b"uuencode")[0].endswith("spam")

    def test_uuencoded_file_within_a_text(self):
        mail = read_mail(b"Subject: s\n\nSee.\nbegin 644 a.exe\n$<W!A;0``\n`\nend\nBye.\nbegin 644 is no file\n")
        assert mail.text == "s\nSee.\nBye.\nbegin 644 is no file"
        assert mail.skipped == (Skipped("application/x-uuencode", 10, "a.exe"),)


class TestParts:
    def test_mixed(self):
        mail = read_mail(mail_of(b"mixed", typed(b"text/plain", b"one"), typed(b"text/html", b"<b>t</b>wo")))
        assert (mail.text, mail.faults) == ("s\none\ntwo", ())

    def test_attachments_are_skipped_and_counted(self):
        file = (
            b"Content-Type: application/pdf\nContent-Disposition: attachment; filename==?utf-8?q?=C3=A9?=.pdf\n\nxxxxx"
        )
        note = b"Content-Disposition: attachment; filename=note.txt\n\nattached"
        data = mail_of(b"mixed", typed(b"text/plain", b"one"), typed(b"image/png", b"123"), file, note)
        mail = read_mail(data)
        assert mail.text == "s\none"
        assert mail.skipped == (
            Skipped("image/png", 3),
            Skipped("application/pdf", 5, "é.pdf"),
            Skipped("text/plain", 8, "note.txt"),
        )
        assert read_mail(data, max_attachment_bytes=7).text == "s\none"
        assert read_mail(data, max_attachment_bytes=8).text == "s\none\nattached"

    def test_text_that_is_no_prose_is_skipped(self):
        mail = read_mail(mail_of(b"mixed", typed(b"text/calendar", b"BEGIN:VCALENDAR"), typed(b"text/weird", b"read")))
        assert (mail.text, len(mail.skipped)) == ("s\nread", 1)

    def test_mail_of_another_type(self):
        mail = read_mail(b"Subject: s\nContent-Type: image/gif\n\nGIF89a")
        assert (mail.text, mail.skipped) == ("s", (Skipped("image/gif", 6),))

    @pytest.mark.parametrize(
        ("alternatives", "text"),
        [("shown", "s\nthree four"), ("plain", "s\none two"), ("all", "s\none two\nthree four")],
    )
    def test_alternatives(self, alternatives, text):
        data = mail_of(b"alternative", typed(b"text/plain", b"one two"), typed(b"text/html", b"<p>three four"))
        assert read_mail(data, alternatives=alternatives).text == text

    def test_alternative_that_is_much_shorter_is_not_alone(self):
        data = mail_of(b"alternative", typed(b"text/plain", b"one two three"), typed(b"text/html", b"<p>four"))
        assert read_mail(data).text == read_mail(data, alternatives="all").text == "s\none two three\nfour"
        data = mail_of(b"alternative", typed(b"text/plain", b"one"), typed(b"text/html", b"<p></p>"))
        assert read_mail(data).text == "s\none"
        data = mail_of(b"alternative", typed(b"text/plain", b" "), typed(b"text/html", b"<p>one</p>"))
        assert read_mail(data, alternatives="plain").text == "s\none"

    def test_mail_within_a_mail(self):
        inner = typed(b"message/rfc822", b"Subject: =?utf-8?q?inner?=\n\ntext")
        assert read_mail(mail_of(b"mixed", inner)).text == "s\ninner\ntext"
        assert read_mail(mail_of(b"digest", b"\nSubject: inner\n\ntext")).text == "s\ninner\ntext"

    def test_multipart_that_is_not_closed(self):
        mail = read_mail(mail_of(b"mixed", typed(b"text/plain", b"one"), close=False))
        assert (mail.text, mail.faults) == ("s\none", ("a multipart is not closed; it is read to the end",))

    def test_boundary_that_is_not_named(self):
        for header in (b"Content-Type: multipart/mixed", b"Content-Type: multipart/mixed; boundary=other"):
            mail = read_mail(header + b"\n\npreamble\n--x y\nContent-Type: text/plain\n\none\n--x y--\n")
            assert mail.text == "one"
            assert len(mail.faults) == 1

    def test_multipart_without_parts(self):
        mail = read_mail(MULTIPART % b"mixed" + b"only text")
        assert mail.text == "s\nonly text"
        assert mail.faults == ("a multipart has no boundaries; it is read as text",)

    def test_parts_of_the_same_boundary(self):
        inner = b"Content-Type: multipart/mixed; boundary=B\n\n--B\n\ninner\n--B--"
        assert "inner" in read_mail(mail_of(b"mixed", inner)).text

    def test_content_type_that_is_none(self):
        mail = read_mail(b"Content-Type: html\n\nbody")
        assert (mail.text, mail.faults) == ("body", ("the content type 'html' is invalid; the part is read as text",))


class TestBounds:
    def test_message(self):
        mail = read_mail(b"Subject: s\n\n" + b"x" * 100, max_bytes=20)
        assert mail.text == "s\nxxxxxxxx"
        assert mail.faults == ("the message is longer than 20 bytes; the rest is ignored",)
        assert read_mail(b"Subject: s\n\nx", max_bytes=13).faults == ()

    def test_text(self):
        mail = read_mail(b"Subject: s\n\n" + b"x" * 100, max_text_bytes=3)
        assert (mail.text, len(mail.faults)) == ("s\nxxx", 1)

    def test_depth(self):
        nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(5000))
        deepest = "parts are nested more than 20 deep; deeper parts are ignored"
        assert deepest in read_mail(nested + b"\n\ntext").faults
        assert deepest in read_mail(b"Content-Type: message/rfc822\n\n" * 5000).faults

    def test_parts(self):
        mail = read_mail(mail_of(b"mixed", *[typed(b"text/plain", b"x")] * 5000))
        assert mail.text.count("x") == 999
        assert mail.faults == ("there are more than 1,000 parts; the rest is ignored",)

    def test_header(self):
        mail = read_mail(b"Subject: s\nX: " + b"x" * 1_000_000 + b"\nSubject: t\n\nbody", headers=["x"])
        assert mail.subject == "s"
        assert mail.text.startswith("s\nbody")
        assert len(mail.text) < 300_000
        assert len(mail.faults) == 1


class TestHeaderTokens:
    def test_default_and_chosen(self):
        data = b"From: Bob <bob@mail.example.com>\nTo: me@here.example\nSubject: =?utf-8?q?na=C3=AFve?=\n\nbody"
        mail = read_mail(data, headers=True)
        assert mail.headers == ("from_bob", "from_bob", "from_mail_example_com", "subject_naïve")
        assert mail.text == "naïve\nbody\nfrom_bob from_bob from_mail_example_com subject_naïve"
        assert read_mail(data, headers=["To:", "x-none"]).headers == ("to_me", "to_here_example")
        assert read_mail(data).headers == ()

    def test_boundaries_are_left_out(self):
        data = b'Content-Type: multipart/mixed; boundary="zzz"; charset=us-ascii\n\n--zzz--'
        want = ("content_type_multipart", "content_type_mixed", "content_type_charset", "content_type_us_ascii")
        assert read_mail(data, headers=["content-type"]).headers == want

    def test_a_tokeniser_takes_each_as_one_word(self):
        analyze = CountVectorizer().build_analyzer()
        rng = random.Random(0)
        for _ in range(2000):
            value = "".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(160, 0xD800)])) for _ in range(20))
            mail = read_mail(f"X-Any: {value}\nFrom: a".encode(), headers=["x-any"])
            assert analyze(" ".join(mail.headers)) == list(mail.headers)
        assert read_mail("X-Any: İstanbul".encode() + b"\nTo: a", headers=["x-any"]).headers


class TestSources:
    def test_bytes_paths_and_files(self, tmp_path):
        data = b"Subject: s\n\nbody"
        path = tmp_path / "a.eml"
        path.write_bytes(data)
        assert read_mail(path).path == str(path)
        with open(path, "rb") as file:
            from_file = read_mail(file)
        read = [read_mail(bytearray(data)), read_mail(memoryview(data)), read_mail(io.BytesIO(data)), from_file]
        assert all(mail == read_mail(data) for mail in read)
        assert read_mail(str(path)).text == "s\nbody"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("no/such/file.eml", "Cannot read mail from 'no/such/file.eml': No such file"),
            ("Subject: s\n\nbody", "read a message from a string"),
            ("a\0b", "Cannot read mail"),
            (".", "directory"),
            (io.StringIO("Subject: s"), "opened in binary mode"),
            (17, "got int"),
            (None, "got NoneType"),
        ],
    )
    def test_invalid_sources(self, source, message):
        with pytest.raises(InputError, match=message):
            read_mail(source)

    @pytest.mark.parametrize(
        ("setting", "message"),
        [
            ({"headers": "from"}, "list of names"),
            ({"headers": 3}, "list of names"),
            ({"headers": [3]}, "must name header fields"),
            ({"alternatives": "html"}, "alternatives must be one of"),
            ({"max_bytes": 0}, "max_bytes must be a whole number"),
            ({"max_bytes": 1.5}, "max_bytes must be a whole number"),
            ({"max_text_bytes": True}, "max_text_bytes must be"),
            ({"max_attachment_bytes": -1}, "0 or more"),
        ],
    )
    def test_invalid_settings(self, setting, message):
        with pytest.raises(InputError, match=message):
            read_mail(b"", **setting)
