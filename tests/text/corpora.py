"""Documents for comparing readers."""

import numpy as np

LETTERS = "abcdeABCDEéÉßſK İıσΣςßﬁ日本ᴬ²٣Ⅷ_-.'\u0301\u200d\ud800\U0001f600\U00010400\U0001d7d8 \t\n\x00\x1c\x85\u3000"
WORDS = [
    "the",
    "The",
    "cafe",
    "Café",
    "CAFÉ",
    "ΟΔΟΣ",
    "a",
    "i",
    "x1",
    "straße",
    "STRASSE",
    "日本語",
    "don't",
    "42",
    "so",
]


def random_texts(rng, n):
    """Texts with characters of all planes, difficult characters, and repeated words."""
    out = []
    for i in range(n):
        size = int(rng.integers(0, 25))
        if i % 3 == 0:
            points = rng.integers(0, 0x110000, size) if i % 2 else rng.integers(0, 0x3000, size)
            text = " ".join("".join(map(chr, points[j : j + 4])) for j in range(0, size, 4))
        elif i % 3 == 1:
            text = "".join(rng.choice(list(LETTERS), size))
        else:
            text = str(rng.choice([" ", ", ", "\n"])).join(rng.choice(WORDS, size))
        out.append(text)
    return out


def same_matrix(a, b):
    """Assert that two CSR matrices hold the same cells, stored in the same order."""
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    b.sort_indices()
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
        assert getattr(a, part).dtype.char == getattr(b, part).dtype.char


def told(settings):
    """A test id for settings that is the same in every process."""
    return ",".join(f"{name}={getattr(value, '__name__', value)}" for name, value in settings.items()) or "default"
