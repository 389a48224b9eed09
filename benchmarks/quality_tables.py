"""Tables of `quality.py`: means, ranks and a test over sets, and the log-loss of each set."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, wilcoxon

from quality_models import BOOSTING, LOGISTIC

Table = tuple[list[str], list[list[str]]]
MEASURES = ("log-loss", "accuracy", "ECE", "fit")


@dataclass(frozen=True, slots=True)
class Score:
    """What one model reaches on one set in all folds."""

    loss: float
    accuracy: float
    calibration_error: float
    seconds: float

    @classmethod
    def of_folds(cls, folds: Sequence[dict]) -> "Score":
        rows = np.array([fold["rows"] for fold in folds])
        loss, accuracy, seconds = (
            np.array([fold[name] for fold in folds]) for name in ("log_loss", "accuracy", "fit_seconds")
        )
        bins = np.sum([fold["bins"] for fold in folds], axis=0)  # rows, confidence and hits of each bin
        error = np.abs(bins[:, 1] - bins[:, 2]).sum() / rows.sum()
        return cls(float(loss @ rows / rows.sum()), float(accuracy @ rows / rows.sum()), error, float(seconds.mean()))


Scores = dict[str, dict[str, Score]]  # model → set → score


def summary(scores: Scores, names: Iterable[str]) -> tuple[Table, list[str]]:
    """Return a table with a line for each model, and the sets that it is about.

    These are the sets that all models have scores of.
    """
    common = [name for name in names if all(name in of_model for of_model in scores.values())]
    heads = ["model", "log-loss", "accuracy", "ECE", "fit, s", "mean rank"]
    rivals = [name for name in (LOGISTIC, BOOSTING) if name in scores]
    heads += [f"against {name}" for name in rivals]
    losses = {model: np.array([of_model[name].loss for name in common]) for model, of_model in scores.items()}
    ranks = rankdata(np.array(list(losses.values())), axis=0) if common else np.zeros((len(scores), 0))
    lines = []
    for (model, of_model), rank in zip(scores.items(), ranks, strict=True):
        if not common:
            break
        each = [of_model[name] for name in common]
        line = [
            model,
            f"{losses[model].mean():.3f}",
            f"{100 * np.mean([one.accuracy for one in each]):.1f} %",
            f"{np.mean([one.calibration_error for one in each]):.3f}",
            f"{np.mean([one.seconds for one in each]):.3f}",
            f"{rank.mean():.2f}",
        ]
        lines.append(line + ["" if model == rival else _against(losses[model], losses[rival]) for rival in rivals])
    return (heads, lines), common


def _against(own: np.ndarray, other: np.ndarray) -> str:
    """Wins, losses and the p-value of Wilcoxon's signed-rank test."""
    p = wilcoxon(own, other).pvalue if (own != other).any() else 1.0
    shown = f"{p:.2f}" if p >= 0.01 else f"{p:.1g}" if p >= 1e-4 else "< 0.0001"
    return f"{(own < other).sum()}–{(own > other).sum()}, p {'' if shown.startswith('<') else '= '}{shown}"


def losses(scores: Scores, sizes: dict[str, tuple[int, int, int, int]], names: Iterable[str]) -> Table:
    """Return a table of log-losses with a line for each set; the best is bold."""
    heads = ["data", "rows", "columns", "classes", "missing", *scores]
    lines = []
    for name in names:
        rows, columns, classes, missing = sizes[name]
        found = [of_model[name].loss if name in of_model else math.nan for of_model in scores.values()]
        best = np.nanmin([*found, math.inf])
        shown = ["–" if math.isnan(x) else f"**{x:.3f}**" if x == best else f"{x:.3f}" for x in found]
        share = missing / (rows * columns)
        lines.append([name, f"{rows:,}", str(columns), str(classes), f"{100 * share:.1f} %" if missing else "", *shown])
    return heads, lines


def markdown(table: Table) -> str:
    heads, lines = table
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *lines])


def plain_text(table: Table) -> str:
    lines = [[cell.replace("**", "") for cell in line] for line in [table[0], *table[1]]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines)
