"""Conversion of HTML to text as a reader sees it, with the hosts of links and images as tokens.

The scanner never goes back: it reads each character a bounded number of times, whatever the page contains.
"""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

__all__ = ["html_charset", "html_to_text"]

TAG_START = re.compile(r"<(?:(/?)([a-zA-Z][^\s/>]*+)|(!--)|([!?/]))")
# A well-formed tag, in one step. Other tags are read by _Scanner.attributes.
GOOD_TAG = re.compile(
    r"""((?:[\s/]++[^\s/>="'<]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'<>=`]++))?+)*+)[\s/]*+>""",
)
ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+""")
ATTRIBUTE_NAME = re.compile(r"[\s/]*+([^\s/>][^\s/>=]*+)?(\s*+=\s*+)?")
UNQUOTED = re.compile(r"[^\s>]*")
COMMENT_END = re.compile(r"--!?>")
END_OF = {name: re.compile(rf"</{name}(?=[\s/>]|$)", re.IGNORECASE) for name in ("script", "style")}

# Elements that start a new line or cell. All others, including unknown ones, do not break words, as in browsers.
BREAKING = re.compile(
    "address|article|aside|blockquote|body|br|button|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|img|input|legend|li|link|"
    "main|map|menu|meta|nav|noframes|noscript|object|ol|optgroup|option|p|pre|section|select|summary|table|tbody|td|"
    "textarea|tfoot|th|thead|title|tr|ul"
)
LINKS = {
    "a": ("href", "link"),
    "area": ("href", "link"),
    "form": ("action", "form"),
    "frame": ("src", "frame"),
    "iframe": ("src", "frame"),
    "img": ("src", "image"),
}
HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*+:)?[/\\]{2,}(?:[^/?#\\]*@)?([^/?#:\\]+)")
MAILTO = re.compile(r"mailto:[^@?]*@([^?,;>\s]+)")
WORD = re.compile(r"\w+")
CONTROL = re.compile(r"[\t\r\n]+")
LEADING_ZEROS = re.compile(r"&#([xX]?)0+(?=[0-9a-fA-F])")
TOO_LARGE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")
META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?([\w.:-]{1,64})", re.IGNORECASE)


def html_to_text(page: str) -> str:
    """The text of a page, followed by tokens for each link and image.

    Scripts, styles and comments are removed. Hidden text is kept, since the sender wrote it. Elements such as ``p`` and
    ``td`` end a word, ``b`` and ``font`` do not. A link adds ``html_link`` and a token for its host; images, forms and
    frames do the same.

    >>> print(html_to_text('<p>V<b>iag</b>ra &amp; <a href="http://www.pills.example/x?y=1">more</a><p>now'))
    Viagra & more
    now
    html_link link_pills_example
    >>> html_to_text('<img src=cid:1 alt="Buy"><style>p {}</style>').split()
    ['Buy', 'html_image']
    """
    return _Scanner(page).run()


def html_charset(page: bytes) -> str | None:
    """The charset that a page declares near its beginning.

    >>> html_charset(b'<html><meta http-equiv="Content-Type" content="text/html; charset=koi8-r">')
    'koi8-r'
    """
    declared = META_CHARSET.search(page, 0, 4096)
    return declared[1].decode("ascii", "replace") if declared else None


class _Scanner:
    """One pass over a page."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.text: list[str] = []
        self.tokens: list[str] = []
        # Quotes that have no further match on the page, so that the search for one is not repeated.
        self.unclosed: set[str] = set()

    def run(self) -> str:
        page, at = self.page, 0
        while (start := page.find("<", at)) >= 0:
            if start > at:
                self.text.append(_unescaped(page[at:start]))
            tag = TAG_START.match(page, start)
            if tag is None:
                self.text.append("<")
                at = start + 1
            elif tag[2]:
                at = self.element(tag[2].lower(), closing=bool(tag[1]), at=tag.end())
            elif tag[3]:
                at = self.comment(tag.end())
            else:  # a declaration, or an invalid end tag
                at = page.find(">", start) + 1 or len(page)
        self.text.append(_unescaped(page[at:]))
        return "\n".join(filter(None, ("".join(self.text).strip(), " ".join(self.tokens))))

    def comment(self, at: int) -> int:
        """The end of a comment that starts at ``at``; ``<!-->`` is a complete comment."""
        for short in (">", "->"):
            if self.page.startswith(short, at):
                return at + len(short)
        end = COMMENT_END.search(self.page, at)
        return end.end() if end else len(self.page)

    def element(self, name: str, *, closing: bool, at: int) -> int:
        """Read a start or end tag whose name ends at ``at``; return the position after it and its script or style."""
        if BREAKING.fullmatch(name):
            self.text.append("\n")
        good = GOOD_TAG.match(self.page, at)
        if good:
            at = good.end()
            if name in LINKS and not closing:
                self.link(name, _attributes(good[1]))
        else:
            attributes, at = self.attributes(at)
            if name in LINKS and not closing:
                self.link(name, attributes)
        if name in END_OF and not closing:
            end = END_OF[name].search(self.page, at)
            return end.start() if end else len(self.page)
        return at

    def attributes(self, at: int) -> tuple[dict[str, str], int]:
        """Read attributes as a browser does; return them and the position after the tag."""
        page = self.page
        attributes: dict[str, str] = {}
        while at < len(page):
            name = ATTRIBUTE_NAME.match(page, at)
            if name is None or name[1] is None:
                end = at if name is None else name.end()
                return attributes, min(end + 1, len(page))
            at = name.end()
            value = ""
            if name[2]:
                value, at = self.value(at)
            attributes.setdefault(name[1].lower(), value)
        return attributes, at

    def value(self, at: int) -> tuple[str, int]:
        """Read an attribute value that starts at ``at``; return it and the position after it."""
        quote = self.page[at : at + 1]
        if quote in ('"', "'") and quote not in self.unclosed:
            end = self.page.find(quote, at + 1)
            if end >= 0:
                return self.page[at + 1 : end], end + 1
            self.unclosed.add(quote)
        end = UNQUOTED.match(self.page, at).end()  # type: ignore[union-attr]  # it matches the empty string
        return self.page[at:end].strip("\"'"), end

    def link(self, element: str, attributes: dict[str, str]) -> None:
        """Add tokens for the target of a link or image, and the alternative text of an image."""
        if element == "img" and "alt" in attributes:
            self.text.append(f"{_unescaped(attributes['alt'])}\n")
        key, kind = LINKS[element]
        if key not in attributes:
            return
        self.tokens.append(f"html_{kind}")
        # Browsers ignore line breaks and accept either slash.
        address = CONTROL.sub("", _unescaped(attributes[key][:2000]).strip()).lower()
        host = HOST.match(address) or MAILTO.match(address)
        if host and (words := WORD.findall(unquote(host[1][:200]).lower().removeprefix("www."))):
            self.tokens.append("_".join([kind, *words]))


def _attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, double, single, bare in ATTRIBUTE.findall(text):
        attributes.setdefault(name.lower(), double or single or bare)
    return attributes


def _unescaped(text: str) -> str:
    """Resolve the character references of a text.

    Leading zeros and numbers too large for a character are removed first, since :func:`html.unescape` raises an error
    for numbers with thousands of digits.
    """
    if "&" not in text:
        return text
    if "&#" in text:
        text = TOO_LARGE.sub("\ufffd", LEADING_ZEROS.sub(r"&#\1", text))
    return html.unescape(text)
