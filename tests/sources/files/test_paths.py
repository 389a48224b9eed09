"""The files of a path, a glob, a folder or a list of these."""

import os
import random

import pytest

import suffice
from suffice.exceptions import InputError
from suffice.sources.files.paths import describe_files, find_files, find_paths, natural_key


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touched(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_natural_order_sorts_numbers_by_value():
    names = [f"part-{i}.csv" for i in (0, 1, 2, 9, 10, 11, 99, 100, 1000)]
    shuffled = names[:]
    random.Random(0).shuffle(shuffled)
    assert sorted(shuffled, key=natural_key) == names
    assert sorted(["b/1", "a/2", "a10/1", "a/10", "a2/1"], key=natural_key) == ["a/2", "a/10", "a2/1", "a10/1", "b/1"]


def test_an_existing_file_with_glob_characters(folder):
    touched(folder, "data[1].csv", "data1.csv")
    assert find_files("data[1].csv") == ["data[1].csv"]
    assert find_files(folder / "data1.csv") == [str(folder / "data1.csv")]


def test_a_glob_is_sorted_and_ignores_marker_files(folder):
    touched(folder, "d/part-10.csv", "d/part-2.csv", "d/_SUCCESS", "d/.part-2.csv.crc", "e/part-1.csv")
    assert find_files("d/*") == ["d/part-2.csv", "d/part-10.csv"]
    assert find_files("*/part-[0-9].csv") == ["d/part-2.csv", "e/part-1.csv"]
    assert find_files("d/_S*") == ["d/_SUCCESS"]


def test_two_stars_match_any_depth_without_repeats(folder):
    touched(folder, "d/1.csv", "d/e/2.csv", "d/e/f/3.csv", "d/e/f/note.md")
    assert find_files("d/**/*.csv") == ["d/1.csv", "d/e/2.csv", "d/e/f/3.csv"]
    assert sorted(find_files("d/**")) == ["d/1.csv", "d/e/2.csv", "d/e/f/3.csv", "d/e/f/note.md"]


def test_a_folder_gives_its_data_files(folder):
    touched(folder, "d/x10.parquet", "d/x9.parquet", "d/_metadata", "d/.hidden.parquet", "d/README.md", "d/notes.txt")
    touched(folder, "d/_temporary/0.parquet", "d/.git/1.parquet", "d/sub/x.pq")
    assert find_files("d") == ["d/sub/x.pq", "d/x9.parquet", "d/x10.parquet"]


def test_text_files_in_a_folder_count_only_without_data_files(folder):
    touched(folder, "d/a.txt", "d/b.txt")
    assert find_files("d") == ["d/a.txt", "d/b.txt"]
    touched(folder, "d/c.csv")
    assert find_files("d") == ["d/c.csv"]
    assert find_files("d", "csv") == ["d/a.txt", "d/b.txt", "d/c.csv"]


def test_a_format_accepts_files_without_its_suffix_if_no_file_has_it(folder):
    touched(folder, "d/part-0", "d/part-1")
    assert find_files("d", "parquet") == ["d/part-0", "d/part-1"]
    with pytest.raises(InputError, match=r"no data files in the folder d\. It contains 'part-0', 'part-1'"):
        find_files("d")


def test_a_list_keeps_its_order(folder):
    touched(folder, "b.csv", "a.csv", "d/1.csv", "d/2.csv")
    assert find_files(["b.csv", "d", "a.csv"]) == ["b.csv", "d/1.csv", "d/2.csv", "a.csv"]
    assert find_files([folder / "b.csv", "-"]) == [str(folder / "b.csv"), "-"]


def test_the_home_folder_is_expanded(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    touched(folder, "a.csv")
    assert find_files("~/a.csv") == [str(folder / "a.csv")]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("*.csv", r"No file matches '\*\.csv'"),
        ("empty", "There are no data files in the folder empty."),
        ([], "list of files is empty"),
        ("", "path is empty"),
        ("s3://bucket/data.parquet", "is a URL, not a file"),
        (["a.txt", "./a.txt"], r"\./a\.txt is listed twice"),
        (["a.txt", "*.txt"], r"a\.txt is listed twice"),
    ],
)
def test_inputs_without_files(folder, given, words):
    touched(folder, "a.txt")
    os.mkdir("empty")
    with pytest.raises(InputError, match=words):
        find_files(given)


def test_names_of_many_files():
    assert describe_files([f"d/{i}.csv" for i in range(100)]) == "100 files, d/0.csv to d/99.csv"


def test_a_glob_below_a_folder_with_glob_characters(tmp_path):
    folder = tmp_path / "runs [2] *" / "a b"
    folder.mkdir(parents=True)
    (folder / "x.csv").touch()
    assert find_files(str(folder / "*.csv")) == [str(folder / "x.csv")]
    assert find_files(str(tmp_path / "runs [2] *" / "*" / "?.csv")) == [str(folder / "x.csv")]


def test_two_stars_before_a_name(folder):
    touched(folder, "g/top.dat", "g/sub/x.csv", "g/sub/part-0", "g/sub/log.txt")
    assert find_files("g/**/*") == ["g/sub/log.txt", "g/sub/part-0", "g/sub/x.csv", "g/top.dat"]
    assert find_paths("g/**") == find_files("g/**/*")
    assert find_paths("g/**/*") == ["g/sub", "g/top.dat"]
    touched(folder, "m/spam/1.eml", "m/s2/1.eml")
    assert find_paths("m/s**") == ["m/s2", "m/spam"]
    os.mkdir("w**")
    assert find_paths("w**") == ["w**"]
    touched(folder, "d/e/extra.csv", "d/e/e/1.csv", "d/f/e/2.csv", "d/f/even.csv")
    assert find_files("d/**/e*") == ["d/e/e/1.csv", "d/e/extra.csv", "d/f/e/2.csv", "d/f/even.csv"]
    assert find_paths("d/**/e*") == ["d/e", "d/f/e", "d/f/even.csv"]
    assert find_paths("d/*") == ["d/e", "d/f"]
    assert find_paths("-") == ["-"]


@pytest.mark.parametrize(
    "call",
    [
        lambda uri: suffice.fit(uri, "y"),
        lambda uri: suffice.fit(uri, ["a", "b"]),
        lambda uri: suffice.load(uri),
        lambda uri: suffice.NaiveBayes().fit(uri, "y"),
    ],
)
@pytest.mark.parametrize("uri", ["postgresql://ann:geheim@host/db?sslmode=require", "snowflake://ann:geheim@host/db"])
def test_no_message_repeats_a_password(call, uri):
    with pytest.raises(suffice.exceptions.SufficeError) as error:
        call(uri)
    facts = [str(error.value), str(error.value.file), repr(error.value)]
    assert not [each for each in facts if "geheim" in each]
