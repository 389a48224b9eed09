"""HTML to text: as in browsers, and as by html.parser for well-formed pages."""

import random
from html.parser import HTMLParser

import pytest

from suffice.text.mail.markup import BREAKING, html_charset, html_to_text


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", []),
        ("plain", ["plain"]),
        ("<p>one<p>two", ["one", "two"]),
        ("v<b>i</b>a<font color='red'>gr</font>a", ["viagra"]),
        ("via<!-- x -->gra", ["viagra"]),
        ("via<unknown-tag>gra", ["viagra"]),
        ("one<br>two<BR/>three<td>four", ["one", "two", "three", "four"]),
        ("a<script>var x = '<p>no</p>';</script>b", ["ab"]),
        ("a<STYLE type=x>p {}</style >b", ["ab"]),
        ("a<script>never ends", ["a"]),
        ("a<!-- never ends", ["a"]),
        ("a<!-->b<!--->c", ["abc"]),
        ("a<!-- x --!>b", ["ab"]),
        ("<scripture>read</scripture>", ["read"]),
        ("<!DOCTYPE html><?xml version='1'?>x", ["x"]),
        ("x</>y</ z>", ["xy"]),
        ("3 < 4 <5 a<b", ["3", "<", "4", "<5", "a"]),
        ("&lt;b&gt; &amp; &copy;&nbsp;&#65;&#x42;&eacute", ["<b>", "&", "©", "ABé"]),
        ("&#0000000000000065;&#x00000042;", ["AB"]),
        ("&#" + "9" * 5000 + "; &#x" + "f" * 5000 + "; &#xD800;", ["\ufffd"] * 3),
        ("<p title='a > b'>x", ["x"]),
        ("<p title=\"a > b\" class='c' id=d>x", ["x"]),
        ('<p style="a"" id="b">x', ["x"]),
        ('<p class=a"b>x</p>"', ["x", '"']),
        ('<p class="never closed>x y', ["x", "y"]),
        ("<p class='never closed>x y", ["x", "y"]),
        ("<p class=", []),
        ("x<", ["x<"]),
        ("x<a", ["x"]),
        ("<div style='display:none'>hidden</div>", ["hidden"]),
        ("<a href='http://www.shop.example/a?b#c'>go</a>", ["go", "html_link", "link_shop_example"]),
        ("<A HREF=HTTPS://User:pw@Shop.Example:8080/>go", ["go", "html_link", "link_shop_example"]),
        ("<a href='http://a@b@203.0.113.5/'>", ["html_link", "link_203_0_113_5"]),
        ("<a href='http://%73hop.example'>", ["html_link", "link_shop_example"]),
        ("<a href='http://&#115;hop.example'>", ["html_link", "link_shop_example"]),
        ("<a href='ht\ntp:\\\\shop.exa\nmple'>", ["html_link", "link_shop_example"]),
        ("<a href='//shop.example'>", ["html_link", "link_shop_example"]),
        ("<a href='mailto:bob@shop.example?subject=x'>", ["html_link", "link_shop_example"]),
        ("<a href='/relative'><a name=x><a href>", ["html_link", "html_link"]),
        ("<a href=''>x</a href='y'>", ["x", "html_link"]),
        ("<a href='http://'>", ["html_link"]),
        ("<img src='cid:1' alt='Buy &amp; sell'>x", ["Buy", "&", "sell", "x", "html_image"]),
        ("<img src=http://img.example/1.gif>", ["html_image", "image_img_example"]),
        ("<form action=http://f.example>", ["html_form", "form_f_example"]),
        ("<iframe src=//g.example>", ["html_frame", "frame_g_example"]),
    ],
)
def test_pages(page, words):
    assert html_to_text(page).split() == words


class Oracle(HTMLParser):
    """The text by Python's parser."""

    def __init__(self):
        super().__init__()
        self.text, self.inside = [], 0

    def handle_starttag(self, tag, attributes):
        self.inside += tag in ("script", "style")
        if BREAKING.fullmatch(tag):
            self.text.append("\n")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        self.inside -= tag in ("script", "style")
        if BREAKING.fullmatch(tag):
            self.text.append("\n")

    def handle_data(self, data):
        if not self.inside:
            self.text.append(data)


PIECES = [
    "<p>", "</p>", "<b class='x y'>", "</b>", '<td width="3" nowrap>', "<br/>", "<span>", "<!-- a <p> b -->", "word",
    " two ", "&amp;", "&lt;p&gt;", "é", "<script>if (a > b) {}</script>", "<style>p {}</style>", "<div id=a1>", "\n",
    "<!DOCTYPE html>", '<font title="a > b">', "<o:p>", "1 > 0",
]  # fmt: skip


def test_pages_in_order_as_python_reads_them():
    rng = random.Random(2)
    for _ in range(1000):
        page = "".join(rng.choices(PIECES, k=30))
        oracle = Oracle()
        oracle.feed(page)
        oracle.close()
        assert html_to_text(page) == "".join(oracle.text).strip()


def test_declared_charset():
    assert html_charset(b"<html><head><META content='text/html; charset=koi8-r'>") == "koi8-r"
    assert html_charset(b'<meta charset="utf-8">') == "utf-8"
    assert html_charset(b"<p>charset=none") is None
    assert html_charset(b" " * 5000 + b"<meta charset=x>") is None


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ('<img alt="two words" src=x>', ["two", "words"]),
        ("<img alt='one' src=x>", ["one"]),
        ("<img alt=bare src=x>", ["bare"]),
        ("<img alt='' src=x>", []),
        ("<img alt=\"a 'quoted' word\">", ["a", "'quoted'", "word"]),
    ],
)
def test_values_of_attributes(page, words):
    assert [word for word in html_to_text(page).split() if word != "html_image"] == words
