"""A target that cannot be a class: what the command says about it."""

import numpy as np
import pytest

from cli.made import ran, refused, run

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _rows(folder):
    lines = [
        f"{x:.3f},{price:.2f},{whole},{rating},k"
        for x, price, whole, rating in zip(
            RNG.normal(size=600), RNG.random(600), RNG.integers(0, 300, 600), RNG.choice([0.5, 1.5], 600), strict=True
        )
    ]
    (folder / "targets.csv").write_text("x,price,whole,rating,one\n" + "\n".join(lines) + "\n")


def test_a_quantity_is_no_target_even_if_bad_rows_are_skipped():
    for more in ((), ("--bad-rows", "skip")):
        said = refused("fit", "targets.csv", "-t", "price", "--model", "naive-bayes", *more)
        assert "Column 'price' holds numbers such as " in said
        assert (
            "looks like a quantity, not a class. Choose another target, cut its values into classes, or read each"
            in said
        )
        assert said.endswith("with --type price=text.\nSee docs/messy_tables.md.\n")


def test_a_few_fractions_are_bad_rows(folder):
    (folder / "few.csv").write_text("x,y\n" + "1,0\n2,1\n3,1\n4,0\n5,0.5\n")
    assert "few.csv, line 6, column 'y' holds 0.5, which is not a whole number" in refused(
        "fit", "few.csv", "-t", "y", "--model", "naive-bayes"
    )
    assert "1 skipped" in ran("fit", "few.csv", "-t", "y", "--model", "naive-bayes", "--bad-rows", "skip", "-q")


def test_ratings_are_classes_as_text():
    assert "1.5" in ran(
        "fit", "targets.csv", "-t", "rating", "--model", "naive-bayes", "--type", "rating=text", "--columns", "x", "-q"
    )


def test_many_whole_numbers_have_a_note():
    said = run("fit", "targets.csv", "-t", "whole", "--model", "naive-bayes", "--columns", "x").stderr
    assert "note: The target has " in said
    assert "it looks like a quantity. Each number is a class of its own; cut the values into classes." in said


def test_one_class():
    said = refused("fit", "targets.csv", "-t", "one", "--model", "naive-bayes")
    assert "Column 'one' holds 'k' in all 600 rows; expected at least two classes." in said
