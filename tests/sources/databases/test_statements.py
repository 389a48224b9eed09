"""The text of a query is one statement that selects rows."""

import pytest

from suffice import InputError
from suffice.sources.databases.statements import statement


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ';' AS a",
        'SELECT 1 AS ";"',
        "SELECT $$;$$ AS a",
        "SELECT $tag$;$$;$tag$ AS a",
        "SELECT E'\\';' AS a",
        "SELECT 1 /* ; */ AS a",
        "SELECT 1 -- ;\nAS a",
        "select 'it''s; one'",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "(SELECT 1) UNION (SELECT 2)",
        "VALUES (1, 2)",
        "TABLE orders",
        "FROM orders",
        "-- a comment\nSELECT 1",
    ],
)
@pytest.mark.parametrize("end", ["", ";", " ; ;\n", "; -- the end; of it\n", "; /* ; */"])
def test_one_statement(query, end):
    assert statement(query + end) == query.removeprefix("-- a comment\n")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1; SELECT 2", "several statements"),
        ("SELECT ';'; DROP TABLE a", "several statements"),
        ("DELETE FROM a", "begins with DELETE"),
        ("/* SELECT */ update a set b = 1", "begins with UPDATE"),
        ("(DELETE FROM a)", "must select rows"),
        ("", "The query is empty"),
        (" ;; -- SELECT 1", "The query is empty"),
        (7, "must be a text; got int"),
        (b"SELECT 1", "must be a text; got bytes"),
    ],
)
def test_texts_that_are_not_one(query, message):
    with pytest.raises(InputError, match=message) as error:
        statement(query)
    assert error.value.argument == "query"


def test_a_long_query():
    query = "SELECT 1 AS a WHERE 1 IN (" + ", ".join(map(str, range(100_000))) + ")"
    assert statement(query + ";") == query
