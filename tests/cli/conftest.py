import shutil

import pytest

from cli.made import make


@pytest.fixture(scope="session")
def _made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    make(folder)
    return folder


@pytest.fixture
def folder(_made, tmp_path, monkeypatch):
    """A fresh copy of the folder of examples, which is the current one."""
    place = tmp_path / "work"
    shutil.copytree(_made, place)
    monkeypatch.chdir(place)
    return place
