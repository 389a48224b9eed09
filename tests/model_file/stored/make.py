"""Write files of format 1 to this folder: ``python tests/model_file/stored/make.py NAME...``, with Suffice 0.1.0.

Only the named files are written; the others stay unchanged.
"""

import json
import pathlib
import sys

import numpy as np
import pandas as pd

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Categorical, JointTable
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB

HERE = pathlib.Path(__file__).parent
N = 40


def main() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(N) % 3
    x = rng.normal(size=(N, 3)) + y[:, None] * [1.0, -2.0, 0.0]
    holes = np.where(rng.random(x.shape) < 0.1, np.nan, x)
    counts = rng.poisson(1.0 + y[:, None] * [1.0, 0.0, 2.0], (N, 3)).astype(float)
    weights = rng.uniform(0.5, 2.0, N)
    texts = np.array(["ham", "späm", "\U0001f600"])[y]
    frame = pd.DataFrame(
        {
            "size": holes[:, 0],
            "red": x[:, 1] > 0,
            "kind": pd.Categorical(rng.choice(["a", "b"], N), categories=["a", "b", "never"]),
            "text": rng.choice(["x", "yé", "z"], N),
            "more": rng.choice(["p", "q"], N),
            "when": pd.to_datetime(rng.integers(0, 10**9, N), unit="s"),
        }
    )
    families = {("text", "more"): JointTable(smoothing=0.5), "kind": Categorical(unseen="share")}
    words = np.array(["pill", "day", "größer", "日本語", "\U0001f600x", "The"])
    documents = [" ".join(rng.choice(words, k + rng.integers(0, 6))) + f" w{k}" for k in y.tolist()]
    documents[4] = None
    mails = frame[["size", "red", "kind"]].assign(text=documents, more=x[:, 1])
    models = {
        "AveragedDependence": (
            AveragedDependence(calibrate=True, cuts={2: "levels"}),
            np.c_[holes[:, :2], counts[:, 0]],
            texts,
            weights,
        ),
        "GenerativeEnsemble": (
            GenerativeEnsemble({2: "categorical", 0: "best"}),
            np.c_[holes[:, :2], counts[:, 0]],
            texts,
            weights,
        ),
        "GenerativeEnsemble-text": (GenerativeEnsemble({"text": "text"}), mails, texts, weights),
        "GenerativeEnsemble-words": (GenerativeEnsemble("text"), mails[["text"]], texts, None),
        "GenerativeEnsemble-named": (GenerativeEnsemble({"size": "gaussian"}), mails.drop(columns="text"), y, None),
        "GaussianDiscriminant": (GaussianDiscriminant("own", shrinkage="ledoit_wolf"), x, texts, weights),
        "NaiveBayes": (NaiveBayes(prior=[0.2, 0.3, 0.5]), holes, y, weights),
        "NaiveBayes-frame": (NaiveBayes(families, smoothing=0.5), frame, texts, None),
        "NaiveBayes-calibrated": (NaiveBayes(estimation="map", smoothing="auto", calibrate=True), x, texts, None),
        "GaussianDiscriminant-isotonic": (GaussianDiscriminant("own", mix="auto", calibrate="isotonic"), x, y, None),
        "NaiveBayes-levels": (NaiveBayes("categorical"), counts, y > 0, None),
        "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis("eigen", 0.2), x, texts, None),
        "QuadraticDiscriminantAnalysis": (QuadraticDiscriminantAnalysis(reg_param=0.1), x, texts, None),
        "GaussianNB": (GaussianNB(), holes, texts, weights),
        "BernoulliNB": (BernoulliNB(alpha=0.5), counts, texts, None),
        "MultinomialNB": (MultinomialNB(alpha=np.array([1.0, 2.0, 0.5])), counts, texts, weights),
        "ComplementNB": (ComplementNB(), counts, texts, None),
        "CategoricalNB": (CategoricalNB(min_categories=20), counts, texts, None),
        "PoissonNB": (PoissonNB(), counts, texts, None),
        "TextNaiveBayes": (TextNaiveBayes("bernoulli", stop_words=["day"]), documents, texts, weights),
        "TextNaiveBayes-chosen": (
            TextNaiveBayes("auto", binary="auto", max_words="auto", smoothing="auto", calibrate=True),
            documents,
            y,
            None,
        ),
        "TextNaiveBayes-slots": (TextNaiveBayes(slots=32, ngram_range=(1, 2), idf=True), documents, y > 0, None),
    }
    answers = json.loads((HERE / "v1.json").read_text())
    for name in sys.argv[1:]:
        model, rows, labels, weight = models[name]
        model.fit(rows, labels, sample_weight=weight)
        model.save(HERE / f"v1-{name}.suffice")
        asked = rows[:6]
        if name == "NaiveBayes-frame":
            asked = asked.assign(when=asked["when"].astype(str)).replace({np.nan: None})
            columns = {column: asked[column].tolist() for column in asked}
        elif isinstance(rows, pd.DataFrame):
            columns = {column: asked[column].astype(object).replace({np.nan: None}).tolist() for column in asked}
        elif rows is documents:
            columns = {"text": asked}
        else:
            columns = {str(j): [None if np.isnan(v) else v for v in asked[:, j].tolist()] for j in range(3)}
        answers[name] = {
            "rows": columns,
            "classes": model.classes_.tolist(),
            "class_count": model.fitted_.model.weights.weight.tolist(),
            "probabilities": model.predict_proba(rows[:6]).tolist(),
        }
    (HERE / "v1.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
