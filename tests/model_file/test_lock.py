"""The lock of a model file: one holder at a time, none after its end, and nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from suffice import ModelFileError
from suffice.model_file.lock import is_same_file, locked

HOLD = """
import sys, time
from suffice.model_file.lock import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(120)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of a file."""
    path = tmp_path / "m.suffice"
    process = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield path, process
    process.kill()
    process.wait()
    process.stdout.close()


def test_another_process_waits_and_gives_up(holder):
    path, _ = holder
    started = time.monotonic()
    with pytest.raises(ModelFileError, match="is being updated by another process") as caught, locked(path, 0.3):
        pass
    assert 0.3 <= time.monotonic() - started < 30
    assert caught.value.file == str(path)
    assert f"{path}.lock" in str(caught.value)
    assert str(caught.value).endswith("Try again when it has finished.")


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_holder_that_ends_lets_go(holder, sign):
    path, process = holder
    process.send_signal(sign)
    process.wait()
    with locked(path, 5):
        pass
    assert os.listdir(path.parent) == []  # also without the file that the killed process left


def test_a_waiter_gets_the_lock_when_it_is_free(holder):
    path, process = holder
    timer = threading.Timer(0.3, process.kill)
    timer.start()
    with locked(path, 60):
        assert process.poll() is not None or process.wait() is not None
    timer.join()


def test_threads_take_turns(tmp_path):
    path, inside, most = tmp_path / "m.suffice", [], []

    def work():
        for _ in range(20):
            with locked(path, 60):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 80
    assert max(most) == 1
    assert os.listdir(tmp_path) == []


def test_an_error_inside_releases(tmp_path):
    with pytest.raises(KeyError), locked(tmp_path / "m.suffice"):
        raise KeyError
    with locked(tmp_path / "m.suffice", 0):
        assert os.listdir(tmp_path) == ["m.suffice.lock"]
    assert os.listdir(tmp_path) == []


def test_links_lead_to_one_lock(tmp_path):
    (tmp_path / "there").mkdir()
    os.symlink("there/m.suffice", tmp_path / "link.suffice")
    with locked(tmp_path / "link.suffice"):
        assert os.listdir(tmp_path / "there") == ["m.suffice.lock"]
        with pytest.raises(ModelFileError, match="another process"), locked(tmp_path / "there" / "m.suffice", 0):
            pass


def test_a_lock_that_cannot_be_made(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be locked: no such file or directory"):
        locked(tmp_path / "none" / "m.suffice").__enter__()
    with pytest.raises(ModelFileError, match="cannot be locked"):
        locked("m\0.suffice").__enter__()
    (tmp_path / "m.suffice.lock").mkdir()
    with pytest.raises(ModelFileError, match="cannot be locked: is a directory"):
        locked(tmp_path / "m.suffice").__enter__()
    os.symlink(tmp_path / "elsewhere", tmp_path / "n.suffice.lock")
    with pytest.raises(ModelFileError, match="cannot be locked"):
        locked(tmp_path / "n.suffice").__enter__()
    assert not (tmp_path / "elsewhere").exists()
    if os.geteuid():
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(ModelFileError, match="cannot be locked: permission denied"):
            locked(tmp_path / "closed" / "m.suffice").__enter__()


def test_same_file(tmp_path):
    (tmp_path / "m").write_text("")
    os.symlink("m", tmp_path / "link")
    assert is_same_file(tmp_path / "m", tmp_path / "link")
    assert is_same_file(tmp_path / "new", f"{tmp_path}/./new")
    assert not is_same_file(tmp_path / "m", tmp_path / "new")
