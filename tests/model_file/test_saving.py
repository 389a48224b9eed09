"""A file is replaced completely or not at all."""

import errno
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from model_file.cases import labels, numbers
from suffice import GaussianDiscriminant, ModelFileError, load
from suffice.model_file import disk
from suffice.model_file.disk import replacing
from suffice.naive_bayes import MultinomialNB

KILLS = 60


def two_models():
    x, y = numbers(), labels()
    return GaussianDiscriminant().fit(x, y), GaussianDiscriminant("own").fit(x, y)


def test_a_failed_save_changes_nothing(tmp_path, monkeypatch):
    first, second = two_models()
    path = tmp_path / "model"
    first.save(path)
    before = path.read_bytes()
    failures = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
    for step in ("fsync", "replace"):
        for failure in failures:

            def fail(*_, failure=failure):
                raise failure

            with monkeypatch.context() as patch:
                patch.setattr(os, step, fail)
                expected = ModelFileError if isinstance(failure, OSError) else KeyboardInterrupt
                with pytest.raises(expected) as caught:
                    second.save(path)
            if expected is ModelFileError:
                assert "no space left on device. Nothing was changed;" in str(caught.value)
            assert path.read_bytes() == before
            assert os.listdir(tmp_path) == ["model"]


def test_a_folder_that_cannot_be_synced(tmp_path, monkeypatch):
    first, second = two_models()
    path = tmp_path / "model"
    first.save(path)
    fsync = os.fsync

    def fail(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    number = errno.EIO
    with pytest.raises(ModelFileError, match=r"was written to .* but it may not survive a power failure"):
        second.save(path)
    assert path.read_bytes() == second.to_bytes()
    number = errno.EINVAL  # some file systems cannot do it
    first.save(path)
    assert path.read_bytes() == first.to_bytes()


def test_paths_that_cannot_be_saved_to(tmp_path):
    model, _ = two_models()
    with pytest.raises(ModelFileError, match="the path is a folder, not a file") as caught:
        model.save(tmp_path)
    assert caught.value.file == str(tmp_path)
    with pytest.raises(ModelFileError, match="no such file or directory"):
        model.save(tmp_path / "none" / "model")
    with pytest.raises(ModelFileError, match="the path is a folder"):
        model.save("")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="the path is a pipe"):
        model.save(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="null"):
        model.save("a\0b")
    os.symlink("loop", tmp_path / "loop")
    with pytest.raises(ModelFileError, match="symbolic links"):
        model.save(tmp_path / "loop")
    assert sorted(os.listdir(tmp_path)) == ["loop", "pipe"]
    if os.geteuid():
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(ModelFileError, match="permission denied"):
            model.save(tmp_path / "locked" / "model")


def test_links_and_permissions(tmp_path, monkeypatch):
    first, second = two_models()
    (tmp_path / "there").mkdir()
    os.symlink("there/model", tmp_path / "link")
    first.save(tmp_path / "link")  # the target does not exist yet
    mask = os.umask(0)
    os.umask(mask)
    assert os.stat(tmp_path / "there" / "model").st_mode & 0o777 == 0o666 & ~mask
    os.chmod(tmp_path / "there" / "model", 0o640)
    second.save(str(tmp_path / "link"))
    assert os.path.islink(tmp_path / "link")
    assert os.stat(tmp_path / "there" / "model").st_mode & 0o777 == 0o640
    assert load(tmp_path / "link").covariance == "own"
    monkeypatch.chdir(tmp_path)
    first.save("model")
    first.save(os.fsencode("bytes"))
    assert load("bytes").covariance == "shared"


SAVING = """
import os, random, signal, sys, time
import suffice
target, kills, *paths = sys.argv[1:]
models = [suffice.load(path) for path in paths]
whole = [model.feature_count_.tobytes() for model in models]
start = time.perf_counter()
for i in range(8):
    models[i % 2].save(target)
longest = (time.perf_counter() - start) / 2  # of four saves
seen, left = set(), 0
for _ in range(int(kills)):
    child = os.fork()
    if not child:
        while True:
            for model in models:
                model.save(target)
    time.sleep(random.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    seen.add(whole.index(suffice.load(target).feature_count_.tobytes()))
    left = max(left, sum(name.startswith(".suffice-") for name in os.listdir(os.path.dirname(target))))
print(sorted(seen), left)
"""


def test_kill_while_saving(tmp_path):
    """At any moment the file is one of the two complete models."""
    rng = np.random.default_rng(3)
    paths = [tmp_path / "one", tmp_path / "other"]
    for path in paths:  # large enough that a save takes some time
        MultinomialNB().fit(rng.random((2, 20_000)), ["a", "b"]).save(path)
    target = tmp_path / "target"
    command = [sys.executable, "-c", SAVING, str(target), str(KILLS), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    # Both models occurred. A killed save leaves a temporary file, which the next save removes.
    assert done.stdout.strip() == "[0, 1] 1", done.stderr
    load(target).save(target)
    assert sorted(os.listdir(tmp_path)) == ["one", "other", "target"]


def test_only_temporary_files_without_a_writer_are_removed(tmp_path):
    model, _ = two_models()
    target = str(tmp_path / "model")
    kept = ["suffice-1.tmp", ".suffice-1.bak", ".other-1.tmp"]
    for name in (*kept, ".suffice-0123456789abcdef.tmp"):
        (tmp_path / name).write_bytes(b"x")
    os.symlink(kept[0], tmp_path / ".suffice-link.tmp")
    with replacing(target) as file:
        file.write(b"half of ")
        live = set(os.listdir(tmp_path)) - {*kept, ".suffice-link.tmp"}
        assert len(live) == 1  # the stale file is gone
        model.save(tmp_path / "other")
        assert live < set(os.listdir(tmp_path))
        file.write(b"a file")
    assert (tmp_path / "model").read_bytes() == b"half of a file"
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, ".suffice-link.tmp", "model", "other"])


def test_a_temporary_file_that_another_process_removed(tmp_path, monkeypatch):
    """A cleaner may get the lock of a new file before its writer does: the writer starts again."""
    calls = []

    def removed_at_first(descriptor):
        if not calls:
            (name,) = os.listdir(tmp_path)
            os.unlink(tmp_path / name)
        calls.append(descriptor)
        return True

    monkeypatch.setattr(disk, "try_lock", removed_at_first)
    with replacing(str(tmp_path / "model")) as file:
        file.write(b"x")
    assert len(calls) == 2
    assert os.listdir(tmp_path) == ["model"]


def test_file_systems_without_locks(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(disk, "try_lock", fail)
    (tmp_path / ".suffice-1.tmp").write_bytes(b"x")
    with replacing(str(tmp_path / "model")) as file:
        file.write(b"x")
    assert sorted(os.listdir(tmp_path)) == [".suffice-1.tmp", "model"]
