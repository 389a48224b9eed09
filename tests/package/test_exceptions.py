"""An error is a sentence for a person, and holds the facts behind it for code."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import suffice
from suffice import (
    ClassError,
    EmptyColumnWarning,
    InputError,
    MergeError,
    ModelFileError,
    ModelFileMissingError,
    NaiveBayes,
    NotLinearError,
    SingularCovarianceError,
    SingularCovarianceWarning,
    SufficeError,
    SufficeWarning,
)
from suffice.exceptions import Argument, columns_at, listed, short

ERRORS = [
    ClassError,
    InputError,
    MergeError,
    ModelFileError,
    ModelFileMissingError,
    NotLinearError,
    SingularCovarianceError,
]
WARNINGS = [EmptyColumnWarning, SingularCovarianceWarning, SufficeWarning]
FACTS = ("rows", "column", "argument", "file", "line")
SKIP = Argument("bad_rows", "skip")


def facts(error):
    return {name: getattr(error, name) for name in FACTS}


def spelled(argument):
    return f"--{argument.name.replace('_', '-')}" + ("" if argument.value is ... else f" {argument.value}")


# ---------------------------------------------------------------------- kinds


@pytest.mark.parametrize("kind", ERRORS)
def test_every_error_is_a_suffice_error_and_a_value_error(kind):
    assert issubclass(kind, SufficeError)
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", WARNINGS)
def test_every_warning_is_a_user_warning_and_no_error(kind):
    assert issubclass(kind, SufficeWarning)
    assert issubclass(kind, UserWarning)
    assert not issubclass(kind, SufficeError)


def test_errors_are_also_what_python_and_numpy_call_them():
    assert issubclass(ModelFileMissingError, ModelFileError)
    assert issubclass(ModelFileMissingError, FileNotFoundError)
    assert issubclass(SingularCovarianceError, np.linalg.LinAlgError)


def test_every_error_and_warning_is_a_name_of_the_package():
    for kind in (SufficeError, *ERRORS, *WARNINGS):
        assert getattr(suffice, kind.__name__) is kind
        assert kind.__name__ in suffice.__all__


# ---------------------------------------------------------------------- sentences and facts


@pytest.mark.parametrize("kind", [*ERRORS, *WARNINGS])
def test_a_sentence_without_facts_has_none(kind):
    error = kind("Nothing is known.")
    assert str(error) == "Nothing is known."
    assert error.args == ("Nothing is known.",)
    assert facts(error) == dict.fromkeys(FACTS)


@pytest.mark.parametrize("kind", [*ERRORS, *WARNINGS])
def test_facts_are_attributes(kind):
    given = {"rows": [3, 8], "column": ("x", 1), "argument": "prior", "file": "data.csv", "line": 5}
    error = kind("Row 3 is wrong.", **given)
    assert str(error) == "Row 3 is wrong."
    assert facts(error) == given


def test_pieces_of_a_sentence_are_joined_without_separators():
    error = InputError("Skip such rows with ", SKIP, ", or name ", Argument("columns"), ".")
    assert str(error) == "Skip such rows with bad_rows='skip', or name columns."


def test_an_argument_may_have_none_as_its_value():
    assert str(Argument("covariance", None)) == "covariance=None"
    assert str(Argument("smoothing", 0.5)) == "smoothing=0.5"


def test_arguments_are_worded_by_the_caller():
    error = InputError("Skip such rows with ", SKIP, ", or name ", Argument("columns"), ".")
    assert error.worded(spelled) == "Skip such rows with --bad-rows skip, or name --columns."
    assert error.worded(str) == str(error)
    assert InputError("A plain sentence.").worded(spelled) == "A plain sentence."


# ---------------------------------------------------------------------- rows


@pytest.mark.parametrize("kind", [*ERRORS, *WARNINGS])
def test_an_error_in_a_row_names_the_first_and_holds_all(kind):
    error = kind.in_row("holds infinity.", rows=np.array([3, 8, 9]), column="x")
    assert type(error) is kind
    assert str(error) == "Column 'x', row 3 holds infinity."
    assert list(error.rows) == [3, 8, 9]
    assert error.column == "x"


def test_an_error_in_a_row_without_a_column_names_the_row():
    error = InputError.in_row("is impossible. Set ", Argument("smoothing"), " above 0.", rows=[4])
    assert str(error) == "Row 4 is impossible. Set smoothing above 0."
    assert error.column is None
    assert error.worded(spelled) == "Row 4 is impossible. Set --smoothing above 0."


def test_a_column_may_be_named_by_a_number():
    error = InputError.in_row("holds infinity.", rows=[4], column=0)
    assert str(error) == "Column 0, row 4 holds infinity."
    assert str(error.located("data.csv, line 6")) == "data.csv, line 6, column 0 holds infinity."


def test_a_problem_that_starts_with_a_colon_follows_its_place_at_once():
    error = InputError.in_row(": no class.", rows=[2])
    assert str(error) == "Row 2: no class."
    assert str(error.located("mail.eml")) == "mail.eml: no class."


# ---------------------------------------------------------------------- places in files


def test_a_located_error_names_its_place_in_the_file_and_keeps_its_facts():
    error = ClassError.in_row("has no label. Skip it with ", SKIP, ".", rows=[3, 8], column="x")
    found = error.located("data.csv, line 5", file="data.csv", line=5)
    assert type(found) is ClassError
    assert str(found) == "data.csv, line 5, column 'x' has no label. Skip it with bad_rows='skip'."
    assert found.worded(spelled) == "data.csv, line 5, column 'x' has no label. Skip it with --bad-rows skip."
    assert facts(found) == {"rows": [3, 8], "column": "x", "argument": None, "file": "data.csv", "line": 5}


def test_locating_an_error_leaves_it_as_it_was():
    error = InputError.in_row("holds infinity.", rows=[3], column="x")
    error.located("data.csv, line 5", file="data.csv", line=5)
    assert str(error) == "Column 'x', row 3 holds infinity."
    assert (error.file, error.line) == (None, None)


def test_an_error_that_names_no_row_is_preceded_by_its_place():
    error = InputError("All cells are empty. Set ", Argument("columns"), ".", rows=[3], argument="columns")
    found = error.located("data.csv, line 5", file="data.csv")
    assert str(found) == "data.csv, line 5: All cells are empty. Set columns."
    assert facts(found) == {"rows": [3], "column": None, "argument": "columns", "file": "data.csv", "line": None}


# ---------------------------------------------------------------------- errors that travel


@pytest.mark.parametrize("travelled", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", [*ERRORS, *WARNINGS])
def test_an_error_keeps_its_facts_on_its_way_to_another_process(kind, travelled):
    error = kind("Skip row 3 with ", SKIP, ".", rows=[3, 8], column="x", argument="bad_rows", file="a.csv", line=5)
    found = travelled(error)
    assert type(found) is kind
    assert str(found) == str(error) == "Skip row 3 with bad_rows='skip'."
    assert facts(found) == facts(error)
    assert found.worded(spelled) == "Skip row 3 with --bad-rows skip."


@pytest.mark.parametrize("kind", [*ERRORS, *WARNINGS])
def test_an_error_in_a_row_can_be_located_after_pickling(kind):
    error = pickle.loads(pickle.dumps(kind.in_row("holds infinity.", rows=[3, 8], column="x")))
    assert str(error) == "Column 'x', row 3 holds infinity."
    found = pickle.loads(pickle.dumps(error.located("data.csv, line 5", file="data.csv", line=5)))
    assert str(found) == "data.csv, line 5, column 'x' holds infinity."
    assert (list(found.rows), found.column, found.file, found.line) == ([3, 8], "x", "data.csv", 5)


def test_a_warning_warns_with_its_facts_at_the_line_of_the_caller():
    with pytest.warns(EmptyColumnWarning) as caught:
        NaiveBayes().fit([[1.0, np.nan], [2.0, np.nan], [5.0, np.nan]], ["a", "a", "b"])
    assert [each.filename for each in caught] == [__file__]


def test_a_warning_may_become_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", SufficeWarning)
        with pytest.raises(EmptyColumnWarning):
            NaiveBayes().fit([[1.0, np.nan], [2.0, np.nan], [5.0, np.nan]], ["a", "a", "b"])


# ---------------------------------------------------------------------- names in messages


def test_names_in_messages_are_short():
    assert short("a" * 98) == repr("a" * 98)
    assert short("a" * 99) == "'" + "a" * 96 + "..."
    assert listed(["x" * 1000, 1]) == f"{short('x' * 1000)}, 1"
    assert listed([1, 2, 3], limit=3) == "1, 2, 3"
    assert listed(range(9)) == "0, 1, 2, 3, 4, 5, 6, 7 and 1 more"


def test_columns_are_named_by_their_positions():
    assert columns_at(["age", "size", "kind"], np.array([2])) == "column 'kind'"
    assert columns_at(["age", "size", "kind"], [0, 2]) == "columns 'age', 'kind'"
