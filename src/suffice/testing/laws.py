"""The laws, one function each; `check_family` tests them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError, NotLinearError, SingularCovarianceError
from suffice.families import Family
from suffice.families.capabilities import BlockRows, FamilyStatistic, Parameters
from suffice.families.estimation import Smoothed
from suffice.numerics.types import Float, Index, Mask
from suffice.statistics import ClassAxis, Membership, Statistic
from suffice.tables import Coded
from suffice.testing.rows import FORMS, Rows, are_texts, example_rows, plain_table

__all__ = [
    "LAWS",
    "assert_same",
    "check_classes",
    "check_columns",
    "check_estimation",
    "check_family",
    "check_layout",
    "check_linear_form",
    "check_merge",
    "check_posterior",
    "check_relative",
    "check_rescaling",
    "check_sample",
    "check_scale",
    "check_soft_membership",
    "check_split",
    "check_subtract",
    "check_terms",
    "check_weights",
    "check_zero",
]


Posterior = tuple[Float, Float]
"""Posteriors (n, K), and a tolerance for each row (n,)."""
STATISTIC_TOLERANCE = 1e-12  # relative to the largest entry of an array
POSTERIOR_TOLERANCE = 1e-9


# ---------------------------------------------------------------------- comparisons


def _summarize(family: Family, rows: Rows) -> FamilyStatistic:
    return family.summarize(rows.batch(family), rows.members(), range(rows.x.shape[1]))


def _scores(family: Family, parameters: Parameters, batch: BlockRows) -> Float:
    """log p(x | y) of each row and class, or the relative scores if they are not densities."""
    return (family.log_likelihood if family.is_density else family.relative_log_likelihood)(parameters, batch)


def assert_same(
    a: Statistic, b: Statistic, law: str, tolerance: float = STATISTIC_TOLERANCE, beside: Statistic | None = None
) -> None:
    """Raise `AssertionError` unless two statistics hold the same numbers on the same classes, up to rounding.

    Parameters
    ----------
    a, b : Statistic
        The statistics.
    law : str
        Name of the law that is tested, for the message.
    tolerance : float, default=1e-12
        Largest difference, relative to the size of b.
    beside : Statistic, optional
        A larger statistic, from which b was computed with rounding errors of its size.

    See Also
    --------
    suffice.testing.check_merge : Compares statistics with this function.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import assert_same, example_rows
    >>> family = Poisson()
    >>> rows = example_rows(family, np.random.default_rng(0))
    >>> statistic = family.summarize(rows.batch(family), rows.members(), range(3))
    >>> assert_same(statistic.merge(statistic), statistic.scale(2), "twice")
    >>> assert_same(statistic, statistic.scale(2), "once")
    Traceback (most recent call last):
    AssertionError: once: weight differs by 44...
    """
    assert a.axes() == b.axes(), f"{law}: {a.axes()} are not {b.axes()}"
    ours, theirs, sizes = a.arrays(), b.arrays(), (beside or b).rounding()
    for name in ours:
        if name.endswith("_low"):
            continue
        difference = ours[name] - theirs[name]
        if f"{name}_low" in ours:
            # Two equal sums of two doubles may be split differently.
            difference = difference + (ours[f"{name}_low"] - theirs[f"{name}_low"])
        size = sizes[name]
        if size.shape != ours[name].shape[1:]:
            size = size.max(initial=0.0)  # the larger statistic has more levels
        off = ~(np.abs(difference) <= tolerance * size)
        assert not off.any(), f"{law}: {name} differs by {np.abs(difference)[off].max():.3g}"


def _posterior(family: Family, statistic: FamilyStatistic, rows: Rows) -> Posterior | None:
    """Posterior under a uniform prior, and a tolerance for rounding, row by row.

    A log-likelihood of 1e8 has eight decimals, and so have the log-odds. None if there are too few rows to estimate
    parameters.
    """
    try:
        parameters = family.estimate(statistic, range(rows.x.shape[1]))
    except (SingularCovarianceError, InputError):
        return None
    log_likelihood = _scores(family, parameters, rows.batch(family))
    assert not np.isnan(log_likelihood).any(), "a log-likelihood is not a number"
    finite = np.where(np.isfinite(log_likelihood), log_likelihood, 0.0)
    rounding = POSTERIOR_TOLERANCE + 1e-13 * np.abs(finite).max(axis=1, initial=0.0)
    # A row with zero density in every class has no posterior, and must have none under another estimate.
    impossible = ~np.isfinite(log_likelihood.max(axis=1, initial=-np.inf))
    log_likelihood[impossible] = np.arange(log_likelihood.shape[1]) * -1e3
    return bayes.posterior(log_likelihood), rounding


def _explained(family: Family, statistic: FamilyStatistic, rows: Rows) -> Mask:
    """Rows with a positive density in every class (n,); all rows if there are no parameters."""
    try:
        parameters = family.estimate(statistic, range(rows.x.shape[1]))
    except (SingularCovarianceError, InputError):
        return np.ones(len(rows.x), dtype=bool)
    return np.asarray(np.isfinite(_scores(family, parameters, rows.batch(family))).all(axis=1))


def _assert_same_posterior(mine: Posterior | None, theirs: Posterior | None, law: str) -> None:
    assert (mine is None) == (theirs is None), f"{law}: only one of the two has parameters"
    if mine is not None and theirs is not None:
        off = np.abs(mine[0] - theirs[0]).max(axis=1, initial=0.0)
        assert np.all(off <= theirs[1]), f"{law}: posteriors differ by {off.max():.3g}"


def _assert_same_model(family: Family, a: FamilyStatistic, b: FamilyStatistic, rows: Rows, law: str) -> None:
    assert_same(a, b, law)
    _assert_same_posterior(_posterior(family, a, rows), _posterior(family, b, rows), law)


# ---------------------------------------------------------------------- the laws

Law = Callable[[Family, Rows, np.random.Generator], None]


def _of_settled_family(law: Law) -> Law:
    """Test a law of sums on the family with what all rows have fixed: statistics of other bins do not add."""

    @wraps(law)
    def check(family: Family, rows: Rows, rng: np.random.Generator) -> None:
        law(family.settled(_summarize(family, rows)), rows, rng)

    return check


def check_zero(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Merging with the statistic of no rows changes nothing.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a statistic that starts with a pseudo-row. Pseudo-rows belong to `Family.estimate`:

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_zero, example_rows
    >>> class Primed(Poisson):
    ...     def zero(self, classes, n_columns):
    ...         none = super().zero(classes, n_columns)
    ...         return replace(none, weight=none.weight + 1)
    >>> rng = np.random.default_rng(0)
    >>> check_zero(Primed(), example_rows(Primed(), rng), rng)
    Traceback (most recent call last):
    AssertionError: merge with zero: weight differs by 1...
    """
    d = rows.x.shape[1]
    whole = _summarize(family, rows)
    for zero in (
        family.zero(ClassAxis(rows.labels), d),
        family.zero(ClassAxis.of([]), d),
        _summarize(family, rows.take(slice(0, 0))),
    ):
        assert_same(whole.merge(zero), whole, "merge with zero", 0.0)
        assert_same(zero.merge(whole), whole, "zero merged", 0.0)


@_of_settled_family
def check_merge(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Merge is commutative and associative.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.
    suffice.testing.check_split : Tests that merged parts equal one pass.

    Examples
    --------
    The law finds a statistic that averages means where it should add sums:

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from suffice.statistics import CellSums
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_merge, example_rows
    >>> class Means(CellSums):
    ...     def merge(self, other):
    ...         return replace(self, total=(self.total + other.total) / 2)
    >>> class Averaging(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return Means(**vars(super().summarize(x, members, columns)))
    >>> rng = np.random.default_rng(0)
    >>> check_merge(Averaging(), example_rows(Averaging(), rng), rng)
    Traceback (most recent call last):
    AssertionError: commutativity: weight differs by 5...
    """
    part = rng.integers(0, 3, len(rows.x))
    a, b, c = (_summarize(family, rows.take(part == i)) for i in range(3))
    _assert_same_model(family, a.merge(b), b.merge(a), rows, "commutativity")
    _assert_same_model(family, a.merge(b).merge(c), a.merge(b.merge(c)), rows, "associativity")


@_of_settled_family
def check_subtract(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Subtract undoes merge.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a statistic that skips the last row of each batch:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_subtract, example_rows
    >>> class Short(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return super().summarize(x[:-1], members.take(slice(0, -1)), columns)
    >>> rng = np.random.default_rng(0)
    >>> check_subtract(Short(), example_rows(Short(), rng), rng)
    Traceback (most recent call last):
    AssertionError: subtract from one pass: weight differs by 3...
    """
    part = rng.random(len(rows.x)) < 0.3
    a, b = _summarize(family, rows.take(~part)), _summarize(family, rows.take(part))
    both = a.merge(b)
    assert_same(both.subtract(b), a, "subtract", beside=both)
    assert_same(_summarize(family, rows).subtract(b), a, "subtract from one pass", beside=both)
    assert_same(a.subtract(a), family.zero(a.classes, rows.x.shape[1]), "subtract all", 0.0)


@_of_settled_family
def check_scale(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """scale(a) scale(b) = scale(ab); scale(0) is zero; scale(2) equals merging with itself.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a statistic that scales its sums, but not its weights:

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from suffice.statistics import CellSums
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_scale, example_rows
    >>> class Unscaled(CellSums):
    ...     def scale(self, factor):
    ...         return replace(super().scale(factor), weight=self.weight)
    >>> class Constant(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return Unscaled(**vars(super().summarize(x, members, columns)))
    >>> rng = np.random.default_rng(0)
    >>> check_scale(Constant(), example_rows(Constant(), rng), rng)
    Traceback (most recent call last):
    AssertionError: scale twice: weight differs by 13.2...
    """
    whole = _summarize(family, rows)
    assert_same(whole.scale(0.3).scale(0.7), whole.scale(0.3 * 0.7), "scale twice")
    assert_same(whole.scale(0.0), family.zero(whole.classes, rows.x.shape[1]), "scale by zero", 0.0)
    _assert_same_model(family, whole.scale(2.0), whole.merge(whole), rows, "scale by two")


@_of_settled_family
def check_split(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Any split of the rows, in any order, with empty pieces, equals one pass.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.
    suffice.testing.check_merge : Tests the merge of three parts.

    Examples
    --------
    The law finds a statistic about the first row of its own batch. Another batch has another first row:

    >>> import numpy as np
    >>> from suffice.families import Gaussian
    >>> from suffice.testing import check_split, example_rows
    >>> class Centred(Gaussian):
    ...     def summarize(self, x, members, columns=None):
    ...         return super().summarize(x - np.nan_to_num(x[:1]), members, columns)
    >>> rng = np.random.default_rng(0)
    >>> check_split(Centred(), example_rows(Centred(), rng), rng)
    Traceback (most recent call last):
    AssertionError: split: mean differs by 6.67e+06...
    """
    n = len(rows.x)
    cuts = np.sort(rng.integers(0, n + 1, 7))
    order = rng.permutation(n)
    pieces = [_summarize(family, rows.take(index)) for index in np.split(order, cuts)]
    total = family.zero(ClassAxis.of([]), rows.x.shape[1])
    for i in rng.permutation(len(pieces)):
        total = total.merge(pieces[i])
    whole = _summarize(family, rows)
    _assert_same_model(family, total.on(whole.classes), whole, rows, "split")
    singles = family.zero(ClassAxis(rows.labels), rows.x.shape[1])
    for i in range(min(n, 50)):
        singles = singles.merge(_summarize(family, rows.take(slice(i, i + 1))))
    some = rows.take(slice(0, 50))
    _assert_same_model(family, singles, _summarize(family, some), some, "row by row")


@_of_settled_family
def check_classes(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Shards with different classes merge into one model.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a statistic that depends on the number of classes in the batch:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_classes, example_rows
    >>> class Balanced(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return super().summarize(x, members, columns).scale(1 / len(members.classes))
    >>> rng = np.random.default_rng(0)
    >>> check_classes(Balanced(), example_rows(Balanced(), rng), rng)
    Traceback (most recent call last):
    AssertionError: union of classes: weight differs by 29.3...
    """
    total = family.zero(ClassAxis.of([]), rows.x.shape[1])
    for k in rng.permutation(len(rows.labels)):
        here = rows.take(rows.codes == k)
        alone = replace(here, codes=np.zeros_like(here.codes), labels=rows.labels[k : k + 1])
        total = total.merge(_summarize(family, alone))
    _assert_same_model(family, total, _summarize(family, rows), rows, "union of classes")


def check_columns(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Reordering columns, or selecting independent ones, gives the same statistic before and after summarising.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a statistic that forgets which cell is in which column:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_columns, example_rows
    >>> class Sorted(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return super().summarize(np.sort(x, axis=1), members, columns)
    >>> rng = np.random.default_rng(0)
    >>> check_columns(Sorted(), example_rows(Sorted(), rng), rng)
    Traceback (most recent call last):
    AssertionError: columns: weight differs by 2...
    """
    n = rows.x.shape[1]
    order = rng.permutation(n)
    at_columns = family.statistic_columns(n)
    for at in (order, order[: 1 + n // 2]) if family.independent else (order,):
        selected, some = _summarize(family, rows).columns(at_columns[:, at].ravel()), _columns_of(rows, at)
        _assert_same_model(family, selected, _summarize(family, some), some, "columns")
    if family.independent and len(at_columns) == 1:
        single = [_summarize(family, _columns_of(rows, np.array([j]))) for j in range(n)]
        assert_same(type(single[0]).concatenate_columns(single), _summarize(family, rows), "columns beside each other")


def _columns_of(rows: Rows, at: Index) -> Rows:
    if isinstance(rows.x, Coded):
        return replace(rows, x=Coded(rows.x.n_rows, tuple(rows.x.columns[j] for j in at)))
    return replace(rows, x=np.ascontiguousarray(rows.x[:, at]))


def check_weights(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """A row of weight k counts like k rows, and a row of weight 0 does not count.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a family that counts rows of weight zero:

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_weights, example_rows
    >>> class Rounded(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return super().summarize(x, replace(members, weights=np.maximum(members.weights, 1)), columns)
    >>> rng = np.random.default_rng(0)
    >>> check_weights(Rounded(), example_rows(Rounded(), rng), rng)
    Traceback (most recent call last):
    AssertionError: weights: weight differs by 6...
    """
    repeated = rows.take(np.repeat(np.arange(len(rows.x)), rows.weights.astype(int)))
    repeated = replace(repeated, weights=np.ones(len(repeated.x)))
    _assert_same_model(family, _summarize(family, rows), _summarize(family, repeated), rows, "weights")
    x = np.where(rows.weights[:, None] > 0, rows.x, "neverseen" if are_texts(rows.x) else 1e300)
    assert_same(_summarize(family, replace(rows, x=x)), _summarize(family, rows), "weight zero", 0.0)


@_of_settled_family
def check_soft_membership(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """One-hot class weights are labels; class weights add like row weights.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.
    suffice.statistics.Membership : The class of each row, as codes or weights.

    Examples
    --------
    The law finds a family that counts a row of two classes in the more probable one only:

    >>> import numpy as np
    >>> from suffice.statistics import Membership
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_soft_membership, example_rows
    >>> class Hard(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         if members.soft is not None:
    ...             members = Membership(members.classes, codes=members.soft.argmax(axis=1))
    ...         return super().summarize(x, members, columns)
    >>> rng = np.random.default_rng(0)
    >>> check_soft_membership(Hard(), example_rows(Hard(), rng), rng)
    Traceback (most recent call last):
    AssertionError: one-hot membership: weight differs by 17...
    """
    axis, d = ClassAxis(rows.labels), rows.x.shape[1]
    one_hot = np.eye(len(axis))[rows.codes]
    batch = rows.batch(family)
    soft = family.summarize(batch, Membership(axis, soft=one_hot, weights=rows.weights), range(d))
    _assert_same_model(family, soft, _summarize(family, rows), rows, "one-hot membership")
    shares = rng.dirichlet(np.ones(len(axis)), len(rows.x)).reshape(-1, len(axis))
    shares = np.round(shares * rows.weights[:, None] * 2**20) / 2**20  # sums do not round, so 0 and 1 are exact
    soft = family.summarize(batch, Membership(axis, soft=shares), range(d))
    total = family.zero(axis, d)
    for k in range(len(axis)):
        codes = np.full(len(rows.x), k)
        part = Membership(axis, codes=codes, weights=np.ascontiguousarray(shares[:, k]))
        total = total.merge(family.summarize(batch, part, range(d)))
    _assert_same_model(family, soft, total, rows, "soft membership")


def check_layout(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Memory order, strides, read-only arrays, float32 and the form of the rows change nothing.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.
    suffice.testing.FORMS : The forms in which rows are read.

    Examples
    --------
    The law finds a family that reads cells in the order of memory:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_layout, example_rows
    >>> class Flat(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return super().summarize(x.ravel("K").reshape(x.shape), members, columns)
    >>> rng = np.random.default_rng(0)
    >>> check_layout(Flat(), example_rows(Flat(), rng), rng)
    Traceback (most recent call last):
    AssertionError: column order: weight differs by 7...
    """
    dense = _summarize(family, replace(rows, form=plain_table))
    _assert_same_model(family, _summarize(family, rows), dense, rows, "form")
    rows = replace(rows, form=plain_table)
    whole = _summarize(family, rows)
    wide = np.zeros((2 * len(rows.x), 2 * rows.x.shape[1]), dtype=rows.x.dtype)
    wide[::2, ::2] = rows.x
    frozen = rows.x.copy()
    frozen.flags.writeable = False
    backward = np.ascontiguousarray(rows.x[::-1])[::-1]
    for layout, x in (
        ("column order", np.asfortranarray(rows.x)),
        ("strides", wide[::2, ::2]),
        ("negative strides", backward),
        ("read-only", frozen),
        ("byte order", rows.x.astype(rows.x.dtype.newbyteorder())),
    ):
        assert_same(_summarize(family, replace(rows, x=x)), whole, layout, 0.0)
    if are_texts(rows.x):
        return
    single = rows.x.astype(np.float32)
    wider = single.astype(np.float64)
    assert_same(
        _summarize(family, replace(rows, x=single)),
        _summarize(family, replace(rows, x=wider)),
        "float32",
        0.0,
    )


def check_posterior(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Posteriors are probabilities, also far from all data.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds densities that underflow far from the data, because they are not kept as logarithms:

    >>> import numpy as np
    >>> from suffice.families import Gaussian
    >>> from suffice.testing import check_posterior, example_rows
    >>> class Normalised(Gaussian):
    ...     def log_likelihood(self, parameters, x):
    ...         density = np.exp(super().log_likelihood(parameters, x))
    ...         with np.errstate(all="ignore"):
    ...             return np.log(density / density.sum(axis=1, keepdims=True))
    >>> rng = np.random.default_rng(0)
    >>> check_posterior(Normalised(), example_rows(Normalised(), rng), rng)
    Traceback (most recent call last):
    AssertionError: a log-likelihood is not a number...
    """
    statistic = _summarize(family, rows)
    for x in (rows.x, 1e3 * rows.x, -1e3 * rows.x) if family.scale_free else (rows.x,):
        far = replace(rows, x=x)
        try:
            family.check(far.batch(family), range(x.shape[1]))
        except InputError:
            continue  # the family refuses such rows
        found = _posterior(family, statistic, far)
        if found is not None and found[0].size:
            posterior = found[0]
            assert np.isfinite(posterior).all(), "a posterior is not finite"
            assert (posterior >= 0).all(), "a posterior is negative"
            assert np.abs(posterior.sum(axis=1) - 1).max() <= 1e-14 * posterior.shape[1], "posteriors do not sum to one"


def check_rescaling(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Rescaling a column changes no posterior. The factors are powers of two, so nothing is rounded.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a variance that is added in the units of the columns:

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from suffice.families import Gaussian
    >>> from suffice.testing import check_rescaling, example_rows
    >>> class Floored(Gaussian):
    ...     def estimate(self, statistic, columns=None):
    ...         found = super().estimate(statistic, columns)
    ...         return replace(found, scale=1 / np.sqrt(found.variance + 1))
    >>> rng = np.random.default_rng(0)
    >>> check_rescaling(Floored(), example_rows(Floored(), rng), rng)
    Traceback (most recent call last):
    AssertionError: rescaling: posteriors differ by 0.185...
    """
    if not family.scale_free:
        return
    factors = 2.0 ** rng.integers(-20, 21, rows.x.shape[1])
    scaled = replace(rows, x=rows.x * factors)
    before = _posterior(family, _summarize(family, rows), rows)
    after = _posterior(family, _summarize(family, scaled), scaled)
    _assert_same_posterior(after, before, "rescaling")


def check_relative(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """The relative log-likelihood, and posteriors written by the kernel, agree with the full log-likelihood.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.
    suffice.testing.check_posterior : Tests the posteriors.

    Examples
    --------
    The law finds a relative log-likelihood without a term that differs between classes, the rate:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_relative, example_rows
    >>> class Short(Poisson):
    ...     def relative_log_likelihood(self, parameters, x):
    ...         return np.nan_to_num(x) @ np.log(parameters.rate).T
    >>> rng = np.random.default_rng(0)
    >>> check_relative(Short(), example_rows(Short(), rng), rng)
    Traceback (most recent call last):
    AssertionError: the relative log-likelihood: posteriors differ by 0.993...
    """
    if not len(rows.x):
        return
    statistic = _summarize(family, rows)
    full = _posterior(family, statistic, rows)
    if full is None:
        return
    parameters = family.estimate(statistic, range(rows.x.shape[1]))
    found = family.relative_log_likelihood(parameters, rows.batch(family))
    found[np.isneginf(found).all(axis=1)] = np.arange(found.shape[1]) * -1e3
    _assert_same_posterior((bayes.posterior(found), full[1]), full, "the relative log-likelihood")
    finish = bayes.posterior_request("predict_proba", np.zeros(full[0].shape[1]), len(rows.x))
    if family.write_posterior(parameters, rows.batch(family), finish) == -1:
        _assert_same_posterior((finish.out, full[1]), full, "the posterior of the kernel")


def check_terms(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """The terms of the columns sum to the relative log-likelihood, also with weights.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.
    suffice.testing.check_linear_form : Tests the coefficients of the log-odds.

    Examples
    --------
    The law finds an explanation that counts each column twice:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_terms, example_rows
    >>> class Double(Poisson):
    ...     def terms(self, parameters, x):
    ...         return 2 * super().terms(parameters, x)
    >>> rng = np.random.default_rng(0)
    >>> check_terms(Double(), example_rows(Double(), rng), rng)
    Traceback (most recent call last):
    AssertionError: the terms miss the log-likelihood by 970...
    """
    if not len(rows.x):
        return
    try:
        parameters = family.estimate(_summarize(family, rows), range(rows.x.shape[1]))
    except (InputError, SingularCovarianceError):
        return  # rows that give no parameters
    batch = rows.batch(family)
    parts = family.terms(parameters, batch)
    if parts is None:
        return
    whole = family.relative_log_likelihood(parameters, batch)
    total = parts.sum(axis=2)
    assert np.array_equal(np.isneginf(total), np.isneginf(whole)), "terms: different cells are impossible"
    finite = np.isfinite(whole)
    off, size = np.abs(total[finite] - whole[finite]), 1 + np.abs(parts).sum(axis=2)[finite]
    assert np.all(off <= 1e-12 * size), f"the terms miss the log-likelihood by {off.max():.3g}"
    weights = rng.uniform(0.0, 2.0, parts.shape[2]) * (np.arange(parts.shape[2]) != 1)
    used = parts[:, :, weights > 0]
    possible = np.isfinite(used).all(axis=(1, 2))
    weighted = family.weighted_log_likelihood(parameters, batch, weights)[possible]
    total = used[possible] @ weights[weights > 0]
    off = np.abs((weighted - weighted[:, :1]) - (total - total[:, :1]))
    size = 1 + np.abs(parts[possible]).sum(axis=(1, 2))[:, None]
    assert np.all(off <= 1e-11 * size), f"weighted terms miss the weighted log-likelihood by {off.max():.3g}"


def check_linear_form(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """The linear form, if there is one, gives the log-odds of rows without missing cells.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.
    suffice.testing.check_terms : Tests the parts of the columns.

    Examples
    --------
    The law finds a linear form without its intercepts:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_linear_form, example_rows
    >>> class Slopes(Poisson):
    ...     def linear_form(self, parameters):
    ...         return super().linear_form(parameters)._replace(offset=np.zeros(len(parameters.rate)))
    >>> rng = np.random.default_rng(0)
    >>> check_linear_form(Slopes(), example_rows(Slopes(), rng), rng)
    Traceback (most recent call last):
    AssertionError: the linear form misses the log-odds by 194...
    """
    if isinstance(rows.x, Coded) or family.reads == "documents":
        return
    rows = rows.take(~np.isnan(rows.x).any(axis=1))
    if not len(rows.x):
        return
    try:
        parameters = family.estimate(_summarize(family, rows), range(rows.x.shape[1]))
        form = family.linear_form(parameters)
    except (NotLinearError, SingularCovarianceError, InputError):
        return
    levels = family.indicators(parameters)
    design = rows.x if levels is None else _indicators(rows.x, levels)
    whole = family.relative_log_likelihood(parameters, rows.batch(family))
    if not (np.isfinite(form.coef).all() and np.isfinite(form.offset).all() and np.isfinite(whole).all()):
        return
    scores = form.offset + (design - form.origin) @ form.coef.T
    size = 1 + np.abs(form.offset).max(initial=0.0) + np.abs((design - form.origin)[:, None] * form.coef).sum(axis=2)
    off = np.abs((scores - scores[:, :1]) - (whole - whole[:, :1]))
    bound = 1e-12 * (size.max(axis=1, initial=0.0) + np.abs(whole).max(axis=1, initial=0.0))
    assert np.all(off <= bound[:, None]), f"the linear form misses the log-odds by {off.max():.3g}"


def _indicators(x: Float, levels: Sequence[Sequence[object]]) -> Float:
    """One indicator column for each level of each column; "(unseen)" marks values without a level."""
    columns = []
    for j, each in enumerate(levels):
        known = [x[:, j] == level for level in each]
        if "(unseen)" in each:
            known[each.index("(unseen)")] = ~np.any(known, axis=0)
        columns += known
    return np.array(columns, dtype=np.float64).reshape(-1, len(x)).T


def check_estimation(family: Family, rows: Rows, rng: np.random.Generator) -> None:
    """Maximum likelihood is map with a flat prior; with many rows the three estimates agree.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds a prior that is stronger than ``smoothing``, so that a flat prior is not maximum likelihood:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_estimation, example_rows
    >>> class Strong(Poisson):
    ...     def estimate(self, statistic, columns=None):
    ...         return Poisson(self.estimation, max(self.smoothing, 5.0)).estimate(statistic, columns)
    >>> rng = np.random.default_rng(0)
    >>> check_estimation(Strong(), example_rows(Strong(), rng, n_rows=200), rng)
    Traceback (most recent call last):
    AssertionError: a flat prior: posteriors differ by 0.981...
    """
    if not isinstance(family, Smoothed):
        return
    try:
        three = [_with_settings(family, estimation=how) for how in ("mle", "map", "bayes")]
    except InputError:
        return  # some settings are valid for one estimation only
    statistic = _summarize(family, rows)
    likely = _explained(three[0], statistic, rows)
    flat = _posterior(_with_settings(family, estimation="map", smoothing=0.0), statistic, rows)
    _assert_same_posterior(flat, _posterior(three[0], statistic, rows), "a flat prior")
    seen = np.bincount(rows.codes[rows.weights > 0], minlength=len(rows.labels))
    if (seen < 4 * (rows.x.shape[1] + 1)).any():
        return
    many = statistic.scale(1e9)
    found = [each for each in (_posterior(each, many, rows) for each in three) if each is not None]
    if len(found) == len(three):
        for each in found[1:]:
            off = np.abs(each[0] - found[0][0])[likely].max(axis=1, initial=0.0)
            assert off.max(initial=0.0) <= 1e-4, f"with many rows, estimates differ by {off.max():.3g}"


def _with_settings(family: Family, **settings: object) -> Family:
    """The family with some settings changed; families are dataclasses."""
    dataclass: Any = family
    changed: Family = replace(dataclass, **settings)
    return changed


def check_sample(family: Family, rows: Rows, rng: np.random.Generator, n: int = 4000) -> None:
    """A model fitted to its own samples predicts them as well as the original.

    The expected loss of log-likelihood per row is about half the number of parameters over n; a loss of ten times that
    is an error and not chance. The law does not apply to families that are not ``consistent`` (a fixed shrinkage), nor
    to classes of a few rows, whose parameters are floors or those of all rows.

    Parameters
    ----------
    family : Family
        The family to test.
    rows : Rows
        Rows to fit it to.
    rng : Generator
        Random generator.
    n : int, default=4000
        Number of rows to draw from each class.

    See Also
    --------
    suffice.testing.check_family : Tests all laws.

    Examples
    --------
    The law finds counts that are drawn without zero:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_sample, example_rows
    >>> class Positive(Poisson):
    ...     def sample(self, parameters, codes, rng):
    ...         return 1 + super().sample(parameters, codes, rng)
    >>> rng = np.random.default_rng(0)
    >>> check_sample(Positive(), example_rows(Positive(), rng, n_rows=200), rng)
    Traceback (most recent call last):
    AssertionError: refitting to its own samples loses -2.08 per row, more than 0.0225...
    """
    k, d = len(rows.labels), rows.x.shape[1]
    seen = np.bincount(rows.codes[rows.weights > 0], minlength=k)
    if isinstance(family, Smoothed) and family.estimation == "bayes":
        return  # a posterior predictive is a mixture of members of the family, and not a member itself
    if not (family.consistent and family.is_density) or (seen < 4 * (d + 1)).any():
        return
    try:
        parameters = family.estimate(_summarize(family, rows), range(rows.x.shape[1]))
    except SingularCovarianceError:
        return
    codes = np.repeat(np.arange(k), n)
    drawn = Rows(family.sample(parameters, codes, rng), codes, np.ones(len(codes)), rows.labels)
    again = family.estimate(_summarize(family, drawn), range(d))
    fresh = family.sample(parameters, codes, rng)
    assert fresh.shape == (len(codes), d), "sample does not give one row for each code"
    fresh = replace(drawn, x=fresh).batch(family)
    at = np.arange(len(codes)), codes
    loss = float((family.log_likelihood(parameters, fresh)[at] - family.log_likelihood(again, fresh)[at]).mean())
    cells = _summarize(family, drawn).arrays().get("count", np.zeros((1, 0))).shape[1]  # of a table of levels
    bound = 10 * max(d + d * (d + 1) / 2, cells) / n
    assert abs(loss) <= bound, f"refitting to its own samples loses {loss:.3g} per row, more than {bound:.3g}"


LAWS: tuple[Law, ...] = (
    check_zero,
    check_merge,
    check_subtract,
    check_scale,
    check_split,
    check_classes,
    check_columns,
    check_weights,
    check_soft_membership,
    check_layout,
    check_posterior,
    check_rescaling,
    check_relative,
    check_terms,
    check_linear_form,
    check_estimation,
    check_sample,
)
"""All laws, in the order in which `check_family` tests them: functions of a family, `Rows` and a random generator."""


def check_family(family: Family, *, seed: int = 0, n_rows: int = 200, n_columns: int = 3, n_classes: int = 3) -> None:
    """Test a family with every law.

    The rows are the example rows of the family, as a dense matrix, a sparse matrix, and columns of a frame.

    Parameters
    ----------
    family : Family
        The family to test.
    seed : int, default=0
        Seed of the random rows.
    n_rows : int, default=200
        Rows of the example.
    n_columns : int, default=3
        Columns of the example.
    n_classes : int, default=3
        Classes of the example.

    Raises
    ------
    AssertionError
        If the family breaks a law.

    See Also
    --------
    suffice.testing.example_rows : Makes rows for a single law.
    suffice.testing.LAWS : The laws.
    suffice.families.Family : Base class of every family.

    Examples
    --------
    A family that obeys all laws passes without a message. One with a mistake fails with the law that it breaks:

    >>> from dataclasses import replace
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_family
    >>> check_family(Poisson())
    >>> class Unweighted(Poisson):
    ...     def summarize(self, x, members, columns=None):
    ...         return super().summarize(x, replace(members, weights=None), columns)
    >>> check_family(Unweighted())
    Traceback (most recent call last):
    AssertionError: weights: weight differs by 42...
    """
    for form in FORMS.values():
        rng = np.random.default_rng(seed)
        rows = example_rows(family, rng, n_rows, n_columns, n_classes, form)
        for law in LAWS:
            law(family, rows, deepcopy(rng))
