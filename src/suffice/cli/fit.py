"""``suffice fit``: fit a model to files and score it on held-out rows."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import click

from suffice.cli.column_types import read_types_of_model
from suffice.cli.command import Choice, note, note_reading, note_skipped_rows, section, worded
from suffice.cli.command import command as _command
from suffice.cli.description import (
    ClassFacts,
    Description,
    SavedFile,
    accuracy_line,
    check_has_rows,
    description,
    log_loss_line,
    model_lines,
    save,
    saved_line,
    show_classes,
    show_columns,
    show_members,
)
from suffice.cli.output import Page, cell_text, json_option, number, percent, print_json, row_count
from suffice.cli.progress import reading_progress
from suffice.cli.reading import (
    ReadingOptions,
    columns_options,
    data_argument,
    known_target,
    known_target_option,
    model_path,
    open_data,
    reading_options,
    weights_option,
)
from suffice.cli.settings import (
    MODELS,
    Settings,
    check_columns_like,
    check_model_settings,
    check_no_settings,
    default_model,
    estimator_of,
    like_option,
    model_like,
    setting_options,
)
from suffice.cli.writing import check_writable, model_option, update_lock

if TYPE_CHECKING:
    from suffice.learning.report import FitReport, Scores

__all__ = ["command"]

EXAMPLES = """
suffice fit train.csv -t species -o flowers.suffice
suffice fit train.csv -t species --ignore visits --bad-rows skip
suffice fit 'parts/*.parquet' -t species --family visits=poisson
suffice fit train.csv -t species --estimation bayes --calibrate isotonic
suffice fit train.csv -t species --prior uniform --no-validate
suffice fit train.csv -t species --model discriminant --covariance own
suffice fit messages.jsonl -t kind --model text --columns body -o spam.suffice
suffice fit inbox -o filter.suffice
suffice fit tuesday.csv -t species --like monday.suffice -o tuesday.suffice
suffice fit monday.csv -t species --update flowers.suffice -o flowers.suffice
cat train.csv | suffice fit - -t species --json
suffice fit --database sqlite:///flowers.db --query 'SELECT * FROM train' \\
    -t species
"""


class ScoreFacts(TypedDict):
    """The scores of a fit in JSON output."""

    accuracy: float
    accuracy_error: float
    majority: float
    balanced_accuracy: float
    log_loss: float
    log_loss_error: float
    baseline_log_loss: float
    calibration_error: float
    auc: float
    rows: int
    of_rows: int
    rule: str


@_command("fit", "Fit a model to files.", EXAMPLES)
@data_argument
@section("Data", known_target_option, columns_options, weights_option)
@section(
    "Model",
    click.option(
        "--model",
        "kind",
        type=Choice(MODELS, case_sensitive=False),
        help="Kind of model; default: ensemble; naive-bayes if a setting belongs only to naive-bayes; text for mails.",
    ),
    like_option,
    click.option("--update", type=model_path, metavar="MODEL", help="Saved model to update with the rows of DATA."),
)
@setting_options
@section(
    "Validation",
    click.option(
        "--validate",
        type=click.IntRange(min=1),
        metavar="N",
        default=100_000,
        show_default=True,
        help="Score the model on at most N held-out rows (an ensemble on at most 8,192).",
    ),
    click.option("--no-validate", is_flag=True, help="Do not score the model."),
)
@reading_options
@section(
    "Output",
    model_option("File to save the model to; default: do not save it.", required=False),
    json_option,
)
def command(
    data: tuple[str, ...],
    target: str | None,
    output: str | None,
    kind: str | None,
    like: str | None,
    update: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    weights: str | None,
    settings: Settings,
    validate: int,
    no_validate: bool,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Fit a model to the rows of DATA in one pass.

    Prints what was read, the family of each column, and scores on held-out rows: each row is scored by the model of
    all other rows.
    """
    if update is not None:
        if kind is not None:
            raise click.UsageError("--model cannot be combined with --update: an updated model keeps its kind.")
        if like is not None:
            raise click.UsageError("--like cannot be combined with --update: an updated model keeps its choices.")
        check_no_settings(settings)
    check_writable(output)
    import suffice
    from suffice.model_file.lock import is_same_file

    with contextlib.nullcontext() if update is None else update_lock(update, output=output):
        old = None if update is None else suffice.load(update)
        if update is not None and old is not None:
            check_has_rows(old, update, "updated")
        kind, first = (kind, None) if like is None else model_like(like, kind, settings)
        known = old or first
        target = target if known is None or target is not None else known.fitted_.target
        source = open_data(data, reading, columns, ignore, target=target, weights=weights, notes=False)
        target = known_target(known, target, documents=source.documents)
        if output is not None and any(is_same_file(output, file) for file in source.files):
            raise click.UsageError(f"--output {output} would replace the data. Choose another file name.")
        if old is None:
            kind = kind or ("text" if source.documents else default_model(settings))
            check_model_settings(kind, settings)
            read = [name for name in source.names if name not in (target, weights)]
            if like is not None and first is not None:
                named = {"--ignore": ignore or (), "--weights": [weights], "--target": [target]}
                check_columns_like(like, first, source, read, columns, named)
            model = estimator_of(kind, settings, source, target, first)
            source.read_numbers(model.specification().reader.number_columns(read, None))
            note_reading(source)
        else:
            model = old
            read_types_of_model(old, source, [name for name in source.names if name not in (target, weights)], target)
        with reading_progress(source, "Fitting"):
            fitted = suffice.fit(
                source, target, model=model, weights=weights, validate=False if no_validate else validate
            )
        facts, saved = description(fitted), save(fitted, output)
    report: FitReport = fitted.report_
    scores = None if report.scores is None else _score_facts(report.scores)
    why_no_scores = "--no-validate" if no_validate else report.why_no_scores or None
    note_skipped_rows(report)
    for each in report.notes:
        note(worded(each))
    if old is not None:
        _note_new_classes(old.classes_.tolist(), facts["classes"])
    if as_json:
        print_json(
            {
                **facts,
                "columns": [each | {"type": report.types.get(each["name"])} for each in facts["columns"]],
                "target": target,
                "data": {
                    "source": report.source,
                    "files": report.files,
                    "rows": report.n_rows,
                    "skipped": report.skipped,
                    "faults": report.faults,
                    "seconds": report.seconds,
                },
                "scores": scores,
                "why_no_scores": why_no_scores,
                "notes": [worded(each) for each in report.notes],
                **saved,
            }
        )
    else:
        _show(facts, model_lines(fitted), report, scores, why_no_scores, saved)


def _note_new_classes(known: Sequence[object], classes: Sequence[ClassFacts]) -> None:
    """Note each class that an update has added, which may be a misspelled one."""
    from suffice.exceptions import did_you_mean, listed, short

    others = []
    for each in classes:
        if each["label"] in known:
            continue
        if hint := did_you_mean(each["label"], known):
            note(f"New class {short(each['label'])} ({row_count(each['rows'] or 0)}).{hint}")
        else:
            others.append(each)
    if others:
        rows = row_count(sum(each["rows"] or 0 for each in others))
        note(f"New {'class' if len(others) == 1 else 'classes'} {listed([each['label'] for each in others])} ({rows}).")


def _score_facts(scores: Scores) -> ScoreFacts:
    return {
        "accuracy": scores.accuracy,
        "accuracy_error": scores.accuracy_error,
        "majority": scores.majority,
        "balanced_accuracy": scores.balanced_accuracy,
        "log_loss": scores.log_loss,
        "log_loss_error": scores.log_loss_error,
        "baseline_log_loss": scores.baseline_log_loss,
        "calibration_error": scores.calibration_error,
        "auc": scores.auc,
        "rows": scores.n_rows,
        "of_rows": scores.of_rows,
        "rule": scores.rule,
    }


def _show(
    facts: Description,
    lines: Mapping[str, str],
    report: FitReport,
    scores: ScoreFacts | None,
    why_no_scores: str | None,
    saved: SavedFile,
) -> None:
    page = Page()
    skipped = f", {report.skipped:,} skipped" if report.skipped else ""
    page.facts(
        {
            "read": f"{cell_text(report.source)}: {row_count(report.n_rows)} in {report.seconds:.2f} s{skipped}",
            **lines,
            "saved": saved_line(saved),
        }
    )
    page.heading("Classes")
    show_classes(page, facts["classes"])
    page.heading("Columns")
    show_columns(page, facts["columns"], report.types)
    show_members(page, facts["members"])
    if scores is None:
        page.heading(f"Not scored: {why_no_scores}")
        return
    sample = "" if scores["rows"] == scores["of_rows"] else f"{scores['rows']:,} of "
    page.heading(f"Held-out scores ({scores['rule']}, {sample}{row_count(scores['of_rows'])})")
    page.facts(
        {
            "accuracy": accuracy_line(scores["accuracy"], scores["accuracy_error"], scores["majority"]),
            "balanced accuracy": percent(scores["balanced_accuracy"]),
            "log-loss": log_loss_line(scores["log_loss"], scores["log_loss_error"], scores["baseline_log_loss"]),
            "calibration error": percent(scores["calibration_error"]),
            "AUC": number(scores["auc"]),
        }
    )
