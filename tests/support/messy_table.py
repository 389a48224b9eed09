"""A messy table of 20,000 orders, as people have them: ``python tests/support/messy_table.py FILE [SEED]``.

The label is ``returned``: yes, no or, rarely, disputed. Some columns say something about it, some are traps. The file
is the same for the same seed, byte by byte.
"""

import random
import sys
from pathlib import Path

N_ROWS, N_BAD = 20_000, 6
COLUMNS = (
    *("", "order_id", "amount", "price", "discount", "weight_kg", "ordered", "shipped", "express", "gift", "insured"),
    *("age", "rating", "rating_copy", "channel", "country", "currency", "refund_code", "returned"),
)
MISSING = ("", "NA", "n/a", "null", "None", "NaN")


def rows(seed: int = 0, n: int = N_ROWS) -> list[list[str]]:
    """The cells of all rows, in the order of ``COLUMNS``."""
    rng = random.Random(seed)
    numbers = rng.sample(range(100_000, 999_999), n)
    return [_row(rng, i, numbers[i]) for i in range(n)]


def _row(rng: random.Random, i: int, number: int) -> list[str]:
    label = rng.choices(("no", "yes", "disputed"), (0.78, 0.209, 0.011))[0]
    back, disputed = label == "yes", label == "disputed"
    amount = rng.lognormvariate(4.5 + 0.9 * back + 1.4 * disputed, 1.0)
    day, month = rng.randint(1, 28), rng.randint(1, 12)
    rating = str(rng.choices(range(1, 6), (1, 1, 2, 4, 5) if label == "no" else (5, 4, 3, 2, 1))[0])
    age = "-999" if rng.random() < 0.04 else str(int(rng.gauss(44 - 6 * back, 12)) % 100)
    yes = rng.random
    return [
        str(i),  # the index that pandas writes without a name
        str(number),  # an identifier
        _or_missing(rng, f"{amount * 40:,.2f}", 0.02),  # thousands separators
        f"${amount:,.2f}",
        f"{rng.choice((0, 5, 10, 20)) + 5.0 * back:.1f}%",
        f"{rng.gammavariate(2, 1.2):.1f}".replace(".", ","),  # a decimal comma
        f"{month:02d}/{day:02d}/{rng.choice((2018, 2019))}",
        f"{rng.randint(13, 28)}.{month:02d}.2019",
        "Y" if yes() < 0.3 + 0.2 * back else "N",
        "yes" if yes() < 0.2 else "no",
        "true" if yes() < 0.5 + 0.4 * disputed else "false",
        age,  # a code for missing ages
        rating,
        rating,  # a copy
        _or_missing(rng, rng.choice(("web", "shop", "phone")), 0.05),
        _or_missing(rng, rng.choices(("de", "fr", "us"), (3, 2, 1 + 2 * back))[0], 0.03),
        "EUR",  # a constant
        {"no": "-1", "yes": "7", "disputed": "9"}[label],  # known only after the order was returned
        label,
    ]


def _or_missing(rng: random.Random, text: str, share: float) -> str:
    return rng.choice(MISSING) if rng.random() < share else text


def write(path: Path, seed: int = 0, n: int = N_ROWS) -> None:
    """Write the table as CSV, with comment lines at the start and a few rows that lack cells."""
    rng = random.Random(seed + 1)
    lines = [",".join(_quoted(cell) for cell in row) for row in rows(seed, n)]
    for at in sorted(rng.sample(range(n // 2, n), N_BAD)):  # after the rows from which types are inferred
        lines[at] = lines[at].rsplit(",", 3)[0]
    head = ["# orders of two years, exported by hand", "# amounts in EUR"]
    path.write_text("\n".join([*head, ",".join(COLUMNS), *lines]) + "\n", encoding="utf-8")


def _quoted(cell: str) -> str:
    return f'"{cell}"' if "," in cell else cell


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:]))
