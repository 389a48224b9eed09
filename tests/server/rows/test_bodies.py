"""Bodies of requests: their form, their size, and strict JSON."""

import asyncio
import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError
from suffice.server.problems import Problem
from suffice.server.rows.bodies import answer_form, body_form, gunzipped, read_whole
from suffice.server.rows.json_rows import columns_of, parse
from suffice.server.rows.row_plans import model_rows, plan_of, table_of
from suffice.server.settings import Limits

LIMITS = Limits(document=1_000, rows=5, cells=12)


def mixed_model():
    table = pd.DataFrame(
        {
            "x": [1.0, 2.5, 3.0, 9.0, 8.0, 7.5],
            "zip": [2**60 + 1, 2**60 + 2] * 3,
            "city": ["Ulm", "Bonn", None] * 2,
            "paid": [True, False] * 3,
            "at": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"] * 2),
            "took": pd.to_timedelta([1, 2, 3, 4, 5, 6], "s"),
        }
    )
    families = {"zip": "categorical"}
    return NaiveBayes(families).fit(table, ["a", "a", "a", "b", "b", "b"])


MIXED = mixed_model()
PLAIN = NaiveBayes().fit([[1.0, 2.0], [3.0, 1.0], [7.0, 9.0], [8.0, 6.0]], [0, 0, 1, 1])


def received(body, size=7):
    """A function that receives a body in pieces, and then that the client has left."""
    pieces = [body[i : i + size] for i in range(0, len(body), size)] or [b""]
    messages = [{"type": "http.request", "body": each, "more_body": True} for each in pieces]
    messages[-1]["more_body"] = False

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    return receive


def whole(body, *headers, limits=LIMITS):
    return asyncio.run(read_whole(headers, received(body), limits))


def problem(call, *arguments):
    with pytest.raises(Problem) as caught:
        call(*arguments)
    return caught.value


# ---------------------------------------------------------------------- forms


@pytest.mark.parametrize(
    ("given", "form"),
    [
        (b"application/json", "json"),
        (b"Application/JSON; charset=UTF-8", "json"),
        (b'text/csv;header=present;charset="utf-8"', "csv"),
        (b"application/x-ndjson", "jsonl"),
        (b"application/vnd.apache.arrow.stream", "arrow"),
        (b"application/vnd.apache.parquet", "parquet"),
        (b"message/rfc822; charset=latin-1", "mail"),
    ],
)
def test_the_content_type_tells_the_form(given, form):
    assert body_form([(b"content-type", given)]) == form


@pytest.mark.parametrize("given", [b"", b"text/html", b"application/jsn", b"text/csv; charset=latin-1", b";"])
def test_other_content_types_are_refused(given):
    found = problem(body_form, [(b"content-type", given)])
    assert found.status == 415
    if given == b"application/jsn":
        assert "Did you mean 'application/json'?" in found.detail
        assert "text/csv" in found.headers["Accept-Post"]


@pytest.mark.parametrize(
    ("accept", "given", "form"),
    [
        (None, "csv", "csv"),
        (b"*/*", "arrow", "arrow"),
        (None, "text", "json"),
        (b"text/csv", "json", "csv"),
        (b"text/csv;q=0.5, application/json", "arrow", "json"),
        (b"text/html, application/xhtml+xml, */*;q=0.8", "parquet", "parquet"),
        (b"application/*", "csv", "json"),
        (b"application/*", "parquet", "parquet"),
        (b"*/*, application/json;q=0", "json", "csv"),
    ],
)
def test_accept_tells_the_form_of_the_answer(accept, given, form):
    assert answer_form([] if accept is None else [(b"accept", accept)], given) == form


def test_an_answer_that_nobody_accepts_is_a_problem():
    found = problem(answer_form, [(b"accept", b"image/png")], "json")
    assert (found.status, "image/png" in found.detail) == (406, True)


# ---------------------------------------------------------------------- bytes


def test_a_body_is_read_in_pieces():
    assert whole(b'{"rows": []}') == b'{"rows": []}'
    assert whole(b"") == b""


def test_a_body_of_too_many_bytes_is_refused_before_all_of_it_is_read():
    for body, headers in (
        (bytes(1_001), []),
        (b"", [(b"content-length", b"1001")]),
        (gzip.compress(bytes(1_001)), [(b"content-encoding", b"gzip")]),
        (gzip.compress(bytes(10_000_000)), [(b"content-encoding", b"x-gzip")]),
    ):
        found = problem(lambda body=body, headers=headers: whole(body, *headers, limits=Limits(document=1_000)))
        assert (found.status, found.facts["limit"]) == (413, 1_000)


def test_a_bomb_takes_no_more_memory_than_the_limit():
    bomb = gzip.compress(bytes(200_000_000))
    found = problem(gunzipped, bomb, 1_000_000)
    assert found.status == 413


def test_gzip_is_read_with_all_its_members():
    body = gzip.compress(b'{"rows": ') + gzip.compress(b"[]}")
    assert whole(body, (b"content-encoding", b"gzip")) == b'{"rows": []}'
    assert whole(b"[]", (b"content-encoding", b"identity")) == b"[]"


@pytest.mark.parametrize(
    "body",
    [b"no gzip", gzip.compress(b"cut off" * 20)[:-9], gzip.compress(b"x") + b"rest"],
    ids=["no gzip", "cut off", "followed by other bytes"],
)
def test_damaged_gzip_is_a_problem(body):
    assert problem(lambda: whole(body, (b"content-encoding", b"gzip"))).status == 400


@pytest.mark.parametrize("encoding", [b"br", b"gzip, gzip", b"zstd"])
def test_other_encodings_are_refused(encoding):
    assert problem(lambda: whole(b"[]", (b"content-encoding", encoding))).status == 415


def test_a_client_that_leaves_is_a_problem():
    messages = [{"type": "http.request", "body": b"[", "more_body": True}, {"type": "http.disconnect"}]

    async def receive():
        return messages.pop(0)

    assert problem(lambda: asyncio.run(read_whole([], receive, LIMITS))).status == 400


# ---------------------------------------------------------------------- strict JSON


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'{"rows": [', "at line 1, character 11"),
        (b'{"rows": []} x', "extra data at line 1, character 14"),
        (b'{"row": {"x": NaN}}', "NaN at line 1, character 15"),
        (b'{"row":\n {"NaN": "\\"NaN", "x": -Infinity}}', "-Infinity at line 2, character 24"),
        (b'{"row": {"x": 1, "x": 2}}', "has the key 'x' more than once"),
        (b'{"row": {"x": "\xff"}}', "byte 15 is wrong"),
        (b'{"row": {"x": "\\ud800"}}', "surrogate"),
        (b'{"row": {"\\udfff": 1}}', "surrogate"),
        (b'{"row": {"x": ' + b"9" * 5_000 + b"}}", "too many digits"),
        (b"[" * 200_000, "too deeply"),
        (b'{"a":' * 200_000, "too deeply"),
        (b"{'row': 1}", "is not JSON"),
        (b'{"row": "\x01"}', "is not JSON"),
        (b"[01]", "is not JSON"),
    ],
)
def test_what_json_does_not_allow_is_told_with_its_place(body, part):
    found = problem(parse, body)
    assert found.status == 400
    assert part in found.detail


def test_json_may_begin_with_a_byte_order_mark_and_hold_surrogate_pairs():
    assert parse(b'\xef\xbb\xbf {"row": {"x": "\\ud83d\\ude00"}} ') == {"row": {"x": "\N{GRINNING FACE}"}}


# ---------------------------------------------------------------------- forms of documents


def cells(document, model=PLAIN, target=None, limits=None):
    return columns_of(document, plan_of(model.fitted_), limits or Limits(), target)


def test_all_forms_of_documents_hold_the_same_cells():
    expected = {"0": [1, 3], "1": [2, None]}
    for document in (
        {"rows": [{"0": 1, "1": 2}, {"0": 3}]},
        {"rows": [{"0": 1, "1": 2, "id": 7}, {"0": 3, "id": 8}]},
        {"rows": [[1, 2], [3, None]]},
        [[1, 2], [3, None]],
        [{"0": 1, "1": 2}, {"0": 3}],
        {"columns": {"1": [2, None], "0": [1, 3], "id": ["a", "b"]}},
    ):
        found = cells(document)
        assert (found.cells, found.n_rows) == (expected, 2)
    assert cells({"row": [1, 2]}).cells == {"0": [1], "1": [2]}
    assert cells({"rows": []}).n_rows == 0


def test_rows_of_one_column_may_be_bare_values():
    texts = TextNaiveBayes().fit(["free prize", "lunch today"], ["x", "y"])
    assert cells(["a", None], texts).cells == {"text": ["a", None]}
    assert cells({"row": "a"}, texts).cells == {"text": ["a"]}
    one = NaiveBayes().fit([[1.0], [2.0]], [0, 1])
    assert cells({"rows": [1.5, 2]}, one).cells == {"0": [1.5, 2]}


@pytest.mark.parametrize(
    ("document", "status", "part"),
    [
        (3, 400, "The body is a number"),
        (None, 400, "The body is null"),
        ({}, 400, 'no member "rows"'),
        ({"Rows": []}, 400, "Did you mean 'rows'?"),
        ({"rows": [], "row": {}}, 400, "'rows', 'row'"),
        ({"rows": [], "label": 1}, 400, "Did you mean 'labels'?"),
        ({"rows": {"0": 1}}, 400, "is an object; expected a list"),
        ({"columns": [1]}, 400, "is a list; expected an object"),
        ({"columns": {"0": 1}}, 400, "Column '0' is a number"),
        ({"columns": {"0": [1], "1": [1, 2]}}, 422, "Column '1' has 2 cells"),
        ({"columns": {"a": [1]}}, 422, "none of the columns"),
        ({"rows": [[1, 2], {"0": 1}]}, 422, "Row 1 is an object; expected a list"),
        ({"rows": [{"0": 1}, 5]}, 422, "Row 1 is a number; expected an object"),
        ({"rows": [[1, 2, 3]]}, 422, "Row 0 has 3 values; the model reads 2"),
        ({"rows": [{"0": 1}, {"size": 1}]}, 422, "Row 1 has none of the columns of the model: 'size'"),
        ({"rows": [{"0": 1}], "labels": [1, 2]}, 422, '"labels" has 2 values for 1 rows'),
        ({"rows": [{"0": 1}], "weights": 1}, 400, '"weights" is a number'),
    ],
)
def test_documents_of_another_form_are_told_what_is_expected(document, status, part):
    found = problem(cells, document)
    assert found.status == status
    assert part in found.detail


def test_an_unknown_column_is_told_a_similar_one():
    found = problem(cells, {"row": {"Citty": "Ulm", "ZIP": 1}}, MIXED)
    assert "Did you mean 'city'?" in found.detail
    assert (found.status, found.facts["row"], found.facts["column"]) == (422, 0, "Citty")


def test_a_list_needs_a_model_without_column_names():
    assert problem(cells, {"rows": [[1, 2, 3, 4, 5, 6]]}, MIXED).status == 422


def test_rows_and_cells_are_limited():
    for document in ({"rows": [[1, 2]] * 6}, {"columns": {"0": [1] * 6}}):
        assert problem(lambda document=document: cells(document, limits=LIMITS)).status == 413
    found = problem(lambda: cells({"rows": [{"x": 1}] * 3}, MIXED, limits=LIMITS))
    assert (found.status, "18 cells" in found.detail) == (413, True)


def test_labels_are_a_member_or_a_column():
    found = cells({"rows": [[1, 2]], "labels": [1], "weights": [0.5]})
    assert (found.labels, found.weights) == ([1], [0.5])
    assert cells({"row": [1, 2], "labels": 1}).labels == [1]
    assert cells({"rows": [{"0": 1, "y": 0}, {"0": 2}]}, target="y").labels == [0, None]
    assert cells({"columns": {"0": [1], "y": [1]}}, target="y").labels == [1]
    assert cells({"rows": [{"0": 1}]}, target="y").labels is None


# ---------------------------------------------------------------------- types of cells


def table(rows, model=MIXED):
    plan = plan_of(model.fitted_)
    found = cells({"rows": rows}, model)
    return table_of(plan, found.cells, found.n_rows, found.others)


def test_cells_have_the_types_that_the_model_reads():
    found = table(
        [
            {"x": 1, "zip": 2**60 + 1, "city": "Ulm", "paid": True, "at": "2026-05-01", "took": 1.5},
            {"x": 2.5, "zip": None, "city": 12, "paid": 0, "at": "2026-05-01T12:30:00+02:00", "took": None},
            {"city": True},
        ]
    )
    assert found.schema.types == [
        pa.float64(),
        pa.int64(),
        pa.string(),
        pa.bool_(),
        pa.timestamp("us"),
        pa.duration("us"),
    ]
    assert found["x"].to_pylist()[:2] == [1.0, 2.5]
    assert np.isnan(found["x"][2].as_py())
    assert found["zip"].to_pylist() == [2**60 + 1, None, None]
    assert found["city"].to_pylist() == ["Ulm", "12", "true"]
    assert found["paid"].to_pylist() == [True, False, None]
    assert [str(each) for each in found["at"].to_pylist()] == ["2026-05-01 00:00:00", "2026-05-01 10:30:00", "None"]
    assert [None if each is None else each.total_seconds() for each in found["took"].to_pylist()] == [1.5, None, None]
    assert np.isfinite(MIXED.predict_proba(model_rows(MIXED.fitted_, found))).all()


@pytest.mark.parametrize(
    ("row", "column", "part"),
    [
        ({"x": "1.5"}, "x", "holds '1.5', which is not a number"),
        ({"x": True}, "x", "holds true, which is not a number"),
        ({"x": [1]}, "x", "holds a list"),
        ({"x": {}}, "x", "holds an object"),
        ({"x": float("inf")}, "x", "too large for float64"),
        ({"x": 10**400}, "x", "too large for float64"),
        ({"zip": "89073"}, "zip", "not a number"),
        ({"city": ["Ulm"]}, "city", "not a text"),
        ({"paid": 2}, "paid", "not true or false"),
        ({"paid": "yes"}, "paid", "not true or false"),
        ({"at": "yesterday"}, "at", "date and time"),
        ({"at": 5}, "at", "date and time"),
        ({"at": "0001-01-01T00:00:00+14:00"}, "at", "date and time"),
        ({"took": "1s"}, "took", "not a number"),
        ({"took": 1e13}, "took", "duration in seconds"),
    ],
)
def test_cells_of_the_wrong_type_are_errors_with_column_and_row(row, column, part):
    with pytest.raises(InputError) as caught:
        table([{"x": 1.0, "zip": 2**60 + 1, "city": "Ulm", "paid": True, "at": None, "took": 1}, row])
    assert part in str(caught.value)
    assert (caught.value.column, caught.value.rows) == (column, [1])


def test_columns_that_may_not_be_missing_are_errors_with_a_similar_name():
    model = GaussianDiscriminant(missing="error").fit(
        pd.DataFrame({"width": [1.0, 2.0, 8.0, 9.0], "height": [2.0, 1.0, 7.0, 9.0]}), [0, 0, 1, 1]
    )
    with pytest.raises(InputError) as caught:
        table([{"width": 1.0, "heigth": 2.0}], model)
    assert "no column 'height'" in str(caught.value)
    assert "Did you mean 'height'?" in str(caught.value)
    assert caught.value.column == "height"


def test_whole_numbers_that_are_levels_stay_exact():
    rows = [{"x": 2.0, "zip": 2**60 + 1}, {"x": 2.0, "zip": 2**60 + 2}]
    found = MIXED.predict_proba(model_rows(MIXED.fitted_, table(rows)))
    parsed = table(parse(json.dumps(rows).encode()))
    assert parsed.equals(table(rows))
    assert parsed["zip"].to_pylist() == [2**60 + 1, 2**60 + 2]
    assert (found[0] != found[1]).any()
