"""Files that are changed, cut short or of another kind are refused."""

import os
import pickle
import socket

import numpy as np
import pytest

import suffice
from model_file.cases import fitted, labels, numbers
from suffice import GaussianDiscriminant, ModelFileError, ModelFileMissingError, NaiveBayes, SufficeError, load
from suffice.model_file.container import read_container, write_container

MODELS = ["GaussianDiscriminant, own", "NaiveBayes, blocks", "CategoricalNB", "NaiveBayes, odd levels"]
MUTATIONS = 4_000
NOT_A_MODEL_FILE = r"not a model file \(did you swap MODEL and DATA\?\)"


def mutated(content, rng, other):
    """The file with a random change of bytes, pieces, length or header."""
    out = bytearray(content)
    size = len(out)
    at, end = sorted(int(i) for i in rng.integers(0, size + 1, 2))
    header = 8 + int.from_bytes(content[:8], "little")
    match int(rng.integers(0, 12)):
        case 0:
            out[at % size] ^= 1 << int(rng.integers(8))  # one bit
        case 1:
            out[at % size] = int(rng.integers(256))
        case 2:
            out = out[:at]
        case 3:
            out[at:at] = rng.bytes(int(rng.integers(1, 20)))
        case 4:
            del out[at:end]
        case 5:
            out += rng.bytes(int(rng.integers(1, 100)))
        case 6:
            out[at:end] = bytes(end - at)
        case 7:
            middle = (at + end) // 2
            out[at:end] = out[middle:end] + out[at:middle]  # swap two pieces
        case 8:
            out[at:end] = other[at:end]
        case 9:
            i = int(rng.integers(8, header))  # a digit, a letter or a mark of the header
            out[i] = int(rng.choice(list(b'0123456789abcdef"{}[],:\\ ')))
        case 10:
            out[:8] = int(rng.integers(0, 2**63)).to_bytes(8, "little")
        case 11:
            i = out.find(b'"sha256":"') + 10 + int(rng.integers(64))
            out[i] = int(rng.choice(list(b"0123456789abcdefABCDEF")))
    return bytes(out)


def test_thousands_of_mutations(tmp_path):
    rng = np.random.default_rng(11)
    files = []
    for i, name in enumerate(MODELS):
        fitted(name)[0].save(tmp_path / str(i))
        files.append((tmp_path / str(i)).read_bytes())
    path, tried = tmp_path / "mutated", 0
    while tried < MUTATIONS:
        i = tried % len(files)
        content = mutated(files[i], rng, files[i - 1])
        if content == files[i]:
            continue
        path.write_bytes(content)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert repr(str(path)) in str(caught.value)
        assert caught.value.file == str(path)
        assert str(caught.value).endswith(".")
        tried += 1
    for i, content in enumerate(files):  # undamaged files load
        path.write_bytes(content)
        assert type(load(path)) is type(fitted(MODELS[i])[0])


def test_every_byte_is_checked(tmp_path):
    path = tmp_path / "model"
    NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(path)
    whole = path.read_bytes()
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 0x20]) + whole[i + 1 :])
        with pytest.raises(ModelFileError):
            load(path)
        path.write_bytes(whole[:i])
        with pytest.raises(ModelFileError):
            load(path)


# ---------------------------------------------------------------------- files of another kind


def test_files_that_are_not_model_files(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "x"
    save_file({"a": np.zeros(3)}, path, metadata={"format": "pt"})
    with pytest.raises(ModelFileError, match="its header does not describe a model"):
        load(path)
    path.write_bytes(pickle.dumps(NaiveBayes()))
    with pytest.raises(ModelFileError, match=NOT_A_MODEL_FILE):
        load(path)
    for content in (b"", b"x", b"\0" * 8, b"\0" * 100, b"\xff" * 100, b"\x89PNG\r\n\x1a\n" + b"a" * 50):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=NOT_A_MODEL_FILE):
            load(path)
    path.write_bytes((8).to_bytes(8, "little") + b"[" * 8)
    with pytest.raises(ModelFileError, match="header"):
        load(path)
    deep = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    path.write_bytes(len(deep).to_bytes(8, "little") + deep)
    with pytest.raises(ModelFileError, match="header"):
        load(path)


def test_a_pickle_is_not_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    (tmp_path / "x").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError):
        load(tmp_path / "x")
    assert not (tmp_path / "trapped").exists()


def test_paths_that_are_not_files(tmp_path, monkeypatch):
    with pytest.raises(ModelFileMissingError, match="There is no file") as caught:
        load(tmp_path / "none")
    assert caught.value.file == str(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        load(str(tmp_path / "none"))
    NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(tmp_path / "mail.suffice")
    with pytest.raises(ModelFileMissingError, match=r"no file '.*/mail.sufice'\. Did you mean '.*/mail.suffice'\?$"):
        load(tmp_path / "mail.sufice")
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is a pipe"):
        load(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is a device"):
        load("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # a socket's path must be short
        server.bind("socket")
        with pytest.raises(ModelFileError, match="is a socket"):
            load(tmp_path / "socket")
    with pytest.raises(ModelFileError, match="null"):
        load("a\0b")
    with pytest.raises(TypeError):
        load(3)


def test_a_file_that_claims_to_be_large(tmp_path):
    path = tmp_path / "x"
    NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(path)
    os.truncate(path, 2**40)  # sparse, so it takes no space on disk
    with pytest.raises(ModelFileError, match="has bytes after its end"):
        load(path)


def test_a_file_that_is_cut_off(tmp_path):
    path = tmp_path / "x"
    NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(path)
    whole = path.read_bytes()
    header = int.from_bytes(whole[:8], "little")
    for size in (9, 20, 500, 7 + header):
        path.write_bytes(whole[:size])
        with pytest.raises(
            ModelFileError, match=f"x' is cut short: its header has {header:,} bytes; the file has {size:,}"
        ):
            load(path)
        with pytest.raises(
            ModelFileError, match=f"content is cut short: .*; the content has {size:,}. Use another copy"
        ):
            suffice.loads(whole[:size])
    path.write_bytes(whole[:-1])
    with pytest.raises(ModelFileError, match=f"cut short: its header describes {len(whole):,} bytes; the file has"):
        load(path)


def test_newer_formats(tmp_path):
    path = tmp_path / "x"
    NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(path)
    document, arrays = read_container(str(path))
    write_container(str(path), document | {"format": 2, "library": "9.9.9"}, arrays)
    with pytest.raises(ModelFileError, match=r"newer Suffice \(version '9.9.9'\) in format 2.*Upgrade"):
        load(path)
    for odd in (0, -1, "1", None, True, 1.0, [1]):
        write_container(str(path), document | {"format": odd}, arrays)
        with pytest.raises(ModelFileError, match="its format is"):
            load(path)


def test_a_renamed_file_is_read(tmp_path):
    NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(tmp_path / "x.suffice")
    os.rename(tmp_path / "x.suffice", tmp_path / "x.png")
    assert load(tmp_path / "x.png").predict([[1.9]]) == ["b"]


def test_a_failed_load_leaves_the_model_unchanged(tmp_path):
    model = GaussianDiscriminant().fit(numbers(), labels())
    before = model.predict_proba(numbers())
    (tmp_path / "bad").write_bytes(b"bad")
    with pytest.raises(SufficeError):
        model.merge(load(tmp_path / "bad"))
    assert (model.predict_proba(numbers()) == before).all()


def test_the_error_is_exported():
    assert issubclass(suffice.ModelFileError, ValueError)
    assert issubclass(suffice.ModelFileMissingError, suffice.ModelFileError)
