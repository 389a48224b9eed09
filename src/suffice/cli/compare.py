"""``suffice compare``: compare generative models with logistic regression, their discriminative counterpart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.command import command as _command
from suffice.cli.command import note_skipped_rows, section
from suffice.cli.output import Page, cell_text, json_option, number, percent, print_json, row_count
from suffice.cli.progress import reading_progress, step_progress
from suffice.cli.reading import (
    ReadingOptions,
    columns_options,
    data_argument,
    open_data,
    reading_options,
    target_option,
)
from suffice.cli.writing import check_writable

if TYPE_CHECKING:
    from suffice.comparison.curves import LearningCurves
    from suffice.comparison.result import Comparison

__all__ = ["command"]

EXAMPLES = """
suffice compare train.csv --target species
suffice compare train.csv --target species --plot curves.svg \\
    --sizes 12,24 --repeats 2
suffice compare 'parts/*.parquet' --target species --rows 5000 --json
suffice compare messages.jsonl --target kind --text body --cv 3 --repeats 0
"""
BASELINE = "(class shares alone)"
PLOTS = (".svg", ".png", ".pdf")


def _sizes(ctx: click.Context, parameter: click.Parameter, given: str | None) -> list[int] | None:
    if given is None:
        return None
    try:
        sizes = [int(size) for size in given.split(",")]
        if min(sizes) < 1:
            raise ValueError
    except ValueError:
        raise click.BadParameter(f"{given!r} is not a list of positive integers such as 20,80,320.") from None
    return sizes


def _plot(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not given.lower().endswith(PLOTS):
        raise click.BadParameter(f"{given!r} does not end in {', '.join(PLOTS)}.")
    return given


@_command("compare", "Compare models with logistic regression.", EXAMPLES)
@data_argument
@section(
    "Data",
    target_option,
    columns_options,
    click.option("--text", multiple=True, metavar="COL", help="Column of documents; default: detected. Repeatable."),
)
@section(
    "Comparison",
    click.option(
        "--cv",
        type=click.IntRange(min=2),
        metavar="N",
        default=5,
        show_default=True,
        help="Number of cross-validation folds.",
    ),
    click.option(
        "--sizes",
        metavar="N,N,...",
        callback=_sizes,
        help="Training set sizes of the learning curves; default: about ten rows, then doubled.",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(min=0),
        metavar="N",
        default=10,
        show_default=True,
        help="Training sets per size of the learning curves; 0 for no curves.",
    ),
    click.option(
        "--rows",
        "most",
        type=click.IntRange(min=10),
        metavar="N",
        default=20_000,
        show_default=True,
        help="Compare on a uniform sample of at most N rows.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        metavar="N",
        default=0,
        show_default=True,
        help="Random seed of folds and training sets.",
    ),
)
@reading_options
@section(
    "Output",
    click.option(
        "--plot", metavar="FILE", callback=_plot, help="Plot the learning curves to a .svg, .png or .pdf file."
    ),
    json_option,
)
def command(
    data: tuple[str, ...],
    target: str,
    plot: str | None,
    cv: int,
    sizes: list[int] | None,
    repeats: int,
    most: int,
    text: tuple[str, ...],
    seed: int,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Compare generative models and logistic regression on DATA.

    Compares the models that suit the columns: naive Bayes, Gaussian discriminant analysis (GDA), averaged dependence,
    and always the ensemble, the default of suffice fit. All models are scored on the same folds. Logistic regression is
    that of scikit-learn; its penalty is chosen on the training rows. Learning curves show how the scores change with
    the number of training rows: a generative model whose assumptions hold needs fewer rows, while logistic regression
    assumes less.
    """
    if plot is not None and repeats == 0:
        raise click.UsageError("--plot needs learning curves, but --repeats is 0.")
    check_writable(plot)
    from suffice.comparison import compare
    from suffice.comparison.sampling import sampled
    from suffice.plotting.figures import check_matplotlib

    if plot is not None:
        check_matplotlib()
    source = open_data(data, reading, columns, ignore, target=target)
    with reading_progress(source, "Reading"):
        rows, labels, n_rows = sampled(source, target, most)
    note_skipped_rows(source)
    with step_progress("Comparing") as progress:
        comparison = compare(
            rows,
            labels,
            text=text or "auto",
            cv=cv,
            sizes=sizes,
            repeats=repeats,
            random_state=seed,
            progress=progress,
        )
    if plot is not None:
        comparison.plot(plot)
    if as_json:
        data_facts = {"source": source.name, "rows": n_rows, "skipped": source.skipped}
        print_json({"data": data_facts, "target": target, "plot": plot} | comparison.to_dict())
    else:
        _show(source.name, n_rows, comparison, plot)


def _show(source: str, n_rows: int, comparison: Comparison, plot: str | None) -> None:
    page = Page()
    sample = "" if comparison.n_rows == n_rows else f", a sample of {comparison.n_rows:,} used"
    classes = ", ".join(f"{cell_text(label)} {count:,}" for label, count in comparison.class_counts.items())
    page.facts({"read": f"{cell_text(source)}: {row_count(n_rows)}{sample}", "classes": cell_text(classes)})
    page.heading(f"Held-out scores ({comparison.n_folds} folds)")
    page.table(
        ["model", "accuracy", "balanced", "AUC", "log-loss", "±", "behind best", "±", "Brier", "calibration", "fit"],
        [
            [
                each.model,
                percent(each.accuracy),
                percent(each.balanced_accuracy),
                _score("auc", each.auc),
                f"{each.log_loss:.4f}",
                f"{each.log_loss_error:.4f}",
                f"{each.behind:.4f}",
                f"{each.behind_error:.4f}",
                f"{each.brier:.4f}",
                percent(each.calibration_error),
                f"{1000 * each.fit_seconds:.1f} ms",
            ]
            for each in comparison.results
        ]
        + [[BASELINE, percent(comparison.majority), None, None, f"{comparison.baseline_log_loss:.4f}", *[None] * 6]],
    )
    if comparison.curves is not None:
        _show_curves(page, comparison.curves)
    page.heading("Conclusions")
    for sentence in comparison.verdict:
        page.line(sentence)
    for sentence in comparison.notes:
        page.line(f"Note: {sentence}")
    if plot is not None:
        page.line(f"The learning curves are plotted in {cell_text(plot)}.")


def _show_curves(page: Page, curves: LearningCurves) -> None:
    sizes = [f"{size:,}" for size in curves.sizes]
    for score, name in (("log_loss", "Log-loss"), ("accuracy", "Accuracy")):
        page.heading(f"{name} by number of training rows (mean of {curves.draws} training sets)")
        rows = [
            [model, *(_score(score, float(mean)) for mean in curves.points(model, score)[0])]
            for model in curves.log_loss
        ]
        page.table(["model", *sizes], rows)


def _score(score: str, value: float) -> str:
    if score == "accuracy":
        return percent(value)
    return f"{value:.3f}" if value == value else number(value)
