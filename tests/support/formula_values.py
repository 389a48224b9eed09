"""Formulas evaluated one row and one class at a time, as their definitions say, with SciPy's distributions."""

import numpy as np
from scipy import special, stats

from suffice.families.formula import (
    CentredLines,
    CountDraws,
    GammaCurve,
    GaussianBlock,
    JointCells,
    Knots,
    LevelLogs,
    Line,
    LogShares,
    Normal,
    PairTables,
    PowerTail,
    Rising,
    Steps,
    Words,
    YesNo,
)


def formula_values(formula, rows, words_of=None):
    """Values of each row and class (n, K); ``rows`` are lists of cells, and ``words_of`` splits a text into words."""
    with np.errstate(all="ignore"):
        if formula.block is None:
            return np.array([_of_columns(formula.columns, row) for row in rows])
        return np.array([BLOCKS[type(formula.block)](formula.block, row, words_of) for row in rows])


def _of_columns(forms, row):
    values = np.array([COLUMNS[type(form)](form, cell) for form, cell in zip(forms, row, strict=True)])
    sure = np.isposinf(values).any(axis=0)
    total = np.where(np.isposinf(values), 0.0, values).sum(axis=0)
    return np.where(sure.any() & ~sure, -np.inf, total)


def _number(value):
    """A form of a column of numbers, to which a missing cell adds nothing."""

    def evaluate(form, cell):
        K = len(next(each for each in vars(form).values() if isinstance(each, np.ndarray) and each.ndim))
        return np.zeros(form.table.shape[1] if hasattr(form, "table") else K) if cell is None else value(form, cell)

    return evaluate


def _normal(form, x):
    x = np.log(x) if form.of_logarithm else x
    z = ((x - form.mean) - form.mean_low) * form.scale
    if form.freedom is None:
        return form.log_norm - z**2 / 2
    return form.log_norm - (form.freedom + 1) / 2 * np.log1p(z**2 / form.freedom)


def _line(form, x):
    steep = np.isinf(form.slope)
    added = np.where(steep, 0.0, (x - form.origin) * np.where(steep, 0.0, form.slope))
    return form.at_origin + np.where(steep & (x > 0), form.slope, added)


def _rise(a, x):
    a = np.asarray(a, dtype=float)
    return np.where(a > 0, special.gammaln(a + x) - special.gammaln(a), -np.inf if x > 0 else 0.0)


def _rising(form, x):
    return form.offset + x * form.slope + _rise(form.up, x) - (0.0 if form.down is None else _rise(form.down, x))


def _gamma(form, x):
    """As docs/export.md says, with a series near the mean."""
    t = (x - form.mean) / form.mean
    log_ratio = np.where(np.abs(t) < 0.5, np.log1p(t), np.log(x) - np.log(form.mean))
    share = None if form.wide is None else t / form.spread
    near = form.offset - form.shape * _excess(t) + (0.0 if share is None else form.wide * _excess(share))
    far = form.shape * log_ratio - (form.shape * t if share is None else form.wide * np.log1p(share))
    return np.where(np.abs(t) < 0.01, near, form.offset + far)


def _excess(t):
    return sum((-t) ** n / n for n in range(2, 11))


def _knots(form, x):
    return np.array([np.interp(x, form.knots, column) for column in form.table.T])


def _levels(form, cell):
    if cell is None or (form.size is not None and cell >= form.size):
        return form.missing
    return form.table[form.levels.index(cell)] if cell in form.levels else form.unseen


COLUMNS = {
    Normal: _number(_normal),
    YesNo: _number(lambda form, x: form.yes if x > form.above else form.no),
    Line: _number(_line),
    Rising: _number(_rising),
    PowerTail: _number(lambda form, x: form.offset - form.power * np.log1p(x / form.scale)),
    GammaCurve: _number(_gamma),
    Steps: _number(lambda form, x: form.table[int(sum(cut < x for cut in form.cuts))]),
    Knots: _number(_knots),
    LevelLogs: _levels,
}


def _gaussian(form, row, _):
    known = [j for j, cell in enumerate(row) if cell is not None]
    if not known:
        return np.zeros(len(form.mean))
    x = np.array([row[j] for j in known])
    out = []
    for k, mean in enumerate(form.mean + form.mean_low):
        own = k if len(form.whitening) > 1 else 0
        if form.covariance is not None:
            covariance = form.covariance[own]
        else:
            covariance = np.linalg.inv(form.whitening[own] @ form.whitening[own].T)
        some = covariance[np.ix_(known, known)]
        deviation = np.sqrt(np.diagonal(some))
        unit = np.where(deviation > 0, deviation, 1.0)  # SciPy's rank depends on the units of columns
        z, standard = (x - mean[known]) / unit, some / unit / unit[:, None]
        if form.freedom is None:
            density = stats.multivariate_normal.logpdf(z, cov=standard, allow_singular=True)
        else:
            density = stats.multivariate_t.logpdf(z, shape=standard * form.spread[k], df=form.freedom[k])
        out.append(density - np.log(unit).sum())
    return out


def _joint(form, row, _):
    places = [each.index(cell) if cell in each else None for each, cell in zip(form.levels, row, strict=True)]
    if all(at is None for at in places) or not len(form.cells):
        return np.zeros(len(form.log_size))
    agrees = [all(at is None or at == c for at, c in zip(places, cell, strict=True)) for cell in form.cells]
    cells = np.prod([len(each) for each, at in zip(form.levels, places, strict=True) if at is None])
    return np.log(form.count[:, agrees].sum(axis=1) + form.alpha * cells) - form.log_size


def _bin(form, j, cell):
    if form.cuts[j] is not None:
        return len(form.cuts[j]) + 1 if cell is None else sum(cut < cell for cut in form.cuts[j])
    if cell is None:
        return len(form.levels[j]) + form.others[j]
    if cell in form.levels[j]:
        return form.levels[j].index(cell)
    return len(form.levels[j]) if form.others[j] else None


def _pairs(form, row, _):
    start, bins = 0, []
    for j, cell in enumerate(row):
        at = _bin(form, j, cell)
        bins.append(-1 if at is None else int(form.places[start + at]))
        start += len(form.cuts[j]) + 2 if form.cuts[j] is not None else len(form.levels[j]) + form.others[j] + 1
    pooled = form.single.sum(axis=0) / form.weight.sum()
    share = (form.single + form.marginal * pooled) / (form.weight[:, None] + form.marginal)
    known = [b for b in bins if b >= 0]
    products = []
    for i in form.parents:
        if bins[i] >= 0:
            given = form.pairs[:, form.rows[bins[i]]] + form.smoothing * share
            given = given / (form.single[:, [bins[i]]] + form.smoothing)
            others = [b for j, b in enumerate(bins) if b >= 0 and j != i]
            products.append(np.log(share[:, bins[i]]) + np.log(given[:, others]).sum(axis=1))
    return special.logsumexp(products, axis=0) - np.log(len(products)) if products else np.log(share[:, known]).sum(1)


def _table(table, weight):
    return table.values(weight) if isinstance(table, LogShares) else table


def _words(form, row, words_of):
    K = len(form.table.count if isinstance(form.table, LogShares) else form.table)
    if row[0] is None:
        return np.zeros(K)
    words = words_of(row[0])
    x = np.array([words.count(each) for each in form.words], dtype=float)
    v = (x > 0).astype(float) if form.distinct else x
    if form.unit and not form.distinct:
        norm = np.sqrt(sum(np.log1p(words.count(each)) ** 2 for each in set(words)))
        v = np.where(x > 0, np.maximum(np.round(np.log1p(x) / norm * 2**30), 1) / 2**30, 0.0)
    if form.length and v.sum() > 0:
        v = v * (form.mean_length / v.sum()) ** form.length
    v = v if form.weight is None else v * form.weight
    if form.kind == "draws":
        a = form.table.count + form.table.added if isinstance(form.table, LogShares) else form.table
        return np.array([sum(_rise(*each) for each in zip(own, v, strict=True)) for own in a]) - _rise(
            a.sum(1), v.sum()
        )
    table = _table(form.table, form.weight)
    if form.kind == "present":
        if form.unit and not x.any():
            return np.zeros(K)
        return np.where(x > 0, table, _table(form.absent, form.weight)).sum(axis=1)
    used = v > 0
    sure = np.isposinf(table[:, used]).any(axis=1)
    total = np.where(np.isposinf(table[:, used]), 0.0, table[:, used] * v[used]).sum(axis=1)
    return np.where(sure.any() & ~sure, -np.inf, total)


def _lines(form, row, _):
    return (form.slope * (np.array(row) - form.origin - form.away / 2)).sum(axis=1)


def _draws(form, row, _):
    rises = np.array([_rise(form.draws[:, j], x) for j, x in enumerate(row)]).sum(axis=0)
    return rises - _rise(form.draws.sum(axis=1), sum(row))


BLOCKS = {
    CentredLines: _lines,
    CountDraws: _draws,
    GaussianBlock: _gaussian,
    JointCells: _joint,
    PairTables: _pairs,
    Words: _words,
}
