"""Rows in databases, and the results of statements that score them, for tests of SQL."""

import contextlib
import sqlite3
import warnings

import numpy as np
import pandas as pd


def frame_of(rows):
    """Rows with a number ``row`` and with names of columns, as the table that is scored."""
    if not isinstance(rows, pd.DataFrame):
        rows = np.asarray(rows)
        rows = rows[:, None] if rows.ndim == 1 else rows
        rows = pd.DataFrame(rows, columns=[f"column {j}" for j in range(rows.shape[1])])
    rows = rows.reset_index(drop=True)
    rows.insert(0, "row", np.arange(len(rows)))
    return rows


def statement(model, frame, dialect, table="rows", **settings):
    """The statement for a frame of `frame_of`."""
    return model.to_sql(table, dialect, keep=["row"], columns=[str(each) for each in frame.columns[1:]], **settings)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def plain(cell):
    """A cell as sqlite3 takes it."""
    if cell is None or cell is pd.NaT or (isinstance(cell, float | np.floating) and np.isnan(cell)):
        return None
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat(" ")
    return cell.item() if isinstance(cell, np.generic) else cell


def in_sqlite(frame, query, table="rows"):
    """The result of a query on a table of SQLite, as a frame."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE {table} ({', '.join(map(quoted, frame.columns))})")
        places = ", ".join("?" * frame.shape[1])
        cells = ([plain(each) for each in row] for row in frame.itertuples(index=False))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", cells)
        cursor = connection.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[each[0] for each in cursor.description], dtype=object)


def assert_scored(result, model, rows, tolerance):
    """The result has the labels and the probabilities of the model; NULL stands for NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, labels = model.predict_proba(rows), model.predict(rows)
    result = result.sort_values("row")
    assert result["row"].astype(int).tolist() == list(range(len(expected)))
    n = expected.shape[1]
    found = result.iloc[:, 2 : 2 + n].to_numpy(dtype=float, na_value=np.nan)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    known = ~np.isnan(expected).any(axis=1)
    two = np.sort(expected, axis=1)[:, -2:]
    clear = known & (two[:, 1] - two[:, 0] > 10 * tolerance)
    assert result.iloc[:, 1].to_numpy()[clear].tolist() == labels[clear].tolist()
    joint = result.iloc[:, 2 + n :].to_numpy(dtype=float, na_value=np.nan)
    assert joint.shape == expected.shape
    return joint
