"""The same model and settings give the same bytes, in every process and at any time."""

import hashlib
import os
import pathlib
import subprocess
import sys

from model_file.cases import CASES, fitted
from suffice import NaiveBayes, TextNaiveBayes
from suffice.model_file.container import read_container

HERE = pathlib.Path(__file__).parent
WORDS = {"and", "or", "the", "a", "of", "to", "in", "is", "it", "on"}


def digests(folder):
    """The checksum of the file of each model."""
    texts = ["the sum of it", "a or b is on", "to and in", "words and more words"]
    models = {name: fitted(name)[0] for name in CASES}
    models["stop words"] = TextNaiveBayes(stop_words=WORDS).fit(texts, [0, 1, 0, 1])
    models["levels"] = NaiveBayes().fit([[word] for word in sorted(WORDS)], [0, 1] * 5)
    out = []
    for name, model in sorted(models.items()):
        path = os.path.join(folder, "model")
        model.save(path)
        out.append(f"{name} {hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}")
    return out


def test_another_process_writes_the_same_bytes(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    environment = os.environ | {"PYTHONHASHSEED": "17", "PYTHONPATH": str(HERE.parent), "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-W", "ignore", "-c", "import sys; from model_file.test_reproducible import digests; "]
    command[-1] += "print(*digests(sys.argv[1]), sep='\\n')"
    done = subprocess.run([*command, str(other)], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.splitlines() == digests(tmp_path), done.stderr


def test_a_file_holds_no_time(tmp_path):
    model = NaiveBayes().fit([[1.0], [2.0]], [0, 1])
    model.save(tmp_path / "one")
    assert "written" not in read_container(str(tmp_path / "one"))[0]
    model.save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
