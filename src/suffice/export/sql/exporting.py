"""`to_sql`: a fitted model as one SELECT statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suffice.exceptions import Argument, InputError, counted, listed
from suffice.export.sql.cells import Cells
from suffice.export.sql.engine import Engine
from suffice.export.sql.engines import engine_named
from suffice.export.sql.expressions import Name, Operand, case, either, equal
from suffice.export.sql.outputs import label_literals, output_names
from suffice.export.sql.posteriors import Posterior, posterior_of
from suffice.export.sql.query import PAGE, Query
from suffice.export.sql.scores import scores_of
from suffice.export.sql.table_names import name_beside, prefix_beside, table_named
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import ScoringRule

__all__ = ["statement"]


def statement(
    fitted: Fitted,
    table: str,
    dialect: str,
    keep: Sequence[str] | None,
    columns: Mapping[Any, str] | Sequence[str] | None,
    prefix: str,
    *,
    complete: bool,
) -> str:
    """The statement of `suffice.export.sql.to_sql`."""
    engine, source = engine_named(dialect), table_named(table)
    _check_settings(prefix, complete)
    rule = ScoringRule.of(fitted)
    names = _column_names(fitted, rule, columns)
    _check_distinct(list(names.values()), engine)
    kept = None if keep is None else _checked_names(keep, "keep")
    known = [*names.values(), *(kept or ())]
    query = Query(engine, source, prefix_beside(source), name_beside(known, "suffice_input"))
    label, probabilities, joints, query.row_number = output_names(rule.labels, known, prefix, engine)
    cells = Cells(query, names, fitted.layout.schema.kinds)
    scores = scores_of(rule, cells, complete=complete)
    posterior = posterior_of(scores, rule.calibration, query)
    results = _results(rule, scores, posterior, cells)
    outputs = list(zip(results, [label, *probabilities, *joints], strict=True))
    return query.statement(outputs, kept).sql(dialect=engine.dialect)


# ---------------------------------------------------------------------- names


def _column_names(
    fitted: Fitted, rule: ScoringRule, columns: Mapping[Any, str] | Sequence[str] | None
) -> dict[int, str]:
    """The name in the table of each column that the model reads, by its position."""
    layout = fitted.layout
    if isinstance(columns, str) or not isinstance(columns, Mapping | Iterable | None):
        raise InputError(f"columns must be a list of names of columns; got {columns!r:.80}.", argument="columns")
    known: list[object] = list(layout.names if layout.feature_names is None else layout.feature_names)
    if isinstance(columns, Mapping):
        unknown = [each for each in columns if each not in known]
        if unknown:
            raise InputError(
                f"columns names {listed(unknown)}, not among the columns of the model: {listed(known)}.",
                argument="columns",
            )
        names: Sequence[object] = [columns.get(each, each) for each in known]
    elif columns is None:
        names = known
    else:
        names = list(columns)
        if len(names) != len(known):
            raise InputError(
                f"columns must have a name for each of the {counted(len(known), 'column')} of the model, in their "
                f"order; got {len(names)}.",
                argument="columns",
            )
    used = {column.position: names[column.position] for column in rule.columns}
    given = [] if columns is None else columns.values() if isinstance(columns, Mapping) else names
    wrong = [each for each in given if not isinstance(each, str)]
    if wrong:
        raise InputError(f"columns must have texts as names; got {wrong[0]!r:.80}.", argument="columns")
    if not all(isinstance(each, str) for each in used.values()):
        raise InputError(
            "The model was fitted without names of columns. Give their names in the table, in their order: ",
            Argument("columns", [f"column_{i}" for i in range(len(known))][:3]),
            ".",
            argument="columns",
        )
    _checked_names(list(used.values()), "columns")
    return {at: str(name) for at, name in used.items()}


def _check_settings(prefix: object, complete: object) -> None:
    if not isinstance(prefix, str):
        raise InputError(f"prefix must be a text; got {prefix!r:.80}.", argument="prefix")
    if not _can_name(prefix):
        raise InputError(
            f"{prefix!r:.80} cannot be in the name of a column in SQL. Use another prefix.", argument="prefix"
        )
    if not isinstance(complete, bool):
        raise InputError(f"complete must be True or False; got {complete!r:.80}.", argument="complete")


def _check_distinct(names: Sequence[str], engine: Engine) -> None:
    """Raise `InputError` if the engine would read two columns of the model from one column of the table."""
    found: dict[str, str] = {}
    for name in names:
        other = found.get(engine.same_name(name))
        if other is not None:
            same = f"the column {name!r}" if name == other else f"{other!r} and {name!r}, which differ only in case"
            raise InputError(
                f"Two columns of the model would be read from one column of the table: {same}. Give them different "
                f"names in the table, which {engine.title} can tell apart, and pass the new names as columns.",
                column=name,
                argument="columns",
                page=PAGE,
            )
        found[engine.same_name(name)] = name


def _checked_names(names: Sequence[object], argument: str) -> list[str]:
    """Names of columns; raises `InputError` for those that no statement can have."""
    known = [each for each in names if isinstance(each, str)]
    if isinstance(names, str) or len(known) < len(names):
        raise InputError(f"{argument} must be a list of names of columns; got {names!r:.80}.", argument=argument)
    for name in known:
        if not name or not _can_name(name):
            raise InputError(
                f"{name!r:.80} cannot be the name of a column in SQL. Rename the column.",
                column=name,
                argument=argument,
            )
    return known


def _can_name(part: str) -> bool:
    """Whether names in a statement can have a part; Spark replaces ``${…}`` by settings."""
    return not ("\0" in part or "${" in part or any("\ud800" <= each <= "\udfff" for each in part))


# ---------------------------------------------------------------------- results


def _results(rule: ScoringRule, scores: list[Name], posterior: Posterior, cells: Cells) -> list[Name]:
    """The label, the posteriors and the scores; NULL for rows that the model would refuse."""
    query, engine = cells.query, cells.query.engine
    impossible = equal(posterior.top, engine.double(float("-inf")))
    refuses = rule.impossible == "error"
    invalid = query.let(case([(either(*cells.invalid), 1)], 0), "invalid") if cells.invalid else None

    def result(value: Operand, otherwise: Operand | None, name: str, *, of_posterior: bool = True) -> Name:
        branches: list[tuple[Any, Operand]] = [] if invalid is None else [(equal(invalid, 1), _null())]
        if of_posterior:
            branches.append((impossible, _null() if refuses or otherwise is None else engine.value(otherwise)))
        return query.let(case(branches, value) if branches else value, name)

    labels = label_literals(rule.labels, engine)
    likeliest = int(rule.prior.argmax())
    code = query.let(posterior.code, "code")
    label = case([(equal(code, k), each) for k, each in enumerate(labels[:-1])], labels[-1])
    out = [result(label, labels[likeliest], "label")]
    for k, (probability, prior) in enumerate(zip(posterior.probabilities, rule.prior.tolist(), strict=True)):
        out.append(result(probability, prior if rule.impossible == "prior" else None, f"probability_{k}"))
    return out + [result(score, None, f"joint_{k}", of_posterior=False) for k, score in enumerate(scores)]


def _null() -> Any:
    from sqlglot import exp

    return exp.null()
