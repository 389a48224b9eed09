"""Blocks of dependent columns that the first rows choose: blocks="auto"."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import (
    Choices,
    MergeError,
    SingularCovarianceError,
    SingularCovarianceWarning,
    SufficeError,
    listed,
)
from suffice.families.linear import row_blocks
from suffice.learning.block_search import merged_groups
from suffice.learning.family_choice import BEST, Families, block_family, chosen_blocks, family_of
from suffice.learning.gaussian_blocks import GaussianEvidence
from suffice.learning.table_blocks import MOST_LEVELS, TableEvidence
from suffice.numerics.types import Float, Index, Matrix
from suffice.statistics import Membership, Moments, PooledScatter, Scatter
from suffice.statistics.classes import evenly_spaced, present_rows
from suffice.tables import Table
from suffice.tables.column_blocks import GAUSSIAN, TABLE, ColumnBlocks
from suffice.tables.levels import in_order
from suffice.tables.table import ColumnSelection, Schema, is_sparse

__all__ = ["check_same_blocks", "found_blocks"]

MOST_COLUMNS = 2048  # of numbers, or levels of all discrete columns together; more stay apart
MOST_ENTRIES = 1 << 24  # of scatter matrices: 128 MiB; beyond them the classes share one
MOST_PRODUCTS = 1 << 38  # rows × columns²
MOST_CODES = 1 << 24  # rows × columns
FEW = 5  # degrees of freedom


@dataclass(frozen=True)
class _Found:
    columns: tuple[int, ...]
    family: str
    gain: float
    covariance: str = ""
    shrinkage: str = ""


def found_blocks(
    families: Families, schema: Schema, table: Table, members: Membership, settings: Mapping[str, object]
) -> ColumnBlocks:
    """The blocks of the columns that would be Gaussian, categorical or Bernoulli by their type or name."""
    columns = _eligible(families, schema, settings)
    here = present_rows(members.codes, members.weights)
    rows = np.arange(len(members)) if here is None else np.flatnonzero(here)
    found: list[_Found] = []
    try:
        found += _gaussian_blocks(columns["gaussian"], schema, table, members, rows, settings)
        if settings["missing"] == "ignore" and settings["unseen"] != "share":  # a joint table has no other policies
            found += _tables(columns["categorical"], schema, table, members, rows)
    except SufficeError:  # of invalid values; the fit raises it again
        found = []
    found.sort(key=lambda each: each.columns)
    return ColumnBlocks(
        tuple(each.columns for each in found),
        tuple(each.family for each in found),
        tuple(each.covariance for each in found),
        tuple(each.shrinkage for each in found),
        np.array([each.gain for each in found], dtype=np.float64),
    )


def _eligible(families: Families, schema: Schema, settings: Mapping[str, object]) -> dict[str, list[int]]:
    """Positions of the columns of numbers and of the discrete ones, in the order of their names."""
    if isinstance(families, Mapping):
        families = {key: "auto" if _is_best(family) else family for key, family in families.items()}
    elif _is_best(families):
        families = "auto"
    kinds = {name: family_of(name, settings) for name in ("gaussian", "categorical", "bernoulli")}
    place = {name: i for i, name in enumerate(in_order(list(schema.names)))}
    out: dict[str, list[int]] = {"gaussian": [], "categorical": []}
    for block in chosen_blocks(families, schema, settings):
        kind = next((name for name, family in kinds.items() if block.family == family), None)
        if kind is not None:
            out["gaussian" if kind == "gaussian" else "categorical"] += block.positions(len(schema))
    return {kind: sorted(at, key=lambda j: place[schema.names[j]]) for kind, at in out.items()}


def _is_best(family: object) -> bool:
    return isinstance(family, str) and family == BEST


def _selection(at: list[int], schema: Schema) -> ColumnSelection:
    """The columns at these positions; a slice, which needs no copy, if they are all."""
    return slice(None) if at == list(range(len(schema))) else at


# ---------------------------------------------------------------------- numbers


def _gaussian_blocks(
    at: list[int], schema: Schema, table: Table, members: Membership, rows: Index, settings: Mapping[str, object]
) -> list[_Found]:
    if not 2 <= len(at) <= MOST_COLUMNS or len(rows) < 2:
        return []
    rows = evenly_spaced(rows, MOST_PRODUCTS // len(at) ** 2)
    part = members if len(rows) == len(members) else members.take(rows)
    names = [schema.names[j] for j in at]
    own = len(part.classes) * len(at) ** 2 <= MOST_ENTRIES
    x = table.numbers(_selection(at, schema), names, copy=True)
    statistic = _scatter(x if len(rows) == len(members) else x[rows], names, part, own=own)
    matrices = statistic.scatter if isinstance(statistic, Scatter) else statistic.within()[0][None]
    degrees = np.maximum(statistic.weight - 1, 0.0)
    varying = np.flatnonzero(np.diagonal(matrices.sum(axis=0)) > 0)
    if len(varying) < 2 or degrees.sum() <= 0:
        return []
    matrices, degrees = _with_small_classes_together(matrices[:, varying][:, :, varying], degrees, own=own)
    evidence = GaussianEvidence(matrices, degrees)
    found = []
    for group in merged_groups(evidence):
        columns = varying[group]
        covariance = "shared" if not own or evidence.shares(group) else "own"
        order = sorted(columns.tolist(), key=at.__getitem__)
        singular = _is_singular(statistic.columns(order), [names[j] for j in order], covariance, settings)
        shrinkage = "oas" if singular else ""
        found.append(_Found(tuple(at[j] for j in order), GAUSSIAN, evidence.gain(group), covariance, shrinkage))
    return found


def _scatter(x: Matrix, names: Sequence[object], members: Membership, *, own: bool) -> Scatter | PooledScatter:
    """Scatter matrices of the rows, in which missing cells have the mean of their class."""
    kind: type[Scatter] | type[PooledScatter] = Scatter if own else PooledScatter
    x = x if is_sparse(x) else np.asarray(x)
    mean = Moments.summarize(x, members).mean
    if not is_sparse(x):
        return kind.summarize(_filled(x, members, mean), members, names).check(names)
    total: Scatter | PooledScatter = kind.zero(members.classes, len(names))
    for start, block in row_blocks(x):
        part = members.rows(start, start + len(block))
        total = total.merge(kind.summarize(_filled(block, part, mean), part, names))  # type: ignore[arg-type]
    return total.check(names)


def _with_small_classes_together(scatter: Float, degrees: Float, *, own: bool) -> tuple[Float, Float]:
    """The scatter matrices and degrees of freedom, with classes of few rows as one; with all as one unless ``own``.

    The columns of two or three rows always look dependent, and many such classes would add up.
    """
    if not own:
        return scatter, degrees.sum(keepdims=True)
    small = degrees < FEW
    if small.sum() < 2:
        return scatter, degrees
    together = scatter[small].sum(axis=0, keepdims=True)
    return np.concatenate([scatter[~small], together]), np.append(degrees[~small], degrees[small].sum())


def _filled(x: Float, members: Membership, mean: Float) -> Float:
    lacking = np.isnan(x)
    assert members.codes is not None
    return np.where(lacking, mean[members.codes], x) if lacking.any() else x


def _is_singular(
    statistic: Scatter | PooledScatter, names: Sequence[object], covariance: str, settings: Mapping[str, object]
) -> bool:
    """Whether the family of a block could not invert its covariances."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SingularCovarianceWarning)
        try:
            block_family(GAUSSIAN, covariance, "", settings=settings).estimate(statistic, names)
        except (SingularCovarianceError, SingularCovarianceWarning):
            return True
    return False


# ---------------------------------------------------------------------- discrete columns


def _tables(at: list[int], schema: Schema, table: Table, members: Membership, rows: Index) -> list[_Found]:
    if len(at) < 2 or len(rows) < 2:
        return []
    coded = table.categories(_selection(at, schema), [schema.names[j] for j in at])
    sizes = [len(column.levels) for column in coded.columns]
    keep = [i for i, size in enumerate(sizes) if 2 <= size <= MOST_LEVELS // 2]
    width = sum(sizes[i] for i in keep)
    if len(keep) < 2 or width > MOST_COLUMNS:
        return []
    rows = evenly_spaced(rows, min(MOST_PRODUCTS // width**2, MOST_CODES // len(keep)))
    codes = [coded.columns[i].dense(len(coded)) for i in keep]
    codes = codes if len(rows) == len(coded) else [column[rows] for column in codes]
    of_keep = [sizes[i] for i in keep]
    part = members if len(rows) == len(members) else members.take(rows)
    apart = TableEvidence(codes, of_keep, part)
    return [
        _Found(tuple(sorted(at[keep[i]] for i in group)), TABLE, apart.gain(group))
        for group in merged_groups(TableEvidence(codes, of_keep, part))
    ]


# ---------------------------------------------------------------------- merge


def check_same_blocks(mine: Schema, theirs: Schema, choices: Choices) -> None:
    """Raise `MergeError` if the data of two models have chosen different blocks."""
    if mine.found is None or theirs.found is None:
        return
    first, second = mine.found.of_names(mine.names), theirs.found.of_names(theirs.names)
    if first == second:
        return
    only = [key for key in (*first, *second) if first.get(key) != second.get(key)]
    columns = sorted(map(str, only[0]))
    which = "the first model" if only[0] in first else "the second model"
    both = " with another covariance" if only[0] in first and only[0] in second else ""
    raise MergeError(
        f"Cannot merge: the data have different blocks in the two models; only {which} has {listed(columns)} as "
        f"a block{both}. Fit the second model with the blocks of the first: ",
        choices,
        ".",
        column=next(iter(only[0])),
    )
