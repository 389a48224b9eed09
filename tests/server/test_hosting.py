"""Models that are served: names, files, and folders of what they learn."""

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes
from suffice.exceptions import InputError, ModelFileError, ModelFileMissingError
from suffice.model_file import record
from suffice.server.hosting import named_paths, open_host
from suffice.server.log.changes import Change
from suffice.server.settings import Settings


@pytest.fixture
def path(tmp_path):
    NaiveBayes().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]).save(tmp_path / "m.suffice")
    return str(tmp_path / "m.suffice")


@pytest.mark.parametrize(
    ("argument", "name", "path"),
    [
        ("a.suffice", "a", "a.suffice"),
        ("dir/Spam filter.suffice", "Spam-filter", "dir/Spam filter.suffice"),
        ("x=dir=1/a.suffice", "x", "dir=1/a.suffice"),
        ("dir=1/größe.suffice", "gr--e", "dir=1/größe.suffice"),
        ("€.suffice", "model", "€.suffice"),
        ("a/b=c.suffice", "b-c", "a/b=c.suffice"),
    ],
)
def test_names(argument, name, path):
    if argument == "dir=1/größe.suffice":  # a folder whose name looks like a name for the model
        name, path = "dir", "1/größe.suffice"
    assert named_paths([argument]) == {name: path}


def test_names_are_unique():
    with pytest.raises(InputError, match="Two models have the name 'a'"):
        named_paths(["x/a.suffice", "y/a.suffice"])


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(ModelFileMissingError):
        open_host("m", str(tmp_path / "nothing.suffice"), Settings())
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ModelFileError):
        open_host("m", str(tmp_path / "rows.csv"), Settings())


def test_learned_rows_come_back(path):
    settings = Settings(learn=True)
    host = open_host("m", path, settings)
    name = str(host.fitted.layout.names[0])
    host.learner.submit(Change("learn", pa.table({name: [2.0]}), ["a"])).result()
    host.close()
    again = open_host("m", path, settings)
    assert again.version == 1
    assert again.model.class_count_.tolist() == [3.0, 2.0]
    assert again.unchanging.class_count_.tolist() == [2.0, 2.0]
    again.close()
    without = open_host("m", path, Settings())
    assert np.array_equal(without.model.class_count_, [2.0, 2.0])
    without.close()


def test_the_digest_is_that_of_the_file_that_was_loaded(path, monkeypatch):
    with open(path, "rb") as file:
        content = file.read()
    checked = record._checked

    def replaced(*arguments):
        with open(path, "wb") as file:  # just after the file was read
            file.write(b"another model")
        return checked(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(record, "_checked", replaced)
        host = open_host("m", path, Settings(learn=True))
    host.learner.submit(Change("learn", pa.table({str(host.fitted.layout.names[0]): [2.0]}), ["a"])).result()
    host.close()
    with pytest.raises(ModelFileError, match="is not a model") as caught:
        open_host("m", path, Settings(learn=True))
    assert caught.value.file == path
    with open(path, "wb") as file:
        file.write(content)
    again = open_host("m", path, Settings(learn=True))
    assert again.version == 1
    again.close()


def test_closing_twice(path):
    host = open_host("m", path, Settings(learn=True))
    host.close()
    host.close()


def test_errors_about_a_folder_name_the_page(path, tmp_path):
    settings = Settings(learn=True)
    open_host("m", path, settings).close()
    NaiveBayes().fit([[0.0], [9.0], [4.0], [5.0]], ["a", "a", "b", "b"]).save(path)
    with pytest.raises(ModelFileError, match="holds what another model file has learned") as caught:
        open_host("m", path, settings)
    assert caught.value.page == "docs/serving.md"
    (tmp_path / "m.suffice.state" / "log-00000000000000000001").write_bytes(b"no log")
    with pytest.raises(ModelFileError, match="is not a log of learned rows") as caught:
        open_host("m", path, settings)
    assert caught.value.page == "docs/serving.md"
