"""Log files: what `append` has written is read back, whatever happens to the end of the file."""

import errno
import os
import resource
from contextlib import contextmanager

import pytest

from suffice import ModelFileError
from suffice.server.log.journal import HEAD, Journal, LogFile, SyncError

BODIES = [b"first", b"", b"third FRM: \x00" * 20, b"last change"]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "log")


def write(path, bodies=BODIES, base="a"):
    journal = Journal.create(path, {"format": 1, "base": base})
    for body in bodies:
        journal.append(body)
    journal.close()


def read(path):
    file = LogFile(path)
    return [frame.body for frame in file.frames()], file


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, content):
    with open(path, "wb") as file:
        file.write(content)


@contextmanager
def files_of_at_most(size):
    """Let the system refuse to make files longer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def replace_descriptor(journal, path, flags):
    other = os.open(path, flags) if isinstance(path, str) else path
    os.dup2(other, journal._descriptor)
    os.close(other)


def test_frames_are_read_in_order(path):
    write(path)
    bodies, file = read(path)
    assert (bodies, file.torn, file.header["base"]) == (BODIES, 0, "a")
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_log_is_continued(path):
    write(path)
    _, file = read(path)
    journal = Journal.continued(path, file.end, file.seed)
    journal.append(b"more")
    journal.close()
    assert read(path)[0] == [*BODIES, b"more"]


def test_a_torn_frame_at_the_end_is_dropped_at_every_length(path):
    write(path)
    content = content_of(path)
    last = len(content) - HEAD.size - len(BODIES[-1])
    for end in range(last, len(content)):
        put(path, content[:end])
        bodies, file = read(path)
        assert (bodies, file.torn, file.end) == (BODIES[:-1], end - last, last)
        put(path, content[:end] + bytes(len(content) - end))  # the length was written, but not all bytes
        assert read(path)[0] == BODIES[:-1]


def test_what_is_torn_is_cut_off_when_the_log_is_continued(path):
    write(path)
    put(path, content_of(path)[:-1])
    _, file = read(path)
    journal = Journal.continued(path, file.end, file.seed)
    journal.append(b"again")
    journal.close()
    assert read(path)[0] == [*BODIES[:-1], b"again"]


def test_every_changed_byte_is_noticed(path):
    write(path)
    content = content_of(path)
    last = len(content) - HEAD.size - len(BODIES[-1])
    for at in range(len(content)):
        put(path, content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        if at < last:
            with pytest.raises(ModelFileError) as caught:
                read(path)
            assert caught.value.file == path
        else:  # it may be a write that was not finished
            bodies, file = read(path)
            assert (bodies, file.torn) == (BODIES[:-1], len(content) - last)


def test_the_error_of_a_damaged_frame_names_file_and_position(path):
    write(path)
    content = bytearray(content_of(path))
    at = content.index(b"first")
    content[at] ^= 1
    put(path, content)
    with pytest.raises(ModelFileError, match=f"damaged: the frame at byte {at - HEAD.size} does not match") as caught:
        read(path)
    assert caught.value.file == path


def test_a_frame_of_another_file_is_not_valid(path, tmp_path):
    write(path)
    write(str(tmp_path / "other"), [b"foreign"], base="b")
    frame = content_of(str(tmp_path / "other"))[-HEAD.size - len(b"foreign") :]
    with open(path, "ab") as file:
        file.write(frame)
    bodies, file = read(path)
    assert (bodies, file.torn) == (BODIES, len(frame))


@pytest.mark.parametrize("content", [b"", b"SUFF", b"no log, but long enough", b"SUFFICEL\xff\xff\xff\xff1234{}"])
def test_other_files_are_not_logs(path, content):
    put(path, content)
    with pytest.raises(ModelFileError, match="is not a log of learned rows"):
        read(path)


def test_a_newer_format_is_named(path):
    Journal.create(path, {"format": 2, "library": "9.0"}).close()
    with pytest.raises(ModelFileError, match=r"version 9\.0.* in format 2; this version reads format 1"):
        read(path)


def test_a_log_that_cannot_be_read(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        read(str(tmp_path / "nowhere"))


def test_a_frame_for_which_there_is_no_space_is_cut_off(path):
    write(path)
    size = os.path.getsize(path)
    _, file = read(path)
    journal = Journal.continued(path, file.end, file.seed)
    with files_of_at_most(size + 50), pytest.raises(OSError) as caught:  # noqa: PT011 - its number is compared
        journal.append(b"x" * 100)
    assert caught.value.errno == errno.EFBIG
    assert journal.is_whole
    assert os.path.getsize(path) == size
    journal.append(b"there is space again")
    journal.close()
    assert read(path)[0] == [*BODIES, b"there is space again"]


def test_a_device_that_is_full(path):
    write(path)
    _, file = read(path)
    journal = Journal.continued(path, file.end, file.seed)
    replace_descriptor(journal, "/dev/full", os.O_WRONLY)
    with pytest.raises(OSError) as caught:  # noqa: PT011 - its number is compared
        journal.append(b"lost")
    journal.close()
    assert caught.value.errno == errno.ENOSPC
    assert not journal.is_whole  # a device cannot be cut
    assert read(path)[0] == BODIES


def test_a_sync_that_fails_is_told_apart(path):
    write(path)
    _, file = read(path)
    journal = Journal.continued(path, file.end, file.seed)
    reading, writing = os.pipe()
    replace_descriptor(journal, writing, 0)
    with pytest.raises(SyncError) as caught:
        journal.append(b"written, but not on disk")
    journal.close()
    os.close(reading)
    assert (caught.value.errno, journal.is_whole) == (errno.EINVAL, False)  # a pipe cannot be synced
