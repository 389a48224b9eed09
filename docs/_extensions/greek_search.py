r"""Search reads a Greek letter as its name, so that θ, theta and the \theta of a formula are one word."""

from __future__ import annotations

import json
import unicodedata

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

GREEK = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρστυφχψωϕςϑϵ"
LETTERS = {letter: unicodedata.name(letter).replace(" SYMBOL", "").split()[-1].lower() for letter in GREEK}
LETTERS |= dict.fromkeys("Λλ", "lambda") | {"ϵ": "epsilon"}  # Unicode says lamda, and lunate epsilon
NAMES = str.maketrans(LETTERS)


class English(SearchEnglish):
    """English with the names of Greek letters."""

    js_splitter_code = (
        f"const greek = {json.dumps(LETTERS)};\n"
        "var splitQuery = (query) => query.replace(/[\\u0391-\\u03f5]/gu, (letter) => greek[letter] ?? letter)"
        ".split(/[^\\p{Letter}\\p{Number}_\\p{Emoji_Presentation}]+/gu).filter((term) => term);"
    )

    def split(self, input: str) -> list[str]:  # noqa: A002 (the name is Sphinx's)
        """Words of a text."""
        return super().split(input.translate(NAMES))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the language."""
    app.add_search_language(English)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
