"""Learning while the model is served: what is acknowledged is kept, exactly once, and bit for bit."""

import errno
import os
import shutil
import stat
import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pyarrow as pa
import pytest

from learning_cases import LEARNING, base_of, case_of
from suffice import ClassError, GaussianDiscriminant, InputError, MergeError, ModelFileError, NaiveBayes
from suffice.server.log import journal, state_folder
from suffice.server.log import learner as learning
from suffice.server.log.journal import Journal
from suffice.server.log.learner import Bounds, Change, Learner, Receipt
from suffice.server.log.recovery import create_log
from suffice.server.log.snapshots import Contents, log_path, model_path
from suffice.server.problems import Problem, problem_of

WAIT = 30  # seconds, for a future of which the thread has died


@pytest.fixture
def opened(tmp_path):
    """Open a learner, which is closed when the test ends."""
    learners = []

    def open_(case, folder="state", **settings):
        learners.append(Learner.open(str(tmp_path / folder), case.model, base=base_of(case.model), **settings))
        return learners[-1]

    yield open_
    for each in learners:
        each.close()


def wait_until(condition):
    for _ in range(WAIT * 500):
        if condition():
            return
        time.sleep(0.002)
    raise AssertionError("it does not happen")


def is_idle(learner):
    """Whether the thread waits for changes, and no snapshot is being written."""
    writing = learner._log._writing
    return bool(learner._arrived._waiters) and not (writing is not None and writing.is_alive())


def killed(learner, tmp_path, name="killed"):
    """A copy of the folder as it is on disk while the learner waits for changes."""
    wait_until(lambda: is_idle(learner))
    shutil.copytree(learner._folder.path, tmp_path / name)
    return name


def learn(case, start=0, stop=None, kind="learn", **facts):
    stop = start + 1 if stop is None else stop
    return Change(kind, case.rows.slice(start, stop - start), case.labels[start:stop], **facts)


def result(learner, change):
    return learner.submit(change).result(WAIT)


def together(learner, changes):
    """The futures of changes that are committed at one time."""
    with learner._arrived:  # so the thread takes all of them
        return [learner.submit(each) for each in changes]


def state(learner):
    return learner.model.to_bytes()


def changes_of(case):
    """All kinds of changes, one by one and in batches."""
    for i in range(12):
        yield learn(case, i, key=f"row {i}")
    yield learn(case, 12, 40)
    yield learn(case, 3, kind="unlearn")
    yield learn(case, 12, 20, kind="unlearn")
    yield learn(case, 40, 45, weights=[0.5, 1, 2, 0.25, 3])
    yield learn(case, 40, 41, kind="unlearn", weights=[0.5])
    for i in range(45, 60):
        yield learn(case, i)


def expected(case, changes):
    """The library's own model after these changes."""
    model = case.model.from_fitted(case.model.fitted_)
    for each in changes:
        rows = each.rows.combine_chunks()
        X = rows["text"].to_pylist() if rows.column_names == ["text"] else rows.to_pandas()
        verb = model.partial_fit if each.kind == "learn" else model.remove
        verb(X, each.labels, sample_weight=each.weights)
    return model


# ---------------------------------------------------------------------- what is learned


@pytest.mark.parametrize("name", LEARNING)
def test_the_model_is_that_of_the_library_and_survives_bit_for_bit(name, opened, tmp_path):
    case = case_of(name)
    learner = opened(case)
    changes = list(changes_of(case))
    receipts = [result(learner, each) for each in changes]
    assert [each.sequence for each in receipts] == list(range(1, len(changes) + 1))
    assert receipts[-1].weight == learner.model.fitted_.model.weights.weight.sum()
    alone = expected(case, changes)
    rows = case.rows["text"].to_pylist() if name == "texts" else case.rows.to_pandas()
    np.testing.assert_allclose(learner.model.predict_proba(rows), alone.predict_proba(rows), rtol=0, atol=1e-12)
    np.testing.assert_allclose(learner.model.class_count_, alone.class_count_, rtol=1e-12)
    before, folder = state(learner), killed(learner, tmp_path)
    learner.close()
    replayed, restored = opened(case, folder), opened(case)
    assert (replayed.replayed, restored.replayed) == (len(changes), 0)
    assert state(replayed) == before
    assert state(restored) == before
    for each in (replayed, restored):  # what is learned next is the same, too
        result(each, learn(case, 0, 5))
    assert state(replayed) == state(restored)
    assert replayed.version == restored.version == len(changes) + 1


@pytest.mark.parametrize("name", ["numbers", "shared covariance", "drop-in"])
def test_models_of_arrays_read_columns_by_position(name, opened, tmp_path):
    case = case_of(name, positional=True)
    learner = opened(case)
    for start in (0, 1, 2, 3):
        result(learner, learn(case, start, start + 1 + start))
    alone = case.model.from_fitted(case.model.fitted_)
    array = np.column_stack(case.rows.columns)
    for start in (0, 1, 2, 3):
        alone.partial_fit(array[start : 2 * start + 1], case.labels[start : 2 * start + 1])
    assert state(learner) == alone.to_bytes()
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def test_models_of_frames_whose_names_are_not_texts(opened, tmp_path):
    case = case_of("numbers")
    X = case.rows.to_pandas().set_axis(range(case.rows.num_columns), axis=1)
    case.model = NaiveBayes().fit(X, case.labels)
    alone = case.model.from_fitted(case.model.fitted_)
    learner = opened(case)
    sent = case.rows.rename_columns([str(i) for i in range(case.rows.num_columns)])
    for start, stop in ((0, 1), (1, 3)):
        result(learner, Change("learn", sent.slice(start, stop - start), case.labels[start:stop]))
        alone.partial_fit(X[start:stop], case.labels[start:stop])
    np.testing.assert_allclose(learner.model.predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-12)
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def test_changes_that_wait_are_applied_together_and_replayed_so(opened, tmp_path):
    case = case_of("mixed")
    learner = opened(case)
    futures = together(learner, [learn(case, i, key=str(i)) for i in range(20)])
    receipts = [each.result(WAIT) for each in futures]
    assert [each.sequence for each in receipts] == list(range(1, 21))
    assert {each.version for each in receipts} == {20}
    assert os.path.getsize(log_path(learner._folder.path, 1)) < 20 * 600  # one batch of Arrow, not 20
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def test_columns_that_the_model_does_not_know_are_ignored(opened, tmp_path):
    case = case_of("mixed")
    learner, plain = opened(case), opened(case, "plain")
    rows = case.rows.append_column("note", pa.array(["long " * 50] * 60)).select(
        ["note", *case.rows.column_names[::-1]]
    )
    result(learner, Change("learn", rows, case.labels))
    result(plain, learn(case, 0, 60))
    assert state(learner) == state(plain)
    with open(log_path(learner._folder.path, 1), "rb") as file:
        assert b"note" not in file.read()


def test_the_prior_changes_and_survives(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case)
    prior = {"ham": 0.5, "spam": 0.3, "other": 0.2}
    assert result(learner, Change("prior", prior=prior, key="p")).rows == 0
    result(learner, learn(case, 0))
    assert learner.model.class_prior_.tolist() == [0.5, 0.2, 0.3]
    again = opened(case, killed(learner, tmp_path))
    assert state(again) == state(learner)
    result(again, Change("prior", prior="uniform"))
    assert again.model.class_prior_.tolist() == [1 / 3] * 3


def test_a_model_that_was_taken_stays_as_it_is(opened):
    case = case_of("numbers")
    learner = opened(case)
    model = learner.model
    before = model.to_bytes()
    result(learner, learn(case, 0, 60))
    assert (model.to_bytes(), learner.version) == (before, 1)
    assert case.model.to_bytes() == before


def test_a_learned_row_can_be_undone(opened):
    case = case_of("mixed")
    learner = opened(case)
    before = learner.model.class_count_.tolist()
    result(learner, learn(case, 0, 10))
    result(learner, learn(case, 0, 10, "unlearn"))
    assert learner.model.class_count_.tolist() == before


def test_integers_that_floats_cannot_hold(opened, tmp_path):
    case = case_of("mixed")
    learner = opened(case)
    for numbers in ([1, 2], [2**53 + 1, 3], [None, 4]):
        rows = case.rows.slice(0, 2).set_column(4, "zip", pa.array(numbers, pa.int64()))
        result(learner, Change("learn", rows, ["ham", "spam"]))
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def test_a_text_is_learned_whatever_its_column_is_called(opened, tmp_path):
    case = case_of("texts")
    learner, other = opened(case), opened(case, "other")
    result(learner, learn(case, 0, 2))
    result(other, Change("learn", case.rows.slice(0, 2).rename_columns(["mail"]), case.labels[:2]))
    assert state(other) == state(learner)


def test_many_bytes_are_committed_in_parts(opened, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "MOST_BYTES", 500)
    case = case_of("numbers")
    learner = opened(case)
    futures = together(learner, [learn(case, i, i + 5, key=str(i)) for i in range(50)])
    assert [each.result(WAIT).sequence for each in futures] == list(range(1, 51))
    assert len({each.result().version for each in futures}) > 5
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


# ---------------------------------------------------------------------- what is refused


def test_a_refused_change_fails_alone(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case)
    infinite = case.rows.slice(0, 1).set_column(1, "x1", pa.array([np.inf]))
    never = Change("unlearn", case.rows.slice(0, 1), ["nobody"])
    futures = together(learner, [learn(case, 0), Change("learn", infinite, ["ham"]), learn(case, 1), never])
    assert [futures[i].result(WAIT).sequence for i in (0, 2)] == [1, 2]
    with pytest.raises(InputError) as caught:
        futures[1].result(WAIT)
    assert (caught.value.column, caught.value.rows) == ("x1", [0])
    with pytest.raises(MergeError, match="Rows of class 'nobody' cannot be removed"):
        futures[3].result(WAIT)
    assert state(learner) == expected(case, [learn(case, 0), learn(case, 1)]).to_bytes()
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


@pytest.mark.parametrize(
    ("facts", "match", "argument"),
    [
        ({"labels": ["ham"]}, "There are 2 rows, but 1 labels", "labels"),
        ({"labels": None}, "needs rows and their labels", "labels"),
        ({"labels": ["ham", 1]}, "The labels are not values of one type", "labels"),
        ({"labels": [["ham"], ["spam"]]}, r"The labels are of type list<item: string>; give one value", "labels"),
        ({"labels": ["ham", None]}, "y has no label in row 1", None),
        ({"weights": [1.0]}, "There are 2 rows, but 1 weights", "weights"),
        ({"weights": ["a", "b"]}, "The weights are not numbers", "weights"),
        ({"weights": [1.0, -1.0]}, "Negative values in data", None),
        ({"labels": ["ham", "eggs"]}, "Row 1 has the label 'eggs', which is not a class of the model", None),
        ({"labels": [0, 1]}, "Row 0 has the label 0, 1, which is not a class", None),
        ({"rows": "no rows", "labels": []}, "holds no rows", "rows"),
        ({"rows": "no column"}, "The rows have no column 'size', which the model was fitted with", None),
        ({"rows": "two columns"}, "There are 2 columns 'size'; give one", None),
        ({"rows": "texts"}, "Column 'size'", None),
        ({"kind": "prior", "prior": {"ham": 1.0}}, "has no probability for 'other', 'spam'", None),
        ({"kind": "prior"}, "needs a prior", "prior"),
        ({"kind": "prior", "prior": 7}, "must be 'data', 'uniform', or", "prior"),
        ({"key": ""}, "A key has 1 to 255 bytes", "key"),
        ({"key": "ä" * 128}, "A key has 1 to 255 bytes", "key"),
        ({"key": "k\ud800"}, "half of a surrogate pair at position 1", "key"),
    ],
)
def test_bad_changes_are_sentences(opened, facts, match, argument):
    case = case_of("mixed")
    learner = opened(case)
    rows = {
        "no rows": case.rows.slice(0, 0),
        "no column": case.rows.slice(0, 2).drop_columns(["size"]),
        "two columns": case.rows.slice(0, 2).append_column("size", pa.array([1.0, 2.0])),
        "texts": case.rows.slice(0, 2).set_column(0, "size", pa.array(["a", "b"])),
    }.get(facts.get("rows"), case.rows.slice(0, 2))
    change = {"kind": "learn", "labels": ["ham", "spam"], **facts, "rows": rows}
    with pytest.raises((InputError, ClassError, ValueError), match=match) as caught:
        result(learner, Change(**change))
    assert getattr(caught.value, "argument", None) == argument or argument is None
    assert problem_of(caught.value).status == 422
    assert (learner.version, state(learner)) == (0, case.model.to_bytes())


def test_new_classes_are_learned_if_that_is_allowed(opened, tmp_path):
    case = case_of("mixed")
    learner = opened(case, new_classes=True)
    result(learner, Change("learn", case.rows.slice(0, 2), ["eggs", "ham"]))
    assert learner.model.classes_.tolist() == ["eggs", "ham", "other", "spam"]
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def test_a_class_whose_rows_were_unlearned_can_be_learned_again(opened):
    rows, labels = pa.table({"x": [1.0, 3.0, 10.0]}), ["a", "a", "b"]
    case = case_of("numbers")
    case.model = NaiveBayes().fit(rows.to_pandas(), labels)
    learner = opened(case)
    result(learner, Change("unlearn", rows.slice(2), ["b"]))
    assert learner.model.classes_.tolist() == ["a"]
    result(learner, Change("learn", rows.slice(2), ["b"]))
    assert learner.model.classes_.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="These are all the rows of the model"):
        result(learner, Change("unlearn", rows, labels))


# ---------------------------------------------------------------------- keys


def test_a_model_that_could_not_predict_is_not_made(opened, tmp_path):
    case = case_of("shared covariance")
    case.model = GaussianDiscriminant().fit(case.rows.slice(0, 4).to_pandas(), ["a", "a", "b", "b"])
    learner = opened(case)
    first, second = (Change("unlearn", case.rows.slice(i, 1), [label]) for i, label in ((0, "a"), (2, "b")))
    result(learner, first)
    before = state(learner)
    with pytest.raises(InputError, match="could not predict any more, so nothing was unlearned: No column varies"):
        result(learner, second)
    assert state(learner) == before
    assert state(opened(case, killed(learner, tmp_path))) == before


def test_errors_of_other_libraries_are_refusals(opened, caplog):
    case = case_of("drop-in")  # scikit-learn's estimators have fixed classes
    learner = opened(case, new_classes=True)
    with pytest.raises(InputError, match="The rows cannot be learned: The target label"):
        result(learner, Change("learn", case.rows.slice(0, 1), ["egg"]))
    assert "without a sentence of its own" in caplog.text
    assert learner.version == 0


def test_a_repeated_request_is_made_once(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case, bounds=Bounds(log_changes=3))
    first = result(learner, learn(case, 0, 4, key="k", digest=b"1"))
    repeated = Receipt(1, 4, 1, True, first.weight)
    for i in range(8):
        assert result(learner, learn(case, 0, 4, key="k", digest=b"1")) == repeated
        result(learner, learn(case, i))
    again = opened(case, killed(learner, tmp_path))
    assert result(again, learn(case, 0, 4, key="k", digest=b"1")) == repeated
    learner.close()
    again = opened(case)
    assert result(again, learn(case, 0, 4, key="k", digest=b"1")) == repeated
    with pytest.raises(Problem, match="another body") as caught:
        result(again, learn(case, 0, 4, key="k", digest=b"2"))
    assert (caught.value.status, again.version) == (409, 9)


def test_requests_with_the_same_key_at_the_same_time(opened):
    case = case_of("numbers")
    learner = opened(case)
    same = [learn(case, 0, key="k", digest=b"1") for _ in range(3)]
    futures = together(learner, [*same, learn(case, 1, key="k", digest=b"2"), learn(case, 2, key="other")])
    assert [futures[i].result(WAIT).repeated for i in (0, 1, 2)] == [False, True, True]
    assert futures[4].result(WAIT).sequence == 2
    with pytest.raises(Problem, match="another body"):
        futures[3].result(WAIT)
    assert learner.version == 2


def test_a_key_of_a_refused_request_is_free(opened):
    case = case_of("numbers")
    learner = opened(case)
    wrong = Change("learn", case.rows.slice(0, 1), ["nobody"], key="k", digest=b"1")
    futures = together(learner, [wrong, learn(case, 0, key="k", digest=b"1")])
    with pytest.raises(ClassError):
        futures[0].result(WAIT)
    assert futures[1].result(WAIT) == Receipt(1, 1, 1, False, 301.0)


def test_a_cancelled_request_is_not_made(opened):
    case = case_of("numbers")
    learner = opened(case)
    with learner._arrived:
        futures = [learner.submit(learn(case, i)) for i in range(3)]
        assert futures[1].cancel()
    assert [futures[i].result(WAIT).sequence for i in (0, 2)] == [1, 2]
    with pytest.raises(CancelledError):
        futures[1].result(WAIT)
    with learner._arrived:
        assert learner.submit(learn(case, 0)).cancel()
    assert result(learner, learn(case, 3)).sequence == 3


# ---------------------------------------------------------------------- the folder


def test_logs_are_replaced_by_snapshots(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case, bounds=Bounds(log_changes=10))
    seen = set()
    for i in range(200):
        result(learner, learn(case, i % 60))
        contents = Contents.of(learner._folder.path)
        seen |= set(contents.models)
        assert len(contents.logs) <= 3
        assert len(contents.models) <= 2
    assert len(seen) >= 3
    again = opened(case, killed(learner, tmp_path))
    assert state(again) == state(learner)
    assert again.replayed < 200
    learner.close()
    assert Contents.of(learner._folder.path) == Contents((201,), (200,), (200,))


def test_logs_are_bounded_by_their_size(opened):
    case = case_of("numbers")
    learner = opened(case, bounds=Bounds(log_bytes=20_000))
    for i in range(0, 240, 4):
        result(learner, learn(case, i % 60, i % 60 + 4))
        files = Contents.of(learner._folder.path).logs
        sizes = [os.path.getsize(log_path(learner._folder.path, first)) for first in files]
        assert sum(sizes) <= 80_000 + 2_000
    assert Contents.of(learner._folder.path).models


def test_closing_finishes_what_waits(opened):
    case = case_of("numbers")
    learner = opened(case)
    futures = together(learner, [learn(case, i) for i in range(50)])
    learner.close()
    assert [each.result(0).sequence for each in futures] == list(range(1, 51))
    with pytest.raises(Problem, match="is closing") as caught:
        result(learner, learn(case, 0))
    assert caught.value.status == 503
    learner.close()
    assert [each.name for each in threading.enumerate() if each.name.startswith("suffice-")] == []
    again = opened(case)
    assert (again.version, again.replayed) == (50, 0)


def test_a_folder_belongs_to_one_server(opened, monkeypatch):
    monkeypatch.setattr(state_folder, "ENDING", 0.1)
    case = case_of("numbers")
    learner = opened(case)
    with pytest.raises(ModelFileError, match=rf"Another server \(process {os.getpid()}\) learns in the folder"):
        opened(case)
    learner.close()
    opened(case)


def test_a_server_that_ends_may_release_its_folder_late(opened):
    case = case_of("numbers")
    learner = opened(case)
    late = threading.Timer(0.2, learner.close)
    late.start()
    opened(case)
    late.join()


def removed(folder, away):
    shutil.rmtree(folder)


def replaced(folder, away):
    shutil.copytree(folder, away)
    shutil.rmtree(folder)
    shutil.copytree(away, folder)


def lock_replaced(folder, away):
    os.replace(folder / "lock", away)
    (folder / "lock").write_bytes(b"")


def log_removed(folder, away):
    os.replace(folder / "log-00000000000000000001", away)


@pytest.mark.parametrize("harm", [removed, replaced, os.rename, lock_replaced, log_removed])
def test_rows_are_not_learned_into_a_folder_that_is_not_there(opened, tmp_path, harm, caplog):
    case = case_of("numbers")
    learner = opened(case)
    result(learner, learn(case, 0))
    before = state(learner)
    assert learner.trouble is None
    harm(tmp_path / "state", tmp_path / "away")
    with pytest.raises(Problem, match="was removed, moved or replaced while the server was running") as caught:
        result(learner, learn(case, 1, key="lost"))
    assert caught.value.status == 503
    assert learner.trouble == str(caught.value)
    assert (learner.version, state(learner)) == (1, before)
    left = sorted(os.listdir(tmp_path / "state")) if (tmp_path / "state").exists() else None
    learner.close()
    assert "is lost unless the folder is put back" in caplog.text
    assert left == (sorted(os.listdir(tmp_path / "state")) if (tmp_path / "state").exists() else None)


def test_a_folder_that_is_put_back_is_used_again(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case)
    result(learner, learn(case, 0))
    (tmp_path / "state").rename(tmp_path / "away")
    assert isinstance(learner.submit(learn(case, 1, key="k")).exception(WAIT), Problem)
    (tmp_path / "away").rename(tmp_path / "state")
    assert result(learner, learn(case, 2, key="k")) == Receipt(2, 1, 2, False, 302.0)
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def test_no_snapshot_is_written_into_the_folder_of_another_server(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case, bounds=Bounds(log_changes=2))
    result(learner, learn(case, 0))
    (tmp_path / "state").rename(tmp_path / "away")
    other = opened(case)
    assert isinstance(learner.submit(learn(case, 1)).exception(WAIT), Problem)
    learner.close()
    assert Contents.of(str(tmp_path / "state")) == Contents((1,), (), ())
    result(other, learn(case, 5))


def test_a_folder_belongs_to_one_model_file(opened):
    case, other = case_of("numbers"), case_of("shared covariance")
    learner = opened(case)
    result(learner, learn(case, 0))
    with pytest.raises(ModelFileError, match="Another server"):
        opened(other)
    for _ in range(2):  # first a log, then a snapshot
        learner.close()
        with pytest.raises(ModelFileError, match=r"holds what another model file has learned \(SHA-256") as caught:
            opened(other)
        assert caught.value.file == learner._folder.path
        learner = opened(case)
        result(learner, learn(case, 1))


def test_a_change_that_cannot_be_repeated_is_an_error(opened, tmp_path):
    case, other = case_of("numbers"), case_of("mixed")
    learner = opened(case)
    result(learner, learn(case, 0))
    folder = str(tmp_path / killed(learner, tmp_path))
    with pytest.raises(
        ModelFileError, match="Change 1 of the log cannot be repeated, although the model had learned it"
    ):
        Learner.open(folder, other.model, base=base_of(case.model))


def test_a_folder_of_a_newer_version(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case)
    folder = tmp_path / killed(learner, tmp_path)
    Journal.create(log_path(str(folder), 1), {"format": 2, "library": "99.0"}).close()
    with pytest.raises(ModelFileError, match=r"another Suffice \(version 99\.0\) in format 2"):
        opened(case, "killed")


def test_folders_that_cannot_be_used(opened, tmp_path):
    case = case_of("numbers")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelFileError, match="is not a folder"):
        opened(case, "file")
    with pytest.raises(ModelFileError, match="cannot be used: no such file or directory"):
        opened(case, "nowhere/state")
    with pytest.raises(ModelFileError, match="cannot be used: no such file or directory"):
        opened(case, "/proc/suffice")
    with pytest.raises(ModelFileError, match="cannot be used: embedded null"):
        opened(case, "a\0b")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(ModelFileError, match=r"Every user of this machine can write .* Run chmod o-w"):
        opened(case, "open")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "lock").symlink_to(tmp_path / "file")
    with pytest.raises(ModelFileError, match="cannot be used: too many levels of symbolic links"):
        opened(case, "links")
    assert opened(case).version == 0
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def three_logs(opened, case):
    """A folder with three logs and no snapshot, which cannot be written."""
    learner = opened(case, bounds=Bounds(log_changes=3))
    for sequence in (3, 6):
        os.mkdir(model_path(learner._folder.path, sequence))
    for i in range(8):
        result(learner, learn(case, i))
        if i in (2, 5):
            wait_until(lambda: is_idle(learner))
            assert learner._log._pending[1].sequence == i + 1
    for sequence in (3, 6):
        os.rmdir(model_path(learner._folder.path, sequence))
    return learner


def test_snapshots_that_fail_do_not_stop_learning(opened, tmp_path, caplog):
    case = case_of("numbers")
    learner = three_logs(opened, case)
    assert caplog.text.count("No snapshot of the model in") == 1
    contents = Contents.of(learner._folder.path)
    assert len(contents.logs) >= 3
    assert contents.models == ()
    again = opened(case, killed(learner, tmp_path))
    assert (again.version, again.replayed, state(again)) == (8, 8, state(learner))
    result(learner, learn(case, 8))
    learner.close()
    assert Contents.of(learner._folder.path) == Contents((10,), (9,), (9,))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_missing_log_is_named(opened, tmp_path, which):
    case = case_of("numbers")
    learner = three_logs(opened, case)
    folder = tmp_path / killed(learner, tmp_path)
    first = Contents.of(str(folder)).logs[which]
    os.unlink(log_path(str(folder), first))
    with pytest.raises(ModelFileError, match="is missing: the folder has changes before") as caught:
        opened(case, "killed")
    assert caught.value.file == log_path(str(folder), first)


@pytest.mark.parametrize("first", [3, 4])
def test_a_log_that_was_only_begun_is_removed(opened, tmp_path, first):
    case = case_of("numbers")
    learner = opened(case)
    for i in range(3):
        result(learner, learn(case, i))
    folder = str(tmp_path / killed(learner, tmp_path))
    create_log(folder, first, base_of(case.model)).close()
    again = opened(case, "killed")
    assert (state(again), Contents.of(folder).logs) == (state(learner), (1,))
    assert result(again, learn(case, 3)).sequence == 4


def test_the_log_after_a_snapshot_must_be_there(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case)
    result(learner, learn(case, 0))
    learner.close()
    os.unlink(log_path(learner._folder.path, 2))
    with pytest.raises(ModelFileError, match="is missing"):
        opened(case)


def test_a_torn_end_is_cut_off_and_damage_is_an_error(opened, tmp_path, caplog):
    case = case_of("numbers")
    learner = opened(case)
    states = [state(learner)]
    for i in range(3):
        result(learner, learn(case, i))
        states.append(state(learner))
    folder = tmp_path / killed(learner, tmp_path)
    path = log_path(str(folder), 1)
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 7)
    again = opened(case, "killed")
    assert again.torn > 0
    assert f"ended with {again.torn} bytes of a change that was not finished" in caplog.text
    assert (again.version, state(again)) == (2, states[2])
    assert result(again, learn(case, 2)).sequence == 3
    assert state(again) == states[3]
    again.close()
    folder = tmp_path / killed(learner, tmp_path, "damaged")
    path = log_path(str(folder), 1)
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(ModelFileError, match="is damaged: the frame at byte"):
        opened(case, "damaged")


def test_a_damaged_log_before_others_is_an_error(opened, tmp_path):
    case = case_of("numbers")
    folder = tmp_path / killed(three_logs(opened, case), tmp_path)
    path = log_path(str(folder), 1)
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 70)
    with pytest.raises(ModelFileError, match=r"is (damaged|missing)"):
        opened(case, "killed")


def test_a_snapshot_that_is_damaged_is_an_error(opened):
    case = case_of("numbers")
    learner = opened(case)
    result(learner, learn(case, 0))
    learner.close()
    path = model_path(learner._folder.path, 1)
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x99")
    with pytest.raises(ModelFileError, match="is damaged: its content does not match its checksum") as caught:
        opened(case)
    assert caught.value.file == path


# ---------------------------------------------------------------------- threads that fail


def test_learning_goes_on_if_no_thread_can_be_started(opened, tmp_path, monkeypatch, caplog):
    case = case_of("numbers")
    learner = opened(case, bounds=Bounds(log_changes=2, retry_seconds=0))
    start, refused = threading.Thread.start, []

    def no_thread(thread):
        if thread.name == "suffice-snapshot" and len(refused) < 3:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    for i in range(8):
        assert result(learner, learn(case, i)).sequence == i + 1
    wait_until(lambda: is_idle(learner))
    assert "can't start new thread" in caplog.text
    assert Contents.of(learner._folder.path).models
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def test_a_mistake_that_ends_learning_is_told_to_all_who_wait(opened, caplog, monkeypatch):
    case = case_of("numbers")
    learner = opened(case)
    result(learner, learn(case, 0))

    def mistake(state):
        raise ValueError("a mistake")

    monkeypatch.setattr(learner._log, "keep_short", mistake)
    monkeypatch.setattr(learning, "MOST_CHANGES", 2)
    futures = together(learner, [learn(case, i) for i in range(1, 5)])
    assert [futures[i].result(WAIT).sequence for i in (0, 1)] == [2, 3]
    for future in (futures[2], futures[3], learner.submit(learn(case, 5))):
        problem = future.exception(WAIT)
        assert (problem.status, "Restart the server" in problem.detail) == (503, True)
    assert learner.trouble == problem.detail
    assert "a mistake" in caplog.text
    learner.close()
    assert opened(case).replayed == 3


# ---------------------------------------------------------------------- disks that fail


def with_descriptor(learner, path, flags):
    other = path if isinstance(path, int) else os.open(path, flags)
    os.dup2(other, learner._log._journal._descriptor)
    os.close(other)


def test_a_full_disk_refuses_changes_and_learning_goes_on_when_there_is_space(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case)
    result(learner, learn(case, 0, key="before"))
    before = state(learner)
    with_descriptor(learner, "/dev/full", os.O_WRONLY)
    obstacle = model_path(learner._folder.path, 1)
    os.mkdir(obstacle)  # nor can a snapshot be written
    for each in together(learner, [learn(case, 1, key="lost"), learn(case, 2)]):
        with pytest.raises(OSError) as caught:  # noqa: PT011 - its number is compared
            each.result(WAIT)
        assert caught.value.errno == errno.ENOSPC
        assert problem_of(caught.value).status == 507
    with pytest.raises(Problem, match="no snapshot of the model can be written") as caught:
        result(learner, learn(case, 3))
    assert caught.value.status == 503
    assert (learner.version, state(learner)) == (1, before)
    assert result(learner, learn(case, 0, key="before")).repeated
    os.rmdir(obstacle)
    assert result(learner, learn(case, 1, key="lost")) == Receipt(2, 1, 2, False, 302.0)
    again = opened(case, killed(learner, tmp_path))
    assert (again.version, state(again)) == (2, state(learner))


def test_a_sync_that_fails_is_not_trusted(opened, tmp_path):
    case = case_of("numbers")
    learner = opened(case)
    result(learner, learn(case, 0))
    reading, writing = os.pipe()
    with_descriptor(learner, writing, 0)
    with pytest.raises(OSError, match="Invalid argument"):
        result(learner, learn(case, 1))
    os.close(reading)
    assert Contents.of(learner._folder.path) == Contents((1,), (), ())
    assert result(learner, learn(case, 2)).sequence == 2
    assert Contents.of(learner._folder.path) == Contents((2,), (1,), (1,))  # a new log after a snapshot
    assert state(opened(case, killed(learner, tmp_path))) == state(learner)


def no_folder_syncs(number, calls):
    """A sync that fails for folders."""
    fsync = os.fsync

    def failing(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            calls.append(os.readlink(f"/proc/self/fd/{descriptor}"))
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    return failing


def test_a_folder_that_cannot_be_synced_is_not_used(opened, tmp_path, monkeypatch):
    case, calls = case_of("numbers"), []
    (tmp_path / "state").mkdir(0o700)  # a server that was killed may not have synced the folder above
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_folder_syncs(errno.EIO, calls))
        with pytest.raises(ModelFileError, match=r"cannot be used: input/output error"):
            opened(case)
    assert calls == [str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_folder_syncs(errno.EINVAL, calls))  # some file systems cannot do it
        learner = opened(case)
        assert result(learner, learn(case, 0)).sequence == 1
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_folder_syncs(errno.EIO, calls))
        learner.close()  # a snapshot that may not survive replaces nothing
    assert Contents.of(learner._folder.path).logs[0] == 1
    assert state(opened(case)) == state(learner)


@pytest.mark.parametrize("cut", [True, False])
def test_a_log_that_could_not_be_continued(opened, tmp_path, monkeypatch, cut):
    case = case_of("numbers")
    learner = opened(case, bounds=Bounds(log_changes=2, retry_seconds=0 if cut else 1000))
    result(learner, learn(case, 0))
    wait_until(lambda: is_idle(learner))
    sync, truncate, calls = journal.sync_file, os.ftruncate, []

    def failing(descriptor, *size):
        calls.append(descriptor)
        if size or len(calls) == 2:  # the sync of the frame that says that another log continues this one
            raise OSError(errno.EIO, "Input/output error")
        sync(descriptor)

    monkeypatch.setattr(journal, "sync_file", failing)
    if not cut:
        monkeypatch.setattr(os, "ftruncate", failing)
    assert result(learner, learn(case, 1)).sequence == 2
    wait_until(lambda: is_idle(learner))
    monkeypatch.setattr(os, "ftruncate", truncate)
    folder = str(tmp_path / killed(learner, tmp_path))
    assert Contents.of(folder).logs == (1, 3)
    again = opened(case, "killed")
    assert (again.version, state(again)) == (2, state(learner))
    assert Contents.of(folder).logs == ((1,) if cut else (1, 3))
    for i in range(2, 5):
        assert result(learner, learn(case, i)).sequence == i + 1
    assert state(opened(case, killed(learner, tmp_path, "later"))) == state(learner)


def test_an_empty_log_within_others_is_removed(opened, tmp_path):
    case = case_of("numbers")
    learner = three_logs(opened, case)
    folder = str(tmp_path / killed(learner, tmp_path))
    firsts = Contents.of(folder).logs
    create_log(folder, firsts[1] - 1, base_of(case.model)).close()
    assert state(opened(case, "killed")) == state(learner)
    assert Contents.of(folder).logs == firsts


def test_logs_do_not_grow_without_end_if_no_snapshot_can_be_written(opened):
    case = case_of("numbers")
    learner = opened(case, bounds=Bounds(log_bytes=3_000, retry_seconds=0))
    folder = learner._folder.path
    obstacles = [model_path(folder, sequence) for sequence in range(1, 80)]
    for each in obstacles:
        os.mkdir(each)
    refused = 0
    for i in range(60):
        problem = learner.submit(learn(case, i)).exception(WAIT)
        if problem is not None:
            assert problem_of(problem).status == 503
            refused += 1
    assert 30 < refused < 60
    sizes = [os.path.getsize(log_path(folder, first)) for first in Contents.of(folder).logs]
    assert sum(sizes) <= 4 * 3_000 + 2_000
    for each in obstacles:
        os.rmdir(each)
    assert result(learner, learn(case, 0)).sequence == 61 - refused
