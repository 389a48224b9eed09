"""Snapshots: a model file and the receipts of requests, which replace what was written before."""

import os

import pytest

from suffice import ModelFileError, NaiveBayes, load
from suffice.server.log.changes import Receipt
from suffice.server.log.journal import Journal
from suffice.server.log.receipts import MOST_KEYS, Receipts, StoredReceipts, read_receipts, write_receipts
from suffice.server.log.snapshots import Contents, keys_path, log_path, model_path, read_snapshot, write_snapshot
from suffice.server.problems import Problem

RECEIPTS = [
    ("one", b"\x00\xff", Receipt(3, 10, 5, False, 12.5)),
    ("zwei – 二", b"", Receipt(5, 1, 5, False, 1 / 3)),
]


@pytest.fixture
def fitted():
    return NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).fitted_


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path)


@pytest.mark.parametrize("receipts", [RECEIPTS, []])
def test_receipts_are_read_as_they_were_written(folder, receipts):
    path = os.path.join(folder, "keys")
    stored = StoredReceipts(7, "base", receipts)
    write_receipts(path, stored)
    assert read_receipts(path) == stored


def test_damaged_receipts_are_refused(folder):
    path = os.path.join(folder, "keys")
    write_receipts(path, StoredReceipts(7, "base", RECEIPTS))
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x7f")
    with pytest.raises(ModelFileError, match="is damaged: its content does not match its checksum"):
        read_receipts(path)


def test_the_oldest_keys_are_forgotten():
    receipts = Receipts(2)
    for key in "abc":
        receipts.add(key, b"", Receipt(1, 1, 1, False, 1.0))
    assert [key for key, _, _ in receipts.all()] == ["b", "c"]
    assert receipts.find("a", b"") is None
    assert MOST_KEYS == 100_000


def test_a_repeated_key_has_the_receipt_of_the_first_request():
    receipts = Receipts(known=RECEIPTS)
    assert receipts.find("one", b"\x00\xff") == Receipt(3, 10, 5, True, 12.5)
    with pytest.raises(Problem, match="another body") as caught:
        receipts.find("one", b"\x00")
    assert caught.value.status == 409


def test_a_snapshot_is_a_model_file(folder, fitted):
    write_snapshot(folder, fitted, StoredReceipts(4, "base", RECEIPTS))
    assert load(model_path(folder, 4)).class_count_.tolist() == [2, 2]
    found = read_snapshot(folder, 4)
    assert found.stored.receipts == RECEIPTS
    assert found.fitted.model.weights.weight.tolist() == [2, 2]


def test_a_snapshot_replaces_what_is_older(folder, fitted):
    for first in (1, 5, 9):
        Journal.create(log_path(folder, first), {"format": 1}).close()
    write_snapshot(folder, fitted, StoredReceipts(4, "base", []))
    assert Contents.of(folder) == Contents((5, 9), (4,), (4,))
    write_snapshot(folder, fitted, StoredReceipts(8, "base", []))
    assert Contents.of(folder) == Contents((9,), (8,), (8,))


def test_the_last_log_stays_until_there_is_a_later_one(folder, fitted):
    Journal.create(log_path(folder, 1), {"format": 1}).close()
    write_snapshot(folder, fitted, StoredReceipts(4, "base", []))
    assert Contents.of(folder).logs == (1,)


def test_other_files_of_the_folder_stay(folder, fitted, tmp_path):
    (tmp_path / "log-1").write_text("notes of a person")
    write_snapshot(folder, fitted, StoredReceipts(4, "base", []))
    assert (tmp_path / "log-1").exists()
    assert Contents.of(folder) == Contents((), (4,), (4,))


def test_a_snapshot_without_its_receipts_is_refused(folder, fitted):
    write_snapshot(folder, fitted, StoredReceipts(4, "base", []))
    os.rename(keys_path(folder, 4), keys_path(folder, 5))
    with pytest.raises(ModelFileError, match=r"There is no file .*0004\.keys"):
        read_snapshot(folder, 4)
    os.rename(model_path(folder, 4), model_path(folder, 5))
    with pytest.raises(ModelFileError, match="belongs to snapshot 4"):
        read_snapshot(folder, 5)
