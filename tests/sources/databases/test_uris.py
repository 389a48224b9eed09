"""URIs of databases: what they name, and that no message shows a password."""

import sqlite3

import pytest

from suffice import InputError
from suffice.sources.databases.uris import parse_uri, without


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a database of SQLite and one of DuckDB."""
    connection = sqlite3.connect(tmp_path / "shop.sqlite")
    connection.execute("CREATE TABLE a (b)")
    connection.close()
    (tmp_path / "shop.duckdb").write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files(folder):
    for uri in ("sqlite:///shop.sqlite", "sqlite:shop.sqlite", "SQLite:shop.sqlite", "sqlite+pysqlite:///shop.sqlite"):
        assert parse_uri(uri).location == "shop.sqlite"
    assert parse_uri(f"sqlite:///{folder}/shop.sqlite").location == f"{folder}/shop.sqlite"
    assert parse_uri("duckdb:shop.duckdb").location == "shop.duckdb"
    assert parse_uri("duckdb::memory:").location == ":memory:"


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("sqlite:///shop.sqlit", r"There is no database 'shop.sqlit'. Did you mean 'shop.sqlite'\?"),
        ("sqlite:///shop.duckdb", "is a database of DuckDB. Open it with duckdb:shop.duckdb"),
        ("duckdb:shop.sqlite", "is a database of SQLite. Open it with sqlite:shop.sqlite"),
        ("sqlite://shop.sqlite", "three slashes"),
        ("sqlite::memory:", "pass its connection"),
        ("sqlite:///", "names no file"),
        ("sqlite:///.", "is a folder"),
        ("shop.sqlite", "not the URI of a database"),
        ("mysql://clerk:geheim@host/shop", "cannot open 'mysql' databases"),
        ("geheim", "not the URI of a database"),
    ],
)
def test_uris_that_name_nothing(folder, uri, message):
    with pytest.raises(InputError, match=message) as error:
        parse_uri(uri)
    assert error.value.argument == "connection"
    assert "geheim" not in str(error.value)


def test_an_absolute_path_with_three_slashes(folder):
    with pytest.raises(InputError, match=f"Did you mean sqlite:////{str(folder)[1:]}/shop.sqlite"):
        parse_uri(f"sqlite://{folder}/shop.sqlite")


@pytest.mark.parametrize(
    ("uri", "secrets"),
    [
        ("postgresql://localhost/shop", set()),
        ("postgresql://clerk@localhost/shop", set()),
        ("postgresql://clerk:geheim@localhost/shop", {"geheim"}),
        ("postgres://clerk:ge%40heim@[::1]:5432/shop", {"ge%40heim", "ge@heim"}),
        ("postgresql:///shop?user=clerk&password=ge%20heim", {"ge%20heim", "ge heim"}),
        ("postgresql://a@h/d?sslpassword=geheim&application_name=x", {"geheim"}),
        ("postgresql://one,two:5433/shop", set()),
        ("postgresql://?service=shop", set()),
    ],
)
def test_servers(uri, secrets):
    found = parse_uri(uri)
    assert found.scheme == "postgresql"
    assert set(found.secrets) == secrets
    assert "heim" not in repr(found)


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql:clerk:geheim@localhost",
        "postgresql://clerk:ge@heim@localhost/shop",
        "postgresql://clerk:ge/heim@localhost/shop",
        "postgresql://clerk:ge heim@localhost/shop",
        "postgresql://clerk:ge%heim@localhost/shop",
        "postgresql://clerk:ge#heim@localhost/shop",
        "postgresql://clerk:geheim@local host/shop",
    ],
)
def test_servers_whose_uri_is_not_valid(uri):
    """PostgreSQL's library would quote parts of these, perhaps of the password, in its errors."""
    with pytest.raises(InputError, match=r"is not valid.*percent code") as error:
        parse_uri(uri)
    assert "heim" not in str(error.value)


def test_secrets_are_replaced():
    assert without(["a+b", "a+b%20c"], "user x:a+b%20c@h, (a+b)") == "user x:***@h, (***)"
    assert without([], "nothing") == "nothing"
