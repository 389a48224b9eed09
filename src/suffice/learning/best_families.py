"""Choose the family of each column by the leave-one-out log-loss of the column alone.

A column of numbers has several candidates. A column of strings may be categories or documents, if it holds many
different strings of several words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np

from suffice import bayes, kernels
from suffice.exceptions import Choices, InputError, MergeError, SufficeError
from suffice.families import Family
from suffice.learning.column_checks import MANY_LEVELS
from suffice.learning.family_choice import BEST, CHOSEN_KINDS, chosen_family, family_of
from suffice.model import Block
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.model.parts import leave_one_out_terms
from suffice.numerics.types import Codes, Float, Mask, Matrix
from suffice.sources.tables import columns_of
from suffice.statistics import Membership
from suffice.statistics.classes import evenly_spaced, present_rows
from suffice.tables import MatrixTable, Table
from suffice.tables.family_scores import FamilyScores
from suffice.tables.levels import is_missing
from suffice.tables.table import Schema, is_sparse
from suffice.text.recognition import have_words

__all__ = ["best_columns", "check_same_choice", "family_scores", "names_best"]

CANDIDATES = ("gaussian", "log_normal", "gamma", "poisson", "histogram")
OF_ALL_NUMBERS = ("gaussian", "histogram")  # their domain is all numbers, so every later batch is in it
MOST_ROWS, LEAST_ROWS = 2_500, 1_000  # that families are scored on; fewer with more than 104 classes
MOST_SCORES = 1 << 18  # of rows and classes
OF_STRINGS = ("categorical", "text")
EXPONENTS = 2.0 ** -np.arange(8)  # of the likelihood of a document, whose words depend on each other
MOST_CELLS = 1 << 20  # log-likelihoods of rows, classes and columns that are computed together
LARGEST_SQUARED = 1e150  # sums of squares of larger numbers may overflow


def names_best(families: object) -> bool:
    """Whether the family of any column is "best"."""
    given = families.values() if isinstance(families, Mapping) else [families]
    return any(isinstance(family, str) and family == BEST for family in given)


def best_columns(families: object, schema: Schema) -> list[int]:
    """Positions of the columns whose family the data choose."""
    if not names_best(families):
        return []
    names = list(schema.names)
    if isinstance(families, Mapping):
        keys = [key for key, family in families.items() if isinstance(family, str) and family == BEST]
        wanted = {name for key in keys for name in columns_of(key, names)}
    else:
        wanted = set(names)
    kinds = (*CHOSEN_KINDS, "text")
    return [j for j, name in enumerate(names) if name in wanted and schema.kinds[j] in kinds]


def family_scores(
    at: Sequence[int],
    schema: Schema,
    table: Table,
    members: Membership,
    settings: Mapping[str, object],
    *,
    all_rows: bool,
) -> FamilyScores:
    """The leave-one-out log-loss of each candidate for the columns at these positions.

    Parameters
    ----------
    table, members
        The first rows. At most 2,500 of them, evenly spaced, are scored; with 262 classes or more, 1,000.
    all_rows : bool
        Whether there will be no other rows in this fit. If not, a later batch may hold a zero or a fraction, so only
        families that take every number are candidates.
    """
    here = present_rows(members.codes, members.weights)
    rows = np.arange(len(members)) if here is None else np.flatnonzero(here)
    most = max(LEAST_ROWS, min(MOST_ROWS, MOST_SCORES // max(len(members.classes), 1)))
    rows = evenly_spaced(rows, most)
    some, part = table.take(rows), members.take(rows)
    numbers = [j for j in at if schema.kinds[j] in CHOSEN_KINDS]
    strings = [j for j in at if schema.kinds[j] == "text" and _may_be_documents(some, j, schema)]
    *parametric, histogram = CANDIDATES if all_rows else OF_ALL_NUMBERS
    names = (*parametric, *(OF_STRINGS if strings else ()), histogram)
    log_loss, error = np.full((len(schema), len(names)), np.nan), np.zeros(len(schema))
    if not len(rows):
        log_loss[numbers, 0] = 0.0  # nothing to choose by
        return FamilyScores(names, log_loss, error, 0)
    prior = leave_one_out_log_prior(part.class_weights(), np.ones(len(part.classes)), part, fixed=False)
    extreme = None if here is not None or not numbers else _extreme_rows(table, numbers, schema)
    families = {name: family_of(name, settings) for name in names}
    tried = [*parametric, histogram]
    step = max(1, MOST_CELLS // (len(rows) * len(members.classes)))
    for start in range(0, len(numbers), step):
        columns = numbers[start : start + step]
        scored: list[list[Float | None]] = [[None] * len(tried) for _ in columns]
        for i, name in enumerate(tried):
            accepted = [
                c
                for c, block in enumerate(Block(families[name], [j], [schema.names[j]]) for j in columns)
                if _accepts(block, some, part)
                and _accepts_all(block, table, members, extreme)  # a few rows refuse most
            ]
            found = _by_column(families[name], [columns[c] for c in accepted], schema, some, part)
            for c, joint in zip(accepted, found, strict=True):
                scored[c][i] = joint + prior
        for j, joints in zip(columns, scored, strict=True):
            log_loss[j, [names.index(name) for name in tried]], error[j] = _log_losses(joints, part)
    for j in strings:
        blocks = [Block(families[name], [j], [schema.names[j]]) for name in OF_STRINGS]
        tempered = [_tempered(_held_out(block, some, part), prior, part) for block in blocks]
        log_loss[j, [names.index(name) for name in OF_STRINGS]] = _log_losses(tempered, part)[0]
    return FamilyScores(names, log_loss, error, len(rows))


def _may_be_documents(table: Table, j: int, schema: Schema) -> bool:
    """Whether a column holds many different strings, of several words on average."""
    try:
        texts = table.documents([j], [schema.names[j]]).listed()
    except SufficeError:  # other values are among the strings
        return False
    return len({text for text in texts if not is_missing(text)}) > MANY_LEVELS and have_words(texts)


def _tempered(log_likelihood: Float, prior: Float, members: Membership) -> Float:
    """log p(y) + t log p(cell | y) of each row (n, K), with the t ≤ 1 that gives the least log-loss."""
    assert members.codes is not None
    joints = [prior + exponent * log_likelihood for exponent in EXPONENTS]
    weights = np.ones(len(members)) if members.weights is None else members.weights
    losses = [-float(np.nansum(weights * _log_share(joint, members.codes))) for joint in joints]
    best: Float = joints[int(np.argmin(losses))]
    return best


def _accepts(block: Block, table: Table, members: Membership) -> bool:
    """Whether all values of the column are in the domain of the family."""
    if block.family.name == "histogram":
        return True
    if not _has_squares(block.take(table)):
        return False
    if block.family.name in OF_ALL_NUMBERS:
        return True
    try:
        block.family.check(block.take(table), block.names, present_rows(members.codes, members.weights))
    except InputError:
        return False
    return True


def _has_squares(x: Matrix) -> bool:
    """Whether differences of the numbers of a column have squares in float64."""
    values = x.data if is_sparse(x) else np.asarray(x)
    if not values.size:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.nanmax(np.abs(values), initial=0.0) < LARGEST_SQUARED)


def _accepts_all(block: Block, table: Table, members: Membership, extreme: Float | None) -> bool:
    """Whether `_accepts` holds for the rows of a large table, by its `_extreme_rows` if they are known."""
    if extreme is None or not np.isfinite(extreme[0, block.columns]).all():
        return _accepts(block, table, members)
    return _accepts(block, MatrixTable(extreme), Membership(members.classes, codes=np.zeros(len(extreme), dtype=int)))


def _extreme_rows(table: Table, at: Sequence[int], schema: Schema) -> Float | None:
    """Rows that are outside the domain of a candidate if any row is; None for a sparse table.

    A domain is an interval of all numbers or of whole numbers. So the rows hold the least and the largest number of
    each column, a missing cell if it has any, and a fraction if it has any.
    """
    x = table.numbers(list(at), [schema.names[j] for j in at], copy=None)
    if is_sparse(x):
        return None
    low, high, missing, whole = kernels.value_ranges(x)
    out = np.full((4, len(schema)), np.nan)
    out[:, at] = low, high, np.where(missing, np.nan, low), np.where(whole, low, np.nextafter(low, high))
    return out


def _by_column(family: Family, at: Sequence[int], schema: Schema, some: Table, members: Membership) -> Iterator[Float]:
    """log p(cell | y) of each row given all other rows (n, K), for each column; NaN without an estimate."""
    block = Block(family, list(at), [schema.names[j] for j in at])
    x = block.take(some) if at else None
    terms: Float | None = None
    if x is not None and len(at) > 1 and not is_sparse(x):
        with suppress(SufficeError):  # of one column; each is tried alone
            family.check(x, block.names)
            statistic = family.summarize(x, members, block.names).check(block.names)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                terms = leave_one_out_terms(block, statistic, some, members)
    for i, j in enumerate(at):
        yield _held_out(Block(family, [j], [schema.names[j]]), some, members) if terms is None else terms[:, :, i]


def _held_out(block: Block, some: Table, members: Membership) -> Float:
    """log p(cell | y) of each row given all other rows (n, K); NaN without an estimate."""
    family = block.family
    x = block.take(some)
    x = np.asarray(x) if family.reads == "numbers" and not is_sparse(x) else x
    none = np.full((len(members), len(members.classes)), np.nan)
    try:
        family.check(x, block.names)
        statistic = family.summarize(x, members, block.names).check(block.names)
        parameters = family.estimate(statistic, block.names)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = family.leave_one_out(statistic, parameters, x, members, block.names)
    except SufficeError:  # the fit raises it again if no other family is better
        return none
    return none if found is None else found


def _log_losses(scored: Sequence[Float | None], members: Membership) -> tuple[Float, float]:
    """Mean of −log p(label | cell) of each candidate, over the rows that all candidates can score.

    And the standard error of the difference between the last and the best of the others.
    """
    assert members.codes is not None
    logs = [None if joint is None or np.isnan(joint).all() else _log_share(joint, members.codes) for joint in scored]
    known = [each for each in logs if each is not None]
    out = np.full(len(scored), np.nan)
    fine: Mask = np.asarray(np.isfinite(np.array(known).reshape(-1, len(members))).all(axis=0) & bool(known))
    if not fine.any():
        out[next(i for i, each in enumerate(scored) if each is not None)] = 0.0  # such as one row in each class
        return out, 0.0
    weights = np.ones(int(fine.sum())) if members.weights is None else members.weights[fine]
    share = weights / weights.sum()
    for i, each in enumerate(logs):
        out[i] = np.nan if each is None else -float(share @ each[fine])
    last, others = logs[-1], [i for i in range(len(logs) - 1) if logs[i] is not None]
    if last is None or not others:
        return out, 0.0
    away = last[fine] - np.asarray(logs[min(others, key=out.__getitem__)])[fine]
    return out, float(np.sqrt(share**2 @ (away - share @ away) ** 2))


def _log_share(joint: Float, codes: Codes) -> Float:
    """log p(label | cell) of each row, at least that of a probability of 2.2e-16; NaN where a score is NaN."""
    own, evidence = joint[np.arange(len(codes)), codes], bayes.log_evidence(joint)
    with np.errstate(invalid="ignore"):
        share = np.where(np.isneginf(evidence), -np.inf, own - evidence)
    return np.maximum(share, np.log(np.finfo(np.float64).eps))


def check_same_choice(mine: Schema, theirs: Schema, choices: Choices) -> None:
    """Raise `MergeError` if the data of two models have chosen different families for a column."""
    if mine.scores is None or theirs.scores is None:
        return
    others = {name: chosen_family(theirs, j) for j, name in enumerate(theirs.names)}
    for j, name in enumerate(mine.names):
        first, second = chosen_family(mine, j), others.get(name)
        if first is not None and second is not None and first != second:
            raise MergeError(
                f"Cannot merge: the data chose the family {first} for column {name!r} in the first model and "
                f"{second} in the second. Fit the second model with the families of the first: ",
                choices,
                ".",
                column=name,
            )
