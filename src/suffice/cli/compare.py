"""``suffice compare``: generative models beside logistic regression, their discriminative twin."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from suffice.cli.command import command as _command
from suffice.cli.command import is_quiet, tell_faults
from suffice.cli.output import Page, json_option, number, percent, show_json, shown
from suffice.cli.progress import following
from suffice.cli.reading import columns_options, data_argument, open_data, reading_options, target_option
from suffice.cli.writing import check_place

__all__ = ["command"]

EXAMPLES = """
suffice compare train.csv --target species
suffice compare train.csv --target species --plot curves.svg --sizes 12,24 --repeats 2
suffice compare 'parts/*.parquet' --target species --rows 5000 --json
suffice compare messages.jsonl --target kind --text body --cv 3 --repeats 0
"""
PLOTS = (".svg", ".png", ".pdf")


def _sizes(ctx: click.Context, parameter: click.Parameter, given: str | None) -> list[int] | None:
    if given is None:
        return None
    try:
        sizes = [int(size) for size in given.split(",")]
        if min(sizes) < 1:
            raise ValueError
    except ValueError:
        raise click.BadParameter(f"{given!r} is not a list of whole numbers above 0, such as 20,80,320.") from None
    return sizes


def _plot(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not given.lower().endswith(PLOTS):
        raise click.BadParameter(f"{given!r} does not end in {', '.join(PLOTS)}.")
    return given


@_command("compare", "Compare models with logistic regression.", EXAMPLES)
@data_argument
@target_option
@click.option("--plot", metavar="FILE", callback=_plot, help="Draw the learning curves: .svg, .png or .pdf.")
@click.option("--cv", type=click.IntRange(min=2), default=5, show_default=True, help="Folds, the same for all models.")
@click.option(
    "--sizes",
    metavar="N,N,...",
    callback=_sizes,
    help="Rows of the learning curves; about ten, then doubled, if not given.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How often rows are drawn for the learning curves; 0 for none.",
)
@click.option(
    "--rows",
    "most",
    type=click.IntRange(min=10),
    default=20_000,
    show_default=True,
    help="Of more rows, compare by a uniform sample of so many.",
)
@click.option(
    "--text", multiple=True, metavar="COL", help="A column of documents; found by its texts if not given; repeatable."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of folds and draws.")
@columns_options
@reading_options
@json_option
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
    reading: dict[str, Any],
    as_json: bool,
) -> None:
    """Compare naive Bayes, Gaussian discriminant analysis (GDA) and logistic regression on DATA.

    Which models there are is decided by the columns. All have the same folds; logistic regression is scikit-learn's,
    with its penalty chosen inside the training rows. Learning curves show how good each is after few rows, and after
    more: a generative model that is right about the data needs fewer, logistic regression needs to be right about less.
    """
    if plot is not None and repeats == 0:
        raise click.UsageError("--plot draws the learning curves, and with --repeats 0 there are none.")
    check_place(plot)
    from suffice.comparison import compare
    from suffice.comparison.plotting import check_matplotlib
    from suffice.comparison.sampling import sampled

    if plot is not None:
        check_matplotlib()
    source = open_data(data, reading, columns, ignore, also=[target])
    with following(source, "Reading"):
        rows, labels, n_rows = sampled(source, target, most)
    tell_faults(source)
    with _counting() as progress:
        found = compare(
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
        found.plot(plot)
    result = {"data": {"source": source.name, "rows": n_rows, "skipped": source.skipped}, "target": target}
    if as_json:
        show_json(result | {"plot": plot} | found.to_dict())
    else:
        _show(source.name, n_rows, found, plot)


@contextlib.contextmanager
def _counting() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error that counts steps, if there is a terminal to show it on."""
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr, markup=False, emoji=False), transient=True) as bar:
        task = bar.add_task("Comparing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(source: str, n_rows: int, found: Any, plot: str | None) -> None:
    page = Page()
    sample = "" if found.n_rows == n_rows else f", of which {found.n_rows:,} were drawn"
    classes = ", ".join(f"{shown(label)} {count:,}" for label, count in found.class_counts.items())
    page.facts({"read": f"{shown(source)}: {n_rows:,} rows{sample}", "classes": shown(classes)})
    page.heading(f"On rows that were left out ({found.n_folds} folds)")
    names = ["model", "accuracy", "log-loss", "±", "Brier", "calibration error", "behind the best", "±", "fit"]
    page.table(
        names,
        [
            [
                each.model,
                percent(each.accuracy),
                f"{each.log_loss:.4f}",
                f"{each.log_loss_error:.4f}",
                f"{each.brier:.4f}",
                percent(each.calibration_error),
                f"{each.behind:.4f}",
                f"{each.behind_error:.4f}",
                f"{1000 * each.fit_seconds:.1f} ms",
            ]
            for each in found.results
        ],
    )
    if found.curves is not None:
        for score, what in (("log_loss", "Log-loss"), ("accuracy", "Accuracy")):
            page.heading(f"{what} after so many rows (means of {found.curves.draws} draws)")
            page.table(["model", *(f"{size:,}" for size in found.curves.sizes)], _curve_cells(found.curves, score))
    page.heading("What the figures say")
    for sentence in found.verdict:
        page.line(sentence)
    for sentence in found.notes:
        page.line(f"Note: {sentence}")
    if plot is not None:
        page.line(f"The learning curves are drawn in {shown(plot)}.")


def _curve_cells(curves: Any, score: str) -> Sequence[Sequence[Any]]:
    show = percent if score == "accuracy" else (lambda value: f"{value:.3f}" if value == value else number(value))
    return [[model, *(show(float(mean)) for mean in curves.points(model, score)[0])] for model in curves.log_loss]
