"""Texts as bags of words: SQL has no words, so a model of texts is refused with advice."""

from __future__ import annotations

from typing import NoReturn

from suffice.exceptions import Export, InputError
from suffice.export.sql.query import PAGE

__all__ = ["refuse_words"]


def refuse_words(column: str) -> NoReturn:
    """Raise the error for a model that reads texts."""
    raise InputError(
        f"Column {column!r} holds texts, and no two databases split a text into words alike, so this model has no "
        "SQL. Score its rows in Python, where predict_proba accepts tables of DuckDB, Polars and Spark; or use ",
        Export("onnx"),
        ", whose graph reads words.",
        column=column,
        page=PAGE,
    )
