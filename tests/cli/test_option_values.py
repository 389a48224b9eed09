"""Options whose value cannot be parsed are refused before anything is read."""

import click
import pytest

from suffice.cli.reading import pairs
from suffice.cli.settings import _max_words

OPTION = click.Option(["--type"], metavar="COL=TYPE")


def context():
    return click.Context(click.Command("fit"))


@pytest.mark.parametrize("given", ["visits", "=text", ""])
def test_pairs_have_a_name_and_a_value(given):
    with pytest.raises(click.BadParameter, match="is not of the form COL=TYPE"):
        pairs(context(), OPTION, [given])


def test_a_name_may_contain_an_equals_sign():
    assert pairs(context(), OPTION, ["a=b=text", "c="]) == {"a=b": "text", "c": ""}


@pytest.mark.parametrize("given", ["0", "ten", "-1", "1.5", ""])
def test_numbers_of_words_are_at_least_one(given):
    with pytest.raises(click.BadParameter, match="neither a number of at least 1 nor auto or all"):
        _max_words(context(), OPTION, given)


@pytest.mark.parametrize(("given", "expected"), [("1", 1), ("50", 50), ("auto", "auto"), ("all", "all"), (None, None)])
def test_numbers_of_words(given, expected):
    assert _max_words(context(), OPTION, given) == expected
