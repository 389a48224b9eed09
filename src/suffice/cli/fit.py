"""``suffice fit``: a model of files, with what it got right on rows that were left out."""

from __future__ import annotations

from typing import Any

import click

from suffice.cli.column_types import expect
from suffice.cli.command import command as _command
from suffice.cli.command import tell_faults
from suffice.cli.description import description, save, saved, show_classes, show_columns
from suffice.cli.output import Page, json_option, number, percent, show_json, shown
from suffice.cli.progress import following
from suffice.cli.reading import (
    columns_options,
    data_argument,
    open_data,
    reading_options,
    target_option,
    weights_option,
)
from suffice.cli.settings import MODELS, check_none, check_settings, estimator_of, setting_options
from suffice.cli.writing import check_place, model_option

__all__ = ["command"]

EXAMPLES = """
suffice fit train.csv --target species -o flowers.suffice
suffice fit 'parts/*.parquet' --target species --family visits=poisson -o visits.suffice
suffice fit train.csv --target species --model discriminant --covariance own --shrinkage auto
suffice fit messages.jsonl --target kind --model text --columns body -o spam.suffice
suffice fit monday.csv --target species --update flowers.suffice -o flowers.suffice
cat train.csv | suffice fit - --target species --json
"""


@_command("fit", "Learn a model from files.", EXAMPLES)
@data_argument
@target_option
@model_option("Where the model is saved; not at all if not given.", required=False)
@click.option("--model", "kind", type=click.Choice(MODELS), help="naive-bayes if not given.")
@click.option("--update", type=click.Path(), metavar="MODEL", help="A saved model that goes on learning.")
@columns_options
@weights_option
@setting_options
@click.option(
    "--validate",
    type=click.IntRange(min=1),
    metavar="N",
    default=100_000,
    show_default=True,
    help="Judge the model by at most so many rows, each left out of it.",
)
@click.option("--no-validate", is_flag=True, help="Do not judge it.")
@reading_options
@json_option
def command(
    data: tuple[str, ...],
    target: str,
    output: str | None,
    kind: str | None,
    update: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    weights: str | None,
    settings: dict[str, Any],
    validate: int,
    no_validate: bool,
    reading: dict[str, Any],
    as_json: bool,
) -> None:
    """Learn a model of the rows of DATA, in one pass.

    Prints what was read, the family of each column, and how good the model is on rows that it has not seen: each row
    is left out of the model, exactly, and judged by it.
    """
    if update is None:
        check_settings(kind or "naive-bayes", settings)
    elif kind is not None:
        raise click.UsageError("--model does not go with --update: the model stays what it is.")
    else:
        check_none(settings)
    check_place(output)
    import suffice

    old = None if update is None else suffice.load(update)
    source = open_data(data, reading, columns, ignore, also=[target, weights], notes=old is None)
    if old is None:
        model = estimator_of(kind or "naive-bayes", settings, source, target)
    else:
        model = old
        expect(old, source, [name for name in source.names if name not in (target, weights)], target)
    with following(source, "Fitting"):
        fitted = suffice.fit(source, target, model=model, weights=weights, validate=False if no_validate else validate)
    report = fitted.report_
    about = description(fitted)
    for each in about["columns"]:
        each["type"] = report.types.get(each["name"])
    scores = report.scores
    place = save(fitted, output)
    found = {
        **about,
        "target": target,
        "data": {
            "source": report.source,
            "files": report.files,
            "rows": report.n_rows,
            "skipped": report.skipped,
            "faults": report.faults,
            "seconds": report.seconds,
        },
        "scores": None if scores is None else _plain_scores(scores),
        "why_no_scores": "--no-validate" if no_validate else report.why_no_scores or None,
        **place,
    }
    tell_faults(report)
    if as_json:
        show_json(found)
    else:
        _show(found, report, place)


def _plain_scores(scores: Any) -> dict[str, Any]:
    names = ("accuracy", "accuracy_error", "log_loss", "log_loss_error", "calibration_error")
    return {name: getattr(scores, name) for name in names} | {
        "rows": scores.n_rows,
        "of_rows": scores.of_rows,
        "rule": scores.rule,
    }


def _show(found: dict[str, Any], report: Any, place: dict[str, Any]) -> None:
    page = Page()
    skipped = f", {report.skipped:,} left out" if report.skipped else ""
    facts = {
        "read": f"{shown(report.source)}: {report.n_rows:,} rows in {report.seconds:.2f} s{skipped}",
        "model": found["model"] + "".join(f", {name} {shown(value)}" for name, value in found["settings"].items()),
        "saved": saved(place),
    }
    page.facts(facts)
    page.heading("Classes")
    show_classes(page, found["classes"])
    page.heading("Columns")
    show_columns(page, found["columns"], report.types)
    scores = found["scores"]
    if scores is None:
        page.heading(f"Not judged: {found['why_no_scores']}")
        return
    some = "" if scores["rows"] == scores["of_rows"] else f" of {scores['of_rows']:,}"
    page.heading(f"On rows that were left out ({scores['rule']}, {scores['rows']:,} rows{some})")
    page.facts(
        {
            "accuracy": f"{percent(scores['accuracy'])} ± {percent(scores['accuracy_error'])}",
            "log-loss": f"{number(scores['log_loss'])} ± {scores['log_loss_error']:.2g}",
            "calibration error": percent(scores["calibration_error"]),
        }
    )
