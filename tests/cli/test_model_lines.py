"""How a model and its settings are printed: those that were given, and those that held-out rows chose."""

import json

import numpy as np
import pytest

from cli.made import MESSAGES, ran
from suffice import TextNaiveBayes

FIT = ("fit", "messages.jsonl", "-t", "kind", "--model", "text", "--columns", "body", "--no-validate")
KINDS, BODIES = zip(*MESSAGES, strict=True)


def facts(text):
    """The names and texts above the first table."""
    return dict(line.split(maxsplit=1) for line in text.split("\n\n")[0].splitlines())


@pytest.mark.parametrize(
    ("options", "model", "chosen"),
    [
        ((), "TextNaiveBayes.tuned()", "event multinomial, max_words 10,000, smoothing 1, binary False, idf False"),
        (
            ("--event", "bernoulli", "--max-words", "5", "--calibrate", "none", "--no-binary", "--no-idf"),
            "TextNaiveBayes.tuned(), calibrate False, event bernoulli, max_words 5, binary False, idf False",
            "smoothing 1",
        ),
        (
            ("--event", "complement", "--smoothing", "2", "--no-binary", "--idf", "--max-words", "all"),
            "TextNaiveBayes.tuned(), event complement, max_words all, smoothing 2, binary False, idf True",
            None,
        ),
    ],
)
def test_given_and_chosen_settings(folder, options, model, chosen):
    fitted = facts(ran(*FIT, *options, "-o", "m.suffice"))
    inspected = facts(ran("inspect", "m.suffice", "-n", "0"))
    for found in (fitted, inspected):
        assert found["model"] == model
        if chosen is None:
            assert "tuned" not in found
        else:
            assert found["tuned"] == chosen
    updated = facts(ran("fit", "messages.jsonl", "--update", "m.suffice", "--no-validate"))
    assert (updated["model"], updated.get("tuned")) == (model, fitted.get("tuned"))


def test_chosen_settings_are_never_shortened(folder):
    text = ran("fit", "inbox", "-o", "m.suffice")
    assert " of 5 columns" not in text
    chosen = json.loads(ran("inspect", "m.suffice", "--json"))["settings"]["chosen"]
    assert [each.split()[0] for each in facts(text)["tuned"].split(", ")] == [
        name for name in ("event", "max_words", "smoothing", "binary", "idf") if name in chosen
    ]
    assert facts(text)["tuned"].startswith(f"event {chosen['event']}, ")


def test_shrinkage_that_was_chosen(folder):
    found = facts(ran("fit", "train.csv", "-t", "species", "--model", "discriminant", "--shrinkage", "auto"))
    assert found["model"] == "GaussianDiscriminant"
    assert found["tuned"].startswith("shrinkage ")


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (TextNaiveBayes(), "TextNaiveBayes"),
        (TextNaiveBayes(max_words=None, min_length=3), "TextNaiveBayes, max_words all, min_length 3"),
        (TextNaiveBayes(smoothing="auto"), "TextNaiveBayes"),
        (TextNaiveBayes.tuned(smoothing=3), "TextNaiveBayes.tuned(), smoothing 3"),
    ],
)
def test_models_of_python(folder, model, line):
    model.fit(list(BODIES), np.array(KINDS)).save("python.suffice")
    assert facts(ran("inspect", "python.suffice", "-n", "0"))["model"] == line
