"""Every bad file raises an error with its location, or its bad rows are skipped and counted."""

import os

import pytest

from bad_files import BAD_FILES
from suffice.exceptions import InputError
from suffice.sources.files import open_source

READ = [each for each in BAD_FILES if each.level == "read"]
SKIPPED = [each for each in READ if each.skipped]


def all_rows(bad, folder, **options):
    source = open_source(bad.make(folder), **bad.options, **options)
    for batch in source.batches():
        batch.rows.validate(full=True)
        assert batch.locations.of(len(batch) - 1)
    return source


def test_there_are_enough():
    names = [each.name for each in BAD_FILES]
    assert len(set(names)) == len(names) >= 80


@pytest.mark.parametrize("bad", READ, ids=str)
def test_refused(bad, tmp_path):
    if bad.root_reads and os.geteuid() == 0:
        pytest.skip("the superuser reads everything")
    with pytest.raises(InputError) as error:
        all_rows(bad, tmp_path)
    message = str(error.value)
    for word in bad.words:
        assert word in message
    assert "\n" not in message
    assert message.rstrip(")").endswith((".", "?", "-", "FILE"))
    assert not any(word in message for word in ("ArrowInvalid", "KeyError", "Traceback"))


@pytest.mark.parametrize("bad", SKIPPED, ids=str)
def test_skipped_and_counted(bad, tmp_path):
    source = all_rows(bad, tmp_path, bad_rows="skip")
    assert (source.skipped, source.n_rows) == (bad.skipped, bad.left)
    assert len(source.faults) == bad.skipped
    for word in bad.words:
        assert word in source.faults[0]


@pytest.mark.parametrize("bad", [each for each in READ if not each.skipped], ids=str)
def test_nothing_to_skip(bad, tmp_path):
    if bad.root_reads and os.geteuid() == 0:
        pytest.skip("the superuser reads everything")
    with pytest.raises(InputError):
        all_rows(bad, tmp_path, bad_rows="skip")
