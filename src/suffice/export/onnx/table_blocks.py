"""Scores of blocks of tables: counts of combinations of levels, and of pairs of bins."""

from __future__ import annotations

import numpy as np

from suffice.exceptions import InputError
from suffice.export.onnx.graph import Value
from suffice.export.onnx.inputs import Inputs
from suffice.export.onnx.levels import level_codes
from suffice.export.onnx.operations import (
    as_number,
    concatenated,
    count_below,
    is_nan,
    kept,
    log,
    log_sum_exp,
    select,
    squeezed,
    summed,
    taken,
    tall,
    where,
)
from suffice.families.formula import JointCells, PairTables
from suffice.numerics.types import Codes, Float

__all__ = ["cell_scores", "pair_scores"]

MOST_NUMBERS = 1 << 27  # of a table; a file of a graph cannot have more than 2 GB


# ---------------------------------------------------------------------- combinations of levels


def cell_scores(inputs: Inputs, positions: tuple[int, ...], form: JointCells) -> tuple[Value | None, Value | None]:
    """Scores (n, K), and where a level is an error (n, 1); None if all scores are 0, and if none is an error."""
    sizes = np.array([len(each) for each in form.levels])
    codes = [level_codes(inputs, at, levels) for at, levels in zip(positions, form.levels, strict=True)]
    unknown = [code.equals(size + 1) for code, size in zip(codes, sizes, strict=True) if size]
    wrong = _any_of(unknown) if form.knows_all and unknown else None
    if not len(form.cells):
        return None, wrong
    known = concatenated([code < np.array(size) for code, size in zip(codes, sizes, strict=True)], 1)
    agrees: Value | None = None
    for j, code in enumerate(codes):
        absent = code >= sizes[j]
        own = code.equals(form.cells[:, j]) | absent
        agrees = own if agrees is None else agrees & own
    assert agrees is not None
    counted = log(as_number(agrees) @ form.count.T)
    with np.errstate(divide="ignore"):
        log_sizes, log_alpha = np.log(np.maximum(sizes, 1)), np.log(form.alpha)
    if np.isfinite(log_alpha):
        pseudo = summed(where(known, 0.0, log_sizes), 1, keep=True) + log_alpha
        both = concatenated([tall(counted, 2), tall(pseudo + np.zeros(len(form.log_size)), 2)], 2)
        counted = squeezed(log_sum_exp(both, 2), 2)
    any_known = summed(where(known, 1.0, 0.0), 1, keep=True) > 0.0
    return kept(any_known, counted - form.log_size), wrong


def _any_of(masks: list[Value]) -> Value:
    out = masks[0]
    for mask in masks[1:]:
        out = out | mask
    return out


# ---------------------------------------------------------------------- pairs of bins


def pair_scores(inputs: Inputs, positions: tuple[int, ...], form: PairTables) -> Value:
    """Scores (n, K): the logarithm of the mean over the parents that are read."""
    share, given = _log_tables(form)
    graph, n_classes = inputs.graph, len(form.weight)
    none = share.shape[1]  # a bin that is not read
    bins = _bins(inputs, positions, form, none)
    padded = np.vstack([share.T, np.zeros((1, n_classes))])
    base = summed(taken(graph, padded, bins), 1)
    width = none + 1
    row_of = np.append(np.where(form.rows >= 0, form.rows, 0), 0)
    products = []
    for i in form.parents:
        own = select(bins, [i], len(positions))
        pair = taken(graph, row_of, own, kind="whole") * np.array(width) + bins
        product = summed(taken(graph, given, pair), 1) + squeezed(taken(graph, padded, own), 1)
        products.append(tall(where(own.equals(none), -np.inf, product), 0))
    if not products:
        return base
    every = concatenated(products, 0)
    used = summed(where(every > -np.inf, 1.0, 0.0), 0)
    some = used > 0.0
    safe = where(tall(some, 0), every, 0.0)
    mean = squeezed(log_sum_exp(safe, 0), 0) - log(where(some, used, 1.0))
    return where(some, mean, base)


def _log_tables(form: PairTables) -> tuple[Float, Float]:
    """log p(b | k) (K, C), and log p(b | k, a) of a bin and that of a parent (R (C + 1), K), 0 for bins of one column.

    The last bin of each row is one that is not read.
    """
    if form.pairs.size + form.pairs.shape[0] * form.pairs.shape[1] > MOST_NUMBERS:
        raise InputError(
            f"The tables of pairs have {form.pairs.size:,} numbers, more than a graph can hold. Fit the model with "
            "fewer parents (max_parents) or fewer bins."
        )
    pooled = form.single.sum(axis=0) / max(form.weight.sum(), 1e-300)
    share = (form.single + form.marginal * pooled) / (form.weight[:, None] + form.marginal)
    of_row = np.flatnonzero(form.rows >= 0)[np.argsort(form.rows[form.rows >= 0])]
    with np.errstate(divide="ignore", invalid="ignore"):
        given = np.log(form.pairs + form.smoothing * share[:, None, :])
        given -= np.log(form.single[:, of_row] + form.smoothing)[:, :, None]
        log_share = np.log(share)
    column = _columns_of_bins(form)
    given[:, column[of_row][:, None] == column] = 0.0
    given = np.pad(given, ((0, 0), (0, 0), (0, 1)))
    return log_share, given.reshape(len(given), -1).T


def _columns_of_bins(form: PairTables) -> Codes:
    """The column of each bin that is read (C,)."""
    sizes = [
        len(cuts) + 2 if cuts is not None else len(levels or ()) + (2 if others else 1)
        for cuts, levels, others in zip(form.cuts, form.levels, form.others, strict=True)
    ]
    column = np.repeat(np.arange(len(sizes)), sizes)
    out = np.zeros(int(form.places.max(initial=-1)) + 1, dtype=np.int64)
    out[form.places[form.places >= 0]] = column[form.places >= 0]
    return out


def _bins(inputs: Inputs, positions: tuple[int, ...], form: PairTables, none: int) -> Value:
    """The bin of each column of each row (n, d); ``none`` if it is not read."""
    graph, start, out = inputs.graph, 0, []
    for j, at in enumerate(positions):
        cuts, levels = form.cuts[j], form.levels[j]
        if cuts is not None:
            size = len(cuts) + 2
            cell = inputs.cell(at)
            bins = count_below(cell, [np.array(cuts, dtype=np.float64)], including=False)
            bins = where(is_nan(cell), size - 1, bins, "whole")
            places = form.places[start : start + size]
        else:
            assert levels is not None
            size = len(levels) + (2 if form.others[j] else 1)
            own = form.places[start : start + size]
            others = own[len(levels)] if form.others[j] else -1
            # In the order of `level_codes`: the levels, a missing cell, any other level.
            places = np.append(own[: len(levels)], [own[-1], others])
            bins = level_codes(inputs, at, levels)
        out.append(taken(graph, np.where(places >= 0, places, none), bins, kind="whole"))
        start += size
    return concatenated(out, 1)
