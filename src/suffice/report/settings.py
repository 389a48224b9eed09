"""Settings of a model and how they were chosen, its members, warnings, and where its rows came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from suffice.exceptions import columns_at, counted
from suffice.formats import percent_text
from suffice.learning.fitted import Fitted
from suffice.learning.tuning_result import is_auto
from suffice.report.columns import cell, table_of
from suffice.report.rows import ReportRows
from suffice.report.summary import Cell, ColumnSummary, HeldOut, Member, Provenance, Table
from suffice.tables.listing import Listing

__all__ = ["choices_of", "members_of", "provenance_of", "settings_of", "warnings_of"]

MOST_TRIED = 12  # rows of a table of choices
RARE = 10  # rows of a class below which its parameters are uncertain
UNSEEN = 0.01  # share of unseen cells that is worth a warning
UNCALIBRATED = 0.05  # calibration error that is worth a warning


def settings_of(fitted: Fitted) -> Table:
    """Every parameter of the estimator, its value, and where the value comes from."""
    specification = fitted.specification
    defaults = type(specification)().parameters()
    chosen: Mapping[str, object] = {} if fitted.tuning is None else fitted.tuning.chosen
    rows: list[tuple[Cell, ...]] = []
    for name, value in specification.parameters().items():
        if name in chosen:
            source = "chosen on held-out rows" if is_auto(value) else "set; the choice below is part of it"
            rows.append((name, f"{_text(value)} → {_text(chosen[name])}", source))
        else:
            rows.append((name, _text(value), "default" if _equal(value, defaults.get(name)) else "set"))
    for name, value in chosen.items():
        if name not in specification.parameters():
            rows.append((name, _text(value), "chosen on held-out rows"))
    return Table("Settings", ("setting", "value", "origin"), tuple(rows))


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{_name(key)}: {_text(each)}" for key, each in value.items())
    elif isinstance(value, float):
        value = f"{value:.6g}"
    return str(cell(value if value is None or isinstance(value, str) else repr(value)))


def _name(key: object) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _equal(value: object, default: object) -> bool:
    try:
        return bool(value == default)
    except ValueError:  # an array
        return False


def choices_of(fitted: Fitted) -> tuple[Table, ...]:
    """How settings were chosen: tuning, families, blocks, calibration, learning from unlabelled rows."""
    schema, out = fitted.layout.schema, []
    if fitted.tuning is not None:
        title = f"Settings that were tried, with the log-loss of held-out rows ({fitted.tuning.rule})"
        out.append(_best_first(table_of(fitted.tuning.table(), title)))
    if schema.scores is not None:
        title = f"Families that were tried, with the log-loss of each column alone ({schema.scores.n_rows:,} rows)"
        out.append(table_of(schema.scores.table(schema.names), title, most=50))
    if schema.found is not None:
        title = "Blocks of dependent columns that were found, with their gain in log evidence"
        out.append(table_of(schema.found.table(schema.names), title, most=MOST_TRIED))
    if fitted.specification.calibrates and fitted.calibration is not None:
        out += _calibration(fitted)
    if fitted.trace is not None:
        trace = fitted.trace
        listing: dict[str, list[object]] = {
            "steps": [len(trace.log_likelihoods)],
            "converged": [trace.converged],
            "stopped because": [trace.reason],
        }
        out.append(table_of(Listing(listing), "Learning from unlabelled rows (expectation–maximisation)"))
    return tuple(out)


def _best_first(table: Table) -> Table:
    """At most a dozen settings, those with the smallest log-loss."""
    if len(table.rows) <= MOST_TRIED:
        return table
    at = table.header.index("log-loss")
    order = sorted(table.rows, key=lambda row: (row[-1] != "*", row[at] if isinstance(row[at], float) else np.inf))
    return Table(table.title, table.header, tuple(order[:MOST_TRIED]), len(order) - MOST_TRIED)


def _calibration(fitted: Fitted) -> list[Table]:
    calibration = fitted.calibration
    assert calibration is not None
    form = "weights of columns" if len(calibration.weights) else "isotonic" if calibration.knots else "temperature"
    listing = Listing(
        {
            "form": [form],
            "slope of the log-odds": [calibration.slope],
            "share of outliers": [calibration.outliers],
            "held out by": [calibration.rule],
        }
    )
    out = [table_of(listing, "Calibration of the probabilities")]
    if len(calibration.weights):
        weights = calibration.column_weights()
        order = np.argsort(-np.asarray(weights["weight"]), kind="stable")
        title = "Weights of columns and of other members, chosen on held-out rows"
        out.append(table_of(weights, title, rows=order.tolist(), most=50))
    return out


def members_of(fitted: Fitted) -> tuple[Member, ...]:
    """The members of an ensemble beside naive Bayes; empty for other models."""
    weighted = fitted.weighted
    return tuple(
        Member(block.member, len(block.names), None if weighted is None else float(weighted.of_blocks[b][0]))
        for b, block in enumerate(fitted.combined.blocks)
        if block.member
    )


def provenance_of(fitted: Fitted, rows: ReportRows | None, model_file: str | None) -> Provenance:
    """The origin of the learned rows and of the rows of the report."""
    report, learned = fitted.report, []
    if not fitted.without_rows:
        total = float(fitted.model.weights.weight.sum())
        learned.append(("weight of all rows" if total != round(total) else "rows learned", f"{total:,.10g}"))
    if model_file is not None:
        learned.append(("model file", model_file))
    if fitted.target is not None:
        learned.append(("column of labels", fitted.target))
    if report is not None:
        learned += [
            ("source", report.source),
            ("rows read", f"{report.n_rows:,}"),
            ("rows skipped", f"{report.skipped:,}"),
            ("seconds", f"{report.seconds:.3g}"),
        ]
    else:
        learned.append(("source", "given parameters" if fitted.without_rows else "not recorded in the model"))
    return Provenance(
        Table("What the model has learned from", ("", ""), tuple(learned)),
        () if report is None else tuple(report.files[:50]),
        () if report is None else tuple(report.faults),
        None if rows is None else _data(rows),
    )


def _data(rows: ReportRows) -> Table:
    provided = rows.provided
    facts: list[tuple[Cell, ...]] = [("source", provided.name or "rows in memory"), ("rows", f"{len(rows):,}")]
    if provided.of_rows is not None and provided.of_rows > len(rows):
        facts.append(("sampled from", counted(provided.of_rows, "row")))
    facts.append(("rows skipped", f"{provided.skipped:,}"))
    if rows.codes is None:
        facts.append(("labels", "none"))
    else:
        facts.append(("read as", "new rows" if rows.are_new else "the rows that the model has learned"))
    return Table("Rows of this report", ("", ""), tuple(facts))


def warnings_of(
    fitted: Fitted, columns: Sequence[ColumnSummary], held_out: HeldOut | None, rows: ReportRows | None
) -> tuple[str, ...]:
    """Sentences about what a reader of the report should know first."""
    out = [] if fitted.report is None else [str(note) for note in fitted.report.notes]
    labels, weight = fitted.classes.labels.tolist(), fitted.model.weights.weight
    if len(labels) == 1:
        out.append(f"The model has one class, {labels[0]}, so it predicts that class for every row.")
    rare = [f"{label} ({count:,.6g})" for label, count in zip(labels, weight.tolist(), strict=True) if count < RARE]
    if rare and not fitted.without_rows:
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        out.append(f"Classes with fewer than {RARE} rows have uncertain parameters: {', '.join(rare[:5])}{more}.")
    out += [
        f"{percent_text(column.unseen)} of the cells of {column.name} hold levels that the model has not seen."
        for column in columns
        if column.unseen is not None and column.unseen > UNSEEN
    ]
    if held_out is not None:
        if held_out.log_loss > held_out.baseline_log_loss > 0:
            out.append(
                f"The log-loss of held-out rows is {held_out.log_loss:.4g}, and that of the class shares alone "
                f"{held_out.baseline_log_loss:.4g}: the class shares alone predict better."
            )
        elif held_out.calibration_error > UNCALIBRATED:
            out.append(
                f"Probabilities differ from observed frequencies by {percent_text(held_out.calibration_error)} on "
                f"average.{_calibration_advice(fitted)}"
            )
        out += held_out.notes
    if rows is not None and rows.labelled is not None and rows.labelled.absent:
        cells = "its cells count" if len(rows.labelled.absent) == 1 else "their cells count"
        out.append(f"The data have no {columns_at(rows.labelled.absent)}, so {cells} as missing.")
    if rows is not None and rows.provided.skipped:
        out.append(f"{counted(rows.provided.skipped, 'row')} of the data could not be read.")
    return tuple(out)


def _calibration_advice(fitted: Fitted) -> str:
    """The setting that calibrates the model, if it has one that is not set."""
    can = "calibrate" in fitted.specification.parameters() and not fitted.specification.calibrates
    return " Fit the model with calibrate=True." if can else ""
