"""Models as bytes: the content of a model file, with the same checks."""

import numpy as np
import pytest

import suffice
from suffice import GaussianDiscriminant, InputError, ModelFileError, NaiveBayes

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")


@pytest.mark.parametrize(
    "model", [NaiveBayes(), GaussianDiscriminant("own", shrinkage=0.1), suffice.GenerativeEnsemble()]
)
def test_bytes_are_the_content_of_the_file(model, tmp_path):
    model.fit(X, Y).save(tmp_path / "m.suffice")
    content = model.to_bytes()
    assert content == (tmp_path / "m.suffice").read_bytes()
    for form in (bytes, bytearray, memoryview):
        loaded = suffice.loads(form(content))
        assert type(loaded) is type(model)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    if not isinstance(model, suffice.GenerativeEnsemble):
        again = suffice.loads(content).partial_fit(X, Y)
        np.testing.assert_array_equal(again.class_count_, 2 * model.class_count_)


def test_merged_models_of_parts():
    parts = [NaiveBayes().fit(X[i::4], Y[i::4]).to_bytes() for i in range(4)]
    merged = suffice.merge(map(suffice.loads, parts))
    np.testing.assert_allclose(merged.means_, NaiveBayes().fit(X, Y).means_, rtol=1e-14)


def damaged(content):
    changed = bytearray(content)
    changed[len(changed) // 2] ^= 1
    return [
        (b"", "not a model, or it is damaged: it has 0 bytes"),
        (b"no model", "not a model, or it is damaged"),
        (content[:-1], "is cut short"),
        (content + b"\0", "has bytes after its end"),
        (bytes(changed), "is damaged: its content does not match its checksum|not a model, or it is damaged"),
        ((2**40).to_bytes(8, "little") + content[8:], "does not start with a header"),
    ]


def test_damaged_bytes():
    for content, message in damaged(NaiveBayes().fit(X, Y).to_bytes()):
        with pytest.raises(ModelFileError, match=message) as error:
            suffice.loads(content)
        assert error.value.file is None
        assert "''" not in str(error.value)


@pytest.mark.parametrize("content", ["model.suffice", None, 7, ["bytes"]])
def test_what_is_no_bytes(content):
    with pytest.raises(InputError, match=r"loads takes the bytes of a model; got .*suffice\.load\(path\)"):
        suffice.loads(content)


def test_what_bytes_cannot_hold():
    class Own(NaiveBayes):
        pass

    with pytest.raises(ModelFileError, match="A Own cannot be saved"):
        Own().fit(X, Y).to_bytes()
    strange = NaiveBayes().fit(X, Y).set_params(prior={"a": 0.5, "b": 0.5})
    assert suffice.loads(strange.to_bytes()).classes_.tolist() == ["a", "b"]
