"""How numbers, dates and yes/no values of a CSV are written: recognised in the first rows, or set by the user."""

import datetime
import io

import pytest

from file_formats import rows_of
from suffice.exceptions import InputError
from suffice.sources.files import CellFormat, open_source


def column(cells, delimiter=",", others=(), **options):
    """A source of a column of cells, with other columns beside it."""
    names = ["c", *(f"other_{j}" for j in range(len(others)))]
    rows = [names, *zip(cells, *(values * len(cells) for values in others), strict=False)]
    text = "".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    return open_source(io.BytesIO(text.encode()), delimiter=delimiter, **options)


def read(cells, **options):
    return [row["c"] for row in rows_of(column(cells, **options), ["c"])]


# ---------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("cells", "numbers", "note"),
    [
        (["1,234.50", "7", "-1,000,000"], [1234.5, 7, -1e6], "with thousands separators ','"),
        (["$692.18", "-$1,000", "$-5"], [692.18, -1000, -5], "with thousands separators ',' and the unit '$'"),
        (["5.0%", "12 %"], [5, 12], "with the unit '%'"),
        (["156,4", "3", "-0,25"], [156.4, 3, -0.25], "with the decimal separator ','"),
        (["1.234,5", "1.234.567"], [1234.5, 1234567], "with the decimal separator ',' and thousands separators '.'"),
        (["1 234,5 €", "12,5 €"], [1234.5, 12.5], "with the decimal separator ',', thousands separators ' ' and the"),
        (["1\u202f234", "999"], [1234, 999], "with thousands separators ' '"),
        (["1'234.5", "2’000"], [1234.5, 2000], 'with thousands separators "\'"'),
        (["1,234", "56"], [1234, 56], "because three digits follow every comma: 1,234 is 1234"),
        (["0,123", "1,234"], [0.123, 1.234], "with the decimal separator ','"),
    ],
)
def test_numbers(cells, numbers, note):
    source = column(cells)
    assert source.types == {"c": "number"}
    assert [row["c"] for row in rows_of(source)] == numbers
    assert source.notes[0].startswith("Column 'c' is read as numbers")
    assert note in source.notes[0]


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["1,234.50", "156,4"] * 5, "its numbers are written in several ways, such as '156,4' and '1,234.50'"),
        (["$5", "€6"] * 5, "it has numbers with the units"),
        (["12", "13", "abc"] * 5, None),
        (["555-1234", "555-9876"], None),
        (["10.0.0.1", "192.168.100.200"], None),
        (["1.0.0", "1.2.10"], None),
    ],
)
def test_cells_that_stay_text(cells, note):
    source = column(cells)
    assert source.types == {"c": "text"}
    assert [row["c"] for row in rows_of(source)] == cells
    assert (source.notes and note in source.notes[0]) if note else not source.notes


def test_other_columns_and_the_delimiter_decide_on_a_comma_before_three_digits():
    cells = ["1,234", "5,678"]
    assert read(cells) == [1234, 5678]
    assert read(cells, delimiter=";") == cells  # thousands by the digits, decimals by the delimiter
    assert "may be a decimal or a thousands separator. Set decimal=','" in column(cells, delimiter=";").notes[0]
    assert read(cells, delimiter=";", others=[["0,5"]]) == [1.234, 5.678]
    assert read(cells, delimiter=";", others=[["1,234.5"]]) == [1234, 5678]
    assert read(cells, delimiter=";", decimal=",") == [1.234, 5.678]
    assert read(cells, delimiter=";", thousands=",") == [1234, 5678]


def test_separators_that_are_set():
    assert read(["1.234", "5"], thousands=".") == [1234, 5]
    assert read(["1.234", "5"], decimal=",", thousands=".") == [1234, 5]
    assert read(["1.234", "5"]) == [1.234, 5]
    assert read(["1.5", "2.5"], decimal=",") == [1.5, 2.5]
    assert read(["1_000", "5"], thousands="_") == [1000, 5]
    for wrong in ({"decimal": ""}, {"thousands": "1"}, {"decimal": ",", "thousands": ","}, {"date_format": "day"}):
        with pytest.raises(InputError) as caught:
            column(["1"], **wrong)
        assert caught.value.argument in wrong


def test_large_numbers_are_not_skipped():
    rows = [f"{i % 900}.5" for i in range(150_000)]
    few = [*rows[:100], "1,234.50"]
    assert read(few, bad_rows="skip")[-1] == 1234.5
    late = [*rows, "1,234.50", "abc"]
    for bad_rows in ("error", "skip"):
        with pytest.raises(InputError, match=r"line 150002, column 'c': '1,234.50' has thousands separators") as caught:
            read(late, bad_rows=bad_rows)
        assert caught.value.line == 150_002
    source = column(late, bad_rows="skip", thousands=",")
    assert [row["c"] for row in rows_of(source)][-1] == 1234.5
    assert source.skipped == 1


def test_a_cell_in_another_format_is_an_error_with_its_line():
    cells = [*(f"$1,{i:03}.50" for i in range(40)), "156,4", "$2"]
    with pytest.raises(InputError, match=r"line 42, column 'c': '156,4' is not a number with thousands separators ','"):
        read(cells)
    assert len(read(cells, bad_rows="skip")) == 41
    assert read(cells, types={"c": "category"}) == cells


# ---------------------------------------------------------------------- typing errors in columns of numbers

TYPOS = ["abc", "0. 5", "0x1F", "1_000", "１２", "1+2j", "True", "=1+1"]


@pytest.mark.parametrize("typo", TYPOS)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("line", [20, 150_002])
def test_a_typing_error_in_a_column_of_numbers(typo, whole, line):
    numbers = [str(i) if whole else f"{i}.5" for i in range(150_010)][: 100 if line == 20 else None]
    cells = [*numbers[: line - 2], typo, *numbers[line - 2 :]]
    data = ("a,b\n" + "".join(f"{cell},x\n" for cell in cells)).encode()
    with pytest.raises(InputError, match="is not a number") as caught:
        rows_of(open_source(io.BytesIO(data)))
    assert (caught.value.line, caught.value.column) == (line, "a")
    assert "types={'a': 'category'}" in str(caught.value)
    source = open_source(io.BytesIO(data), bad_rows="skip", columns=["a"])
    assert [row["a"] for row in rows_of(source)] == [float(number) for number in numbers]
    assert source.skipped == 1
    if line == 20:
        text = open_source(io.BytesIO(data), types={"a": "category"})
        assert [row["a"] for row in rows_of(text)] == cells


def test_a_few_cells_do_not_make_a_column_of_numbers():
    assert column(["1"] * 18 + ["x"]).types == {"c": "text"}
    assert column(["1"] * 19 + ["x"]).types == {"c": "whole number"}
    two = column(["1"] * 97 + ["x", "y"])
    assert two.types == {"c": "text"}
    assert two.notes == [
        "Column 'c' is read as text: most cells are numbers, but 'x' is not. Correct such cells, or read them as "
        "missing with nulls=['x', 'y']."
    ]
    assert column(["1"] * 198 + ["x", "y"]).types == {"c": "whole number"}
    assert column(["01"] * 30 + ["x"]).types == {"c": "text"}


# ---------------------------------------------------------------------- dates

DAY = datetime.datetime(2019, 11, 12)


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["12/11/2019", "25/11/2019"], "%d/%m/%Y"),
        (["11/12/2019", "11/25/2019"], "%m/%d/%Y"),
        (["12.11.2019", "1.2.2019"], "%d.%m.%Y"),
        (["12-11-2019", "31-12-2019"], "%d-%m-%Y"),
        (["2019/11/12", "2019/1/2"], "%Y/%m/%d"),
        (["2019-11-12", "2019-1-2"], "%Y-%m-%d"),
        (["12.11.2019 00:00", "12.08.2017 10:30"], "%d.%m.%Y %H:%M"),
    ],
)
def test_dates(cells, form):
    source = column(cells)
    assert source.types == {"c": "time"}
    assert rows_of(source)[0]["c"] == DAY
    assert form in source.notes[0]
    assert source.formats == {"c": CellFormat("time", date_format=form)}


def test_the_day_or_the_month_may_come_first():
    cells = ["12/11/2019", "01/02/2019"]
    unclear = column(cells)
    assert unclear.types == {"c": "text"}
    assert "may have the day or the month first. Set date_format='%d/%m/%Y' or date_format=" in unclear.notes[0]
    assert read(cells, others=[["25.12.2019"]])[0] == DAY
    assert read(cells, others=[["12/25/2019"]])[0] == datetime.datetime(2019, 12, 11)
    assert read(cells, date_format="%d/%m/%Y")[0] == DAY
    assert read(["20191112"], date_format="%Y%m%d", types={"c": "time"}) == [DAY]
    both = column(["13/11/2019", "11/13/2019"])
    assert both.types == {"c": "text"}
    assert "such as '13/11/2019' and '11/13/2019'" in both.notes[0]


def test_a_day_that_there_is_not():
    cells = [*(f"{day}/11/2019" for day in range(1, 31)), "31/02/2019"]
    with pytest.raises(InputError, match=r"line 32, column 'c': '31/02/2019' is not a date/time of the form %d/%m/%Y"):
        read(cells)
    assert len(read(cells, bad_rows="skip")) == 30


# ---------------------------------------------------------------------- yes/no


@pytest.mark.parametrize(
    ("yes", "no", "type_"),
    [("Y", "N", "yes/no"), ("yes", "no", "yes/no"), ("True", "False", "yes/no"), ("1", "0", "yes/no")],
)
def test_yes_and_no(yes, no, type_):
    source = column([yes, no] * 10)
    assert source.types == {"c": type_}
    assert [row["c"] for row in rows_of(source)] == [True, False] * 10
    source.read_as_written("c")
    written = {"True": True, "1": 1}.get(yes, yes)
    assert rows_of(source)[0]["c"] == written
    assert not source.notes


def test_words_and_numbers_that_are_not_yes_or_no():
    assert column(["yes", "no", "maybe"] * 10).types == {"c": "text"}
    assert column(["yes"] * 30).types == {"c": "text"}
    assert column(["0", "1", "2"] * 10).types == {"c": "whole number"}
    assert column(["0", "1"] * 9).types == {"c": "whole number"}
    assert column(["f", "m"] * 10).types == {"c": "text"}


# ---------------------------------------------------------------------- several files


@pytest.mark.parametrize(
    ("first", "second", "type_", "values"),
    [
        (["1,234.5", "2"], ["7.5"], "number", [1234.5, 2, 7.5]),
        (["7.5"], ["1,234.5", "2"], "number", [7.5, 1234.5, 2]),
        (["1,5"], ["7.5"], "text", ["1,5", "7.5"]),
        (["1,234.5"], ["red"], "text", ["1,234.5", "red"]),
        (["Y", "N"], ["true"], "yes/no", [True, False, True]),
        (["Y", "N"], ["perhaps"], "text", ["Y", "N", "perhaps"]),
        (["0", "1"] * 10, ["2"], "whole number", [0, 1] * 10 + [2]),
        (["", ""], ["$5"], "number", [None, None, 5]),
    ],
)
def test_files_that_are_written_differently(tmp_path, first, second, type_, values):
    for name, cells in (("a.csv", first), ("b.csv", second)):
        (tmp_path / name).write_text("c,d\n" + "".join(f'"{cell}",x\n' for cell in cells))
    source = open_source(tmp_path)
    assert source.types["c"] == type_
    assert [row["c"] for row in rows_of(source, ["c"])] == values
    assert any("is read as" in note for note in source.notes) == (type_ in ("number", "yes/no"))


def test_one_note_for_columns_that_are_read_alike():
    source = open_source(io.BytesIO(b"a,b,c\n" + b"Y,N,1\nN,Y,2\n" * 10))
    assert source.notes == ["Columns 'a', 'b' are read as yes/no (Y, N)."]


# ---------------------------------------------------------------------- a form of dates that is set, plain cells


@pytest.mark.parametrize(
    ("cells", "form", "month"),
    [(["20191112"], "%Y%m%d", 11), (["2019-12-11"], "%Y-%d-%m", 11), (["12.11"], "%d.%m", 11)],
)
def test_a_form_of_dates_that_is_set_is_not_guessed(cells, form, month):
    source = column(cells, others=[["99.5"], ["7"]], date_format=form)
    assert source.types == {"c": "time", "other_0": "number", "other_1": "whole number"}
    assert rows_of(source)[0]["c"].month == month


def test_a_form_of_dates_that_no_column_has():
    source = column(["13/11/2019", "25/11/2019"], date_format="%Y%m%d")
    assert source.notes[0] == "No column has dates of the form date_format='%Y%m%d'."
    assert source.types == {"c": "time"}
    source = column(["20191112"], date_format="%Y%m%d")
    source.read_as_written("c")
    assert source.types == {"c": "whole number"}


COMMA = CellFormat("number", ",", ".")


@pytest.mark.parametrize(
    ("cells", "form", "values"),
    [
        (["6.43", "1.234"], COMMA, [6.43, 1.234]),
        (["1.234", "5.000"], COMMA, [1234, 5000]),
        (["150.1234567"], CellFormat("number", ","), [150.1234567]),
        (["6.43"], CellFormat("number", unit="%"), [6.43]),
        (["150.5", "$1,234.5"], CellFormat("number", thousands=",", unit="$"), [150.5, 1234.5]),
        (["1,234"], CellFormat("number", ","), [1.234]),
        (["2019-11-12"], CellFormat("time", date_format="%d/%m/%Y"), [DAY]),
        (["2019-12-11"], CellFormat("time", date_format="%Y-%d-%m"), [DAY]),
    ],
)
def test_plain_cells_are_read_where_the_format_of_a_model_cannot_read_them(cells, form, values):
    source = column(cells)
    source.read_as({}, {"c": form})
    source.read_as({}, {"c": form})
    assert [row["c"] for row in rows_of(source)] == values


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1.234"], "'1.234' has thousands separators"),
        (["1,5", "6.43"], "'6.43' is not a number with the decimal separator ','.*, set types={'c': 'number'}"),
    ],
)
def test_numbers_of_unclear_meaning_are_errors(cells, said):
    source = column(cells)
    source.read_as({}, {"c": CellFormat("number", ",")})
    with pytest.raises(InputError, match=said):
        rows_of(source)


# ---------------------------------------------------------------------- columns without the separators that are set


@pytest.mark.parametrize(
    ("options", "cells"),
    [({"decimal": ","}, ["0.53", "12.1"]), ({"thousands": "."}, ["0.53", "7.25"]), ({"decimal": ","}, ["1e-3", "-.5"])],
)
def test_columns_of_plain_numbers_stay_numbers_under_separators_that_are_set(options, cells):
    source = column(cells, others=[["1,5"]], **options)
    assert source.types == {"c": "number", "other_0": "number"}
    assert [row["c"] for row in rows_of(source)] == [float(cell) for cell in cells]
    (note,) = [note for note in source.notes if "'c'" in note]
    assert (
        note
        == f"Column 'c' is read as plain numbers, such as {cells[0]}, which do not have the separators that are set."
    )


def test_a_type_that_is_set_does_not_change_how_plain_numbers_are_read():
    assert read(["0.53", "12.1"], decimal=",", types={"c": "number"}) == [0.53, 12.1]


def test_a_bad_cell_does_not_change_how_plain_numbers_are_read():
    source = column(["0.53"] * 40 + ["abc"] + ["12.1"] * 40, decimal=",", bad_rows="skip")
    assert [row["c"] for row in rows_of(source)] == [0.53] * 40 + [12.1] * 40
    assert source.skipped == 1


def test_separators_that_a_column_does_not_have_are_noted():
    source = column(["3,45", "7,1"], thousands=",")
    assert source.types == {"c": "text"}
    assert source.notes == [
        "Column 'c' is read as text: '3,45' is not a number with thousands separators ','. The separators that are set "
        "hold for all columns; without them, those of each column are recognised."
    ]


# ---------------------------------------------------------------------- texts among numbers, dates and yes/no


@pytest.mark.parametrize(
    ("cells", "mark", "what"),
    [
        (["7", "8.5"], "?", "numbers"),
        (["7", "8"], "unknown", "numbers"),
        (["1,234.5", "$7"], "NA?", "numbers with thousands separators ',' and the unit '$'"),
        (["25/11/2019", "01/11/2019"], "-", "dates of the form %d/%m/%Y"),
        (["2019-11-25"], "--", "dates of the form %Y-%m-%d"),
        (["Y", "N"], "Missing", "yes/no values"),
        (["2019-11-25"], "tbd", "dates of the form %Y-%m-%d"),
        (["Y", "N"], "#DIV/0!", "yes/no values"),
        (["7", "8.5"], "#NAME?", "numbers"),
    ],
)
def test_marks_of_missing_cells_are_noted(cells, mark, what):
    source = column([*cells * 10, *[mark] * 3])
    assert source.types == {"c": "text"}
    assert source.notes == [
        f"Column 'c' is read as text: {what} are mixed with '{mark}'. Read it as missing with nulls=['{mark}']."
    ]
    assert column([*cells * 10, *[mark] * 3], nulls=[mark]).types["c"] != "text"


def test_marks_of_missing_cells_in_several_columns_have_one_note():
    source = open_source(io.BytesIO(b"a,b\n" + b"7,1\n8,2\n?,?\n-,-\n" * 9))
    assert source.notes == [
        "Columns 'a', 'b' are read as text: numbers are mixed with '?', '-'. Read them as missing with "
        "nulls=['?', '-']."
    ]


@pytest.mark.parametrize(
    "cells", [["red", "?"], ["?", "-"], ["a-1", "b-2", "?"], ["7", "?", "?", "?"], ["1", "A", "2", "B"]]
)
def test_texts_beside_marks_of_missing_cells_have_no_note(cells):
    assert column(cells * 10).notes == []


def test_a_word_among_numbers_can_be_read_as_missing():
    (note,) = column(["1", "2", "3"] * 10 + ["old"] * 2).notes
    assert note == (
        "Column 'c' is read as text: most cells are numbers, but 'old' is not. Correct such cells, or read it as "
        "missing with nulls=['old']."
    )


def test_the_error_of_a_mark_of_missing_cells_names_the_option():
    with pytest.raises(InputError, match=r"'\?' is not a number.* To read '\?' as missing, set nulls=\['\?'\]\.$"):
        rows_of(column(["1"] * 30 + ["?"]))


@pytest.mark.parametrize(
    ("cells", "pair", "other"), [("YN", "Y, N", "maybe"), (["yes", "No"], "yes, No", "y"), (["t", "f"], "t, f", "TRUE")]
)
def test_a_word_among_yes_and_no_is_noted(cells, pair, other):
    source = column([*list(cells) * 15, other])
    assert source.types == {"c": "text"}
    assert source.notes == [
        f"Column 'c' is read as text: nearly all cells are yes/no ({pair}), but '{other}' is not. Correct such cells, "
        f"or read it as missing with nulls=['{other}']."
    ]


def test_labels_have_no_note_on_their_texts():
    source = column(["yes", "no"] * 15 + ["disputed"])
    source.read_as_written("c")
    assert source.notes == []


def test_a_third_level_beside_yes_and_no_has_no_note():
    assert column(["Y", "N", "U"] * 10).notes == []


# ---------------------------------------------------------------------- a first row that looks like data


@pytest.mark.parametrize("first", ["5.1,3.5,0", "5.1,3.5,setosa", "-1,1e3,x", "1,0", "7"])
def test_a_first_row_of_numbers_is_noted(first):
    source = open_source(io.BytesIO(f"{first}\n{first}\n".encode()))
    assert source.notes[0].endswith("the column names look like data. If the file has no header row, set header=False.")


@pytest.mark.parametrize("first", ["a,b", "2019,2020,2021", "0,1,2,label", "a,1.5,b", "height,1"])
def test_other_first_rows_are_not_noted(first):
    assert not any("look like data" in note for note in open_source(io.BytesIO(f"{first}\n".encode())).notes)


def test_a_missing_column_of_a_file_without_a_header_names_the_option():
    with pytest.raises(InputError, match=r"It has '5.1', '3.5'. If the file has no header row, set header=False\.$"):
        open_source(io.BytesIO(b"5.1,3.5\n1,2\n"), columns=["species"])
    with pytest.raises(InputError, match=r"columns 1, 2\).*names. If the file has no header row, set header=False\.$"):
        open_source(io.BytesIO(b"5.1,5.1\n1,2\n"))
    assert "header" not in "".join(open_source(io.BytesIO(b"5.1,3.5\n1,2\n"), header=False).notes)
