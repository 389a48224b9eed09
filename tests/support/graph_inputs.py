"""Rows as the inputs of a graph of ONNX, prepared without Suffice, as a program in another language would do it."""

import json

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

DTYPE = {1: np.float32, 11: np.float64, 8: object}  # of the types of elements float, double and string


def graph_inputs(proto, rows):
    """The inputs of a graph by name, from an array, a frame or texts; its metadata say what they are."""
    settings = {each.key: each.value for each in proto.metadata_props}
    described, missing = json.loads(settings["inputs"]), settings["missing"]
    out = {}
    for each in proto.graph.input:
        about, dtype = described[each.name], DTYPE[each.type.tensor_type.elem_type]
        if "columns" in about:
            out[each.name] = matrix(rows, dtype, missing)
            continue
        column = column_named(rows, about["column"])
        if about["cells"] == "words":
            out[each.name] = word_matrix(column, about["reading"], missing)
        else:
            out[each.name] = cells(column, dtype, missing)[:, None]
    return out


def column_named(rows, name):
    """A column of a frame, by its name as a text, or of an array, by its position; or texts."""
    if isinstance(rows, pd.DataFrame):
        return rows.iloc[:, [str(each) for each in rows.columns].index(name)]
    return np.asarray(rows, dtype=object)[:, int(name)] if np.ndim(rows) == 2 else rows


def matrix(rows, dtype, missing=""):
    """A matrix of numbers or of texts."""
    rows = np.asarray(rows)
    if dtype is not object:
        return rows.astype(float).astype(dtype)
    return np.column_stack([cells(column, object, missing) for column in rows.T]).reshape(rows.shape)


def cells(column, dtype, missing=""):
    """A column of numbers, with NaN for missing ones, or of texts."""
    column = pd.Series(column)
    if dtype is object:
        return np.array([missing if pd.isna(each) else str(each) for each in column], dtype=object)
    if column.dtype.kind == "M":
        return ((column - pd.Timestamp(0)) / pd.Timedelta(seconds=1)).to_numpy(float).astype(dtype)
    if column.dtype.kind == "m":
        return (column / pd.Timedelta(seconds=1)).to_numpy(float).astype(dtype)
    return np.array([np.nan if pd.isna(each) else float(each) for each in column]).astype(dtype)


def word_matrix(texts, reading, missing):
    """The words of each text (n, W), filled with "" to the longest; only ``missing`` for a missing text."""
    words = [[missing] if pd.isna(text) else words_of(text, reading) for text in texts]
    width = max(map(len, words), default=0)
    out = np.full((len(words), width), "", dtype=object)
    for row, own in zip(out, words, strict=True):
        row[: len(own)] = own
    return out


def words_of(text, reading):
    """The words of a text, by scikit-learn's analyzer."""
    settings = {name: reading[name] for name in ("analyzer", "lowercase", "strip_accents")}
    n_grams, least = tuple(reading["ngram_range"]), reading["min_length"]
    pattern = rf"(?u)\b\w{{{least},}}\b" + (r"|[^\w\s]" if reading["punctuation"] else "")
    stop_words = list(reading["stop_words"]) or None if settings["analyzer"] == "word" else None
    if settings["analyzer"] == "word":
        settings |= {"token_pattern": pattern, "stop_words": stop_words}
    words = CountVectorizer(ngram_range=n_grams, **settings).build_analyzer()(text)
    if reading["characters"] is None:
        return words
    settings = {"analyzer": "char_wb", "ngram_range": tuple(reading["characters"])}
    settings |= {name: reading[name] for name in ("lowercase", "strip_accents")}
    parts = CountVectorizer(**settings).build_analyzer()(text)
    return [*words, *("~" + part.replace(" ", "|") for part in parts)]
