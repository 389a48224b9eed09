"""Scores of blocks of tables: counts of combinations of levels, and of pairs of bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import InputError
from suffice.export.onnx.chunks import in_chunks, row_range
from suffice.export.onnx.graph import Value
from suffice.export.onnx.inputs import Inputs
from suffice.export.onnx.levels import level_codes
from suffice.export.onnx.operations import (
    absolute,
    as_number,
    concatenated,
    count_below,
    exp,
    is_nan,
    kept,
    log,
    log_sum_exp,
    logical_any,
    reshaped,
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


def pair_scores(inputs: Inputs, positions: tuple[int, ...], form: PairTables) -> tuple[Value, list[Value]]:
    """Scores (n, K): the logarithm of the mean over the parents that are read; and where a cell is infinite (n, 1)."""
    share, given = _log_tables(form)
    graph, n_classes = inputs.graph, len(form.weight)
    single = graph.constant(np.vstack([share.T, np.zeros((1, n_classes))]), "number")
    pairs = graph.constant(given, "number")
    none = share.shape[1]  # a bin that is not read
    bins, order, errors = _bins(inputs, positions, form, none)
    row_of = np.append(np.where(form.rows >= 0, form.rows, 0), 0)
    parents = np.array([order.index(i) for i in form.parents], dtype=np.int64)
    numbers = graph.constant(np.array([len(positions) * n_classes]), "whole")

    def score(start: Value, stop: Value) -> Value:
        own = row_range(bins, start, stop)
        base = summed(taken(graph, single, own), 1)

        def add(number: Value, state: Sequence[Value]) -> list[Value]:
            parent = taken(graph, own, reshaped(taken(graph, parents, number, kind="whole"), 1), axis=1, kind="whole")
            pair = taken(graph, row_of, parent, kind="whole") * np.array(none + 1) + own
            product = summed(taken(graph, pairs, pair), 1) + squeezed(taken(graph, single, parent), 1)
            return _with_product(state, product, ~parent.equals(none))

        trips = graph.constant(np.array(len(parents)), "whole")
        most, total, used = graph.loop(trips, [base * 0.0 - np.inf, base * 0.0, base * 0.0], add)
        some = used > 0.0
        return where(some, most + log(where(some, total / used, 1.0)), base)

    scores = in_chunks(graph, inputs.rows, numbers, n_classes, score) if len(parents) else None
    return summed(taken(graph, single, bins), 1) if scores is None else scores, errors


def _with_product(state: Sequence[Value], product: Value, reads: Value) -> list[Value]:
    """The largest logarithm, the sum of the products relative to it, and their number, with one more product."""
    before, total, used = state
    most = where(reads & (product > before), product, before)
    known = where(most > -np.inf, most, 0.0)
    added = kept(reads, exp(product - known))
    return [most, total * exp(before - known) + added, used + as_number(reads)]


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


def _sizes(form: PairTables) -> list[int]:
    """Number of bins of each column."""
    return [
        len(cuts) + 2 if cuts is not None else len(levels or ()) + (2 if others else 1)
        for cuts, levels, others in zip(form.cuts, form.levels, form.others, strict=True)
    ]


def _columns_of_bins(form: PairTables) -> Codes:
    """The column of each bin that is read (C,)."""
    sizes = _sizes(form)
    column = np.repeat(np.arange(len(sizes)), sizes)
    out = np.zeros(int(form.places.max(initial=-1)) + 1, dtype=np.int64)
    out[form.places[form.places >= 0]] = column[form.places >= 0]
    return out


def _bins(
    inputs: Inputs, positions: tuple[int, ...], form: PairTables, none: int
) -> tuple[Value, list[int], list[Value]]:
    """The bins of the columns of each row (n, d), ``none`` if it is not read; the order of the columns; and errors."""
    graph, out, errors = inputs.graph, list[Value](), list[Value]()
    sizes = _sizes(form)
    places = np.split(np.where(form.places >= 0, form.places, none), np.cumsum(sizes[:-1]))
    with_cuts = [j for j, cuts in enumerate(form.cuts) if cuts is not None]
    with_levels = [j for j, cuts in enumerate(form.cuts) if cuts is None]
    if with_cuts:
        cells, starts = (
            inputs.numbers([positions[j] for j in with_cuts]),
            np.cumsum([0, *(sizes[j] for j in with_cuts)]),
        )
        bins = count_below(cells, [np.array(form.cuts[j], dtype=np.float64) for j in with_cuts], including=False)
        bins = where(is_nan(cells), starts[1:] - 1, bins + starts[:-1], "whole")
        out.append(taken(graph, np.concatenate([places[j] for j in with_cuts]), bins, kind="whole"))
        errors.append(logical_any(absolute(cells).equals(np.inf), 1))
    for j in with_levels:
        levels, own = form.levels[j], places[j]
        assert levels is not None
        # In the order of `level_codes`: the levels, a missing cell, any other level.
        own = np.append(own[: len(levels)], [own[-1], own[len(levels)] if form.others[j] else none])
        out.append(taken(graph, own, level_codes(inputs, positions[j], levels), kind="whole"))
    return concatenated(out, 1), [*with_cuts, *with_levels], errors
