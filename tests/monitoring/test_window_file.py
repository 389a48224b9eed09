"""Windows and histories as files: equal after a round trip, locked, and refused with a sentence if they are damaged."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from suffice import InputError, MergeError, ModelFileError, ModelFileMissingError, NaiveBayes, TextNaiveBayes, load
from suffice.model_file.container import read_container, write_container
from suffice.monitoring import Window
from suffice.monitoring.history_file import HISTORY, is_history, level_of_history, next_look
from suffice.monitoring.window_file import WINDOW, is_window_file, read_window, write_window

DAMAGE = {
    "a negative count": ("labels", lambda labels: -labels - 1),
    "NaN as a weight": ("weight", lambda weight: float("nan")),
    "rows that are not whole": ("n_rows", lambda n_rows: 1.5),
    "fewer bins": ("bins", lambda bins: bins[:-1]),
    "other numbers": ("bins", lambda bins: bins.astype(np.float32)),
    "levels of other columns": ("levels", lambda levels: levels[:-1]),
    "a list of levels": ("levels", list),
    "keys without rows": ("keys", lambda keys: keys[:-1]),
    "infinite weight": ("squares", lambda _: float("inf")),
    "more rows than there are": ("bins", lambda bins: bins * 1e6),
    "weights of fewer rows": ("squares", lambda squares: squares / 1e3),
    "a negative variance": ("moments", lambda moments: -moments),
    "labels without scores": ("scores", lambda scores: scores * 2),
    "scores that are infinite": ("scores", lambda scores: np.where(np.arange(7) == 2, 1e300, scores)),
    "no mapping": ("other_labels", lambda _: 3),
}


def table(n, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "size": rng.normal(1e8 + y + shift, 2.0),
            "city": rng.choice(np.array(["Ulm", "Bonn", None], dtype=object), n),
            "day": rng.choice([date(2024, 1, 1), date(2024, 1, 2)], n),
            "paid": rng.random(n) < 0.3,
        }
    )
    X["day"] = X["day"].astype("category")
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def model():
    return NaiveBayes().fit(*table(400))


@pytest.fixture(scope="module")
def monitor(model):
    return model.monitor(*table(200, seed=1))


@pytest.fixture(scope="module")
def window(monitor):
    X, y = table(100, seed=2)
    y[::3] = "maybe"
    X.loc[::5, "city"] = "Berlin"
    return monitor.window(X, y, np.linspace(0.5, 2.0, 100))


def same(a, b):
    for each in fields(Window):
        mine, theirs = getattr(a, each.name), getattr(b, each.name)
        if each.name == "layout":
            assert all(getattr(mine, one.name) == getattr(theirs, one.name) for one in fields(type(mine)))
        else:
            np.testing.assert_equal(mine, theirs)
    return True


def test_a_window_is_equal_after_a_round_trip(window, monitor, tmp_path):
    assert dict(window.unseen[0]) == {"Berlin": pytest.approx(window.levels[0][-2])}
    assert window.other_labels
    content = window.to_bytes()
    assert content == window.to_bytes()
    assert same(Window.from_bytes(content), window)
    write_window(tmp_path / "w.window", window)
    assert (tmp_path / "w.window").read_bytes() == content
    read = read_window(tmp_path / "w.window")
    assert same(read, window)
    assert same(read.merge(window), window.merge(window))
    assert monitor.check(read).to_dict() == monitor.check(window).to_dict()
    assert is_window_file(str(tmp_path / "w.window"))


def test_windows_of_texts_and_of_no_rows(tmp_path):
    texts, y = ["cheap pills", "lunch at noon", "cheap watches", "the report"] * 5, ["spam", "ham"] * 10
    monitor = TextNaiveBayes().fit(texts, y).monitor()
    for window in (monitor.window(texts, y), Window.zero(monitor.layout)):
        assert same(Window.from_bytes(window.to_bytes()), window)


def test_a_window_of_another_model_does_not_merge(window, tmp_path):
    other = NaiveBayes().fit(*table(400, seed=5)).monitor()
    with pytest.raises(MergeError, match="another model"):
        Window.from_bytes(other.window(table(10)[0]).to_bytes()).merge(window)


@pytest.mark.parametrize("kind", ["window", "history"])
def test_damaged_files_are_refused(kind, window, monitor, model, tmp_path):
    path = tmp_path / "file"
    if kind == "window":
        write_window(path, window)
        read = lambda: read_window(path)  # noqa: E731
    else:
        next_look(path, model.monitor(*table(200, seed=1)), window)
        read = lambda: level_of_history(path)  # noqa: E731
    content = path.read_bytes()
    for bad, words in (
        (content[:-1], "is cut short"),
        (content[:5000], "is cut short"),
        (content[:5], "it has 5 bytes"),
        (content + b"x", "has bytes after its end"),
        (content[:-100] + bytes([content[-100] ^ 1]) + content[-99:], "does not match its checksum"),
        (b"hello, world\n" * 10, f"is not a {kind} file"),
        (model.to_bytes(), f"does not describe a {kind}"),
    ):
        path.write_bytes(bad)
        with pytest.raises(ModelFileError, match=words) as caught:
            read()
        assert caught.value.file == str(path)
        assert caught.value.page == "docs/monitoring.md"
        assert path.read_bytes() == bad
    with pytest.raises(ModelFileError, match=r"is a folder, not a file\. Give the path of a saved window"):
        read_window(tmp_path)
    with pytest.raises(ModelFileMissingError, match="no file"):
        read_window(tmp_path / "none")
    with pytest.raises(ModelFileError, match="The content is not a window"):
        Window.from_bytes(b"hello, world")


def test_windows_and_models_are_told_apart(window, model, tmp_path):
    write_window(tmp_path / "w.window", window)
    model.save(tmp_path / "m.suffice")
    with pytest.raises(ModelFileError, match="is not a model file"):
        load(tmp_path / "w.window")
    assert not is_window_file(str(tmp_path / "m.suffice"))
    assert not is_window_file(str(tmp_path / "none"))
    assert not is_window_file(str(tmp_path))
    assert not is_history(str(tmp_path / "w.window"))


@pytest.mark.parametrize("name", DAMAGE)
def test_values_that_cannot_come_from_rows_are_refused(name, window):
    field, change = DAMAGE[name]
    with pytest.raises(ModelFileError, match="The window in the bytes cannot be read"):
        Window.from_bytes(replace(window, **{field: change(getattr(window, field))}).to_bytes())


def test_documents_with_a_valid_checksum_are_checked(window, tmp_path):
    path = str(tmp_path / "w.window")
    write_window(path, window)
    document, arrays = read_container(path, WINDOW)
    for change in (
        {"windows": []},
        {"windows": document["windows"] * 2},
        {"layout": None},
        {"layout": {}},
        {"layout": {**document["layout"], "classes": {"tuple": [[]]}}},
        {"layout": {**document["layout"], "cuts": {"tuple": []}}},
        {"more": 1},
        {"windows": [{"n_rows": 1}]},
    ):
        write_container(path, {**document, **change}, arrays, WINDOW)
        with pytest.raises(ModelFileError, match="cannot be read"):
            read_window(path)
    write_container(path, {**document, "format": 2}, arrays, WINDOW)
    with pytest.raises(ModelFileError, match="newer Suffice"):
        read_window(path)


def test_levels_that_a_file_cannot_hold(window):
    unseen = ({object: 1.0}, *window.unseen[1:])
    with pytest.raises(ModelFileError, match="The window cannot be saved: it holds"):
        replace(window, unseen=unseen).to_bytes()


# ---------------------------------------------------------------------- histories


def looks_of(model, n, **settings):
    """Looks at equal windows in memory."""
    monitor = model.monitor(*table(200, seed=1), **settings)
    windows = [monitor.window(*table(50, seed=10 + i, shift=0.3 * i)) for i in range(n)]
    return windows, [monitor.update(each) for each in windows]


def test_a_history_continues_the_sequence(model, tmp_path):
    path = tmp_path / "h.history"
    windows, expected = looks_of(model, 7, level=0.1)
    assert level_of_history(path) is None
    for window, look in zip(windows, expected, strict=True):
        found = next_look(path, model.monitor(*table(200, seed=1), level=0.1), window)
        assert found.look == look.look
        assert [(f.column, f.test, f.windows) for f in found.findings] == [
            (f.column, f.test, f.windows) for f in look.findings
        ]
        np.testing.assert_allclose(
            [f.p_value for f in found.findings], [f.p_value for f in look.findings], rtol=1e-9, equal_nan=True
        )
    assert level_of_history(path) == 0.1
    assert is_history(str(path))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["h.history"]
    assert {f.windows for look in expected for f in look.findings} == {1, 2, 4}


def test_a_history_has_one_level_and_one_model(model, window, tmp_path):
    path = tmp_path / "h.history"
    next_look(path, model.monitor(*table(200, seed=1)), window)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"has the level 0\.05; got 0\.01") as caught:
        next_look(path, model.monitor(*table(200, seed=1), level=0.01), window)
    assert caught.value.argument == "level"
    other = NaiveBayes().fit(*table(400, seed=5)).monitor()
    with pytest.raises(InputError, match="belongs to another model"):
        next_look(path, other, other.window(table(10)[0]))
    assert path.read_bytes() == before


def test_numbers_of_a_history_are_checked(model, window, tmp_path):
    path = str(tmp_path / "h.history")
    next_look(path, model.monitor(*table(200, seed=1)), window)
    document, arrays = read_container(path, HISTORY)
    for change in ({"looks": 2**60}, {"looks": 3}, {"looks": True}, {"looks": 0}, {"level": 2.0}, {"level": None}):
        write_container(path, {**document, **change}, arrays, HISTORY)
        with pytest.raises(ModelFileError, match="cannot be read"):
            level_of_history(path)


def test_looks_at_the_same_time_lose_no_window(model, window, tmp_path):
    path = tmp_path / "h.history"

    def look(_):
        return next_look(path, model.monitor(*table(200, seed=1)), window).look

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(look, range(7))) == [1, 2, 3, 4, 5, 6, 7]
    monitor = model.monitor(*table(200, seed=1))
    assert next_look(path, monitor, window).look == 8
    assert [(size, each.n_rows) for size, each in monitor.windows] == [(8, 800)]
