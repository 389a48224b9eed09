"""The messy table of docs/messy_tables.md: it is reproducible, and each trap in it has its note."""

import csv

import messy_table
from cli.made import run


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        messy_table.write(tmp_path / name, seed, n=300)
    one, same, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert one == same != other
    lines = one.decode().splitlines()
    assert lines[0].startswith("#")
    widths = [len(row) for row in csv.reader(lines[2:])]
    assert widths.count(len(messy_table.COLUMNS)) == 301 - messy_table.N_BAD


def test_each_trap_has_a_note(tmp_path):
    columns = ("order_id", "age", "rating", "rating_copy", "channel", "currency", "refund_code", "returned")
    at = [messy_table.COLUMNS.index(name) for name in columns]
    with open(tmp_path / "orders.csv", "w", newline="") as file:
        csv.writer(file).writerows([columns, *([row[j] for j in at] for row in messy_table.rows(0, n=3000))])
    notes = run("fit", tmp_path / "orders.csv", "-t", "returned", "--model", "naive-bayes").stderr.splitlines()
    starts = [
        "Class 'disputed' has 1.2 % of the rows",
        "Column 'currency' holds a single value",
        "Column 'order_id' has a different whole number in every row",
        "Column 'age' holds -999 in ",
        "Column 'rating_copy' repeats 'rating'",
        "Column 'refund_code' predicts the target perfectly alone",
    ]
    assert len(notes) == len(starts)
    for note, start in zip(notes, starts, strict=True):
        assert note.startswith(f"suffice: note: {start}")
