"""Conjugate priors with given numbers, for ``estimation="map"`` and ``"bayes"``.

A conjugate prior acts like a number of pseudo-rows. By default, a family makes them from ``smoothing``: equally many of
each level, or for numbers and counts rows that look like all rows together. An object of this module describes the
pseudo-rows independently of the data, and ``smoothing`` then has no effect.

    Beta(a, b)                                  yes/no: a pseudo-rows of yes and b of no
    Dirichlet({level: α, …})                    levels: α pseudo-rows of each
    GammaRate(events, exposure)                 rates: pseudo-events in a total of pseudo-rows, or of time
    NormalInverseGamma(mean, variance, rows)    a mean and a variance, worth a number of rows
    NormalInverseWishart(mean, covariance, rows)

Modes are those of natural parameters (see `suffice.families.estimation`), so for Beta and Dirichlet priors and for
rates ``map`` is the posterior mean: (yes + a)/(n + a + b). Laplace's rule is Beta(1, 1).

One prior applies to all columns of a family and to all classes. A mapping from classes to priors gives each class its
own prior.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from suffice.exceptions import InputError
from suffice.families.covariance import checked_covariance
from suffice.numerics.types import Float
from suffice.tables.levels import is_missing

__all__ = [
    "Beta",
    "Dirichlet",
    "GammaRate",
    "GivenPrior",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "Prior",
    "PriorsOfClasses",
]

MOST_SHOWN = 9  # numbers of a vector or matrix that a repr shows


def _number(value: object) -> float:
    """A number as a float; NaN for anything else, and for one that is too large."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return float(value) if real else np.nan  # type: ignore[arg-type]
    except OverflowError:
        return np.nan


def _positive(value: object, name: str, meaning: str) -> float:
    """A finite number above zero, or `InputError`."""
    number = _number(value)
    if not 0 < number < np.inf:
        raise InputError(
            f"{name}, {meaning}, must be a finite number above 0; got {value!r:.80}.", argument="conjugate_prior"
        )
    return number


def _finite(value: object, name: str) -> float:
    number = _number(value)
    if not np.isfinite(number):
        raise InputError(f"{name} must be a finite number; got {value!r:.80}.", argument="conjugate_prior")
    return number


def _set(prior: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(prior, name, value)


@dataclass(frozen=True)
class Beta:
    """Conjugate prior of a probability: ``a`` pseudo-rows of yes and ``b`` pseudo-rows of no.

    In the geometric family they are ``a`` successes after ``b`` failures in total. The prior mean is a/(a + b), and a +
    b is the weight of the prior in rows. ``map`` and ``bayes`` estimate (yes + a)/(n + a + b).

    Parameters
    ----------
    a, b : float
        Numbers of pseudo-rows, above 0.

    See Also
    --------
    suffice.families.Bernoulli : The family of yes/no columns.
    suffice.families.Geometric : The family of failures before the first success.
    suffice.families.Dirichlet : Conjugate prior of the shares of more than two levels.

    Examples
    --------
    >>> from suffice.families import Bernoulli, Beta
    >>> Bernoulli(conjugate_prior=Beta(2, 8))
    Bernoulli(conjugate_prior=Beta(a=2.0, b=8.0))

    With two rows of yes, the probability is (2 + 2)/(2 + 10); with one row of no, it is 2/(1 + 10):

    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes(Bernoulli(conjugate_prior=Beta(2, 8))).fit([[1], [1], [0]], ["a", "a", "b"])
    >>> model.parameters(0)
    class  probability
    a         0.333333
    b         0.181818
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        a = _positive(self.a, "a", "the number of pseudo-rows of yes in Beta(a, b)")
        _set(self, a=a, b=_positive(self.b, "b", "the number of pseudo-rows of no in Beta(a, b)"))


@dataclass(frozen=True)
class GammaRate:
    """Conjugate prior of a rate: a gamma distribution with the shape ``events`` and the rate ``exposure``.

    In the Poisson family, it acts like ``exposure`` pseudo-rows with ``events`` events in total: λ = (Σ x + events)/(n
    + exposure). In the exponential family, it acts like ``events`` pseudo-rows with a total time of ``exposure``: λ =
    (n + events)/(Σ x + exposure). Both are the posterior mean of the rate, and the mode of its logarithm.

    Parameters
    ----------
    events, exposure : float
        Numbers above 0. In the exponential family, the exposure has the unit of the column.

    See Also
    --------
    suffice.families.Poisson : The family of counts.
    suffice.families.Exponential : The family of waiting times.

    Examples
    --------
    >>> from suffice.families import Poisson
    >>> Poisson(conjugate_prior=GammaRate(events=10, exposure=4))
    Poisson(conjugate_prior=GammaRate(events=10.0, exposure=4.0))

    With two rows of 14 events in total, the rate is (14 + 10)/(2 + 4); with two rows of 2 events, it is (2 + 10)/(2 +
    4):

    >>> from suffice import NaiveBayes
    >>> family = Poisson(conjugate_prior=GammaRate(events=10, exposure=4))
    >>> NaiveBayes(family).fit([[6], [8], [0], [2]], ["busy", "busy", "quiet", "quiet"]).parameters(0)
    class  rate
    busy      4
    quiet     2
    """

    events: float
    exposure: float

    def __post_init__(self) -> None:
        events = _positive(self.events, "events", "the number of pseudo-events")
        _set(self, events=events, exposure=_positive(self.exposure, "exposure", "the pseudo-rows or the time of them"))


@dataclass(frozen=True)
class NormalInverseGamma:
    """Conjugate prior of the mean and variance of a Gaussian column: pseudo-rows with a given mean and variance.

    In the usual notation μ | σ² ~ N(mean, σ²/κ) and σ² ~ Inv-Gamma(ν/2, ν variance/2), with κ = ``rows`` and ν =
    ``variance_rows``. With n rows of mean x̄ and sum of squares S, ``map`` estimates::

        μ = (n x̄ + κ mean)/(n + κ),    σ² = (S + ν variance + κ n/(κ + n) (x̄ − mean)²)/(n + ν)

    and with ``bayes`` a value has Student's t distribution with n + ν degrees of freedom.

    Parameters
    ----------
    mean : float
        Mean, in the unit of the column; in the log_normal family, that of its logarithm.
    variance : float
        Variance within a class, above 0.
    rows : float
        Weight of the mean, as a number of pseudo-rows.
    variance_rows : float, optional
        Weight of the variance, as a number of pseudo-rows. By default that of the mean.

    See Also
    --------
    suffice.families.Gaussian : The family with this prior.
    suffice.families.NormalInverseWishart : Conjugate prior of a mean vector and a covariance matrix.

    Examples
    --------
    >>> from suffice.families import Gaussian
    >>> Gaussian(estimation="map", conjugate_prior=NormalInverseGamma(40.0, 25.0, rows=5))
    Gaussian(estimation='map', conjugate_prior=NormalInverseGamma(mean=40.0, variance=25.0, rows=5.0))

    Means of two rows, 32 and 55, move towards 40, which has the weight of five rows:

    >>> from suffice import NaiveBayes
    >>> family = Gaussian(estimation="map", conjugate_prior=NormalInverseGamma(40.0, 25.0, rows=5))
    >>> NaiveBayes(family).fit([[30.0], [34.0], [52.0], [58.0]], ["a", "a", "b", "b"]).parameters(0)
    class     mean  deviation
    a      37.7143    5.66226
    b      44.2857    8.14536
    """

    mean: float
    variance: float
    rows: float
    variance_rows: float | None = None

    def __post_init__(self) -> None:
        mean, variance = _finite(self.mean, "mean"), _positive(self.variance, "variance", "the variance within a class")
        rows = _positive(self.rows, "rows", "the number of pseudo-rows")
        given = rows if self.variance_rows is None else self.variance_rows
        of_variance = _positive(given, "variance_rows", "the number of pseudo-rows of the variance")
        _set(self, mean=mean, variance=variance, rows=rows, variance_rows=of_variance)

    def __repr__(self) -> str:
        shown = f"mean={self.mean!r}, variance={self.variance!r}, rows={self.rows!r}"
        more = "" if self.variance_rows == self.rows else f", variance_rows={self.variance_rows!r}"
        return f"NormalInverseGamma({shown}{more})"

    @property
    def degrees(self) -> float:
        """Weight of the variance, as a number of pseudo-rows."""
        assert self.variance_rows is not None
        return self.variance_rows


Vector: TypeAlias = float | tuple[float, ...]
Square: TypeAlias = float | tuple[float, ...] | tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class NormalInverseWishart:
    """Conjugate prior of the mean and covariance of a multivariate Gaussian: pseudo-rows with given values of both.

    In the usual notation μ | Σ ~ N(mean, Σ/κ) and Σ ~ Inv-Wishart(ν covariance, ν + d − 1), with κ = ``rows`` and ν =
    ``covariance_rows``; any ν above 0 is then a proper prior. ``map`` estimates the mean and covariance of rows and
    pseudo-rows, and with ``bayes`` a row has a multivariate t distribution with n + ν degrees of freedom.

    Parameters
    ----------
    mean : float or sequence of d floats
        Mean of each column, in the order of the columns; or one number for all columns.
    covariance : array of shape (d, d), sequence of d floats, or float
        Covariance within a class, positive definite. A sequence holds the variances of uncorrelated columns, and one
        number is the variance of all columns.
    rows : float
        Weight of the mean, as a number of pseudo-rows.
    covariance_rows : float, optional
        Weight of the covariance, as a number of pseudo-rows. By default that of the mean.

    See Also
    --------
    suffice.families.MultivariateGaussian : The family with this prior.
    suffice.GaussianDiscriminant : The classifier with this prior as ``conjugate_prior``.
    suffice.families.NormalInverseGamma : Conjugate prior of the mean and variance of one column.

    Examples
    --------
    >>> NormalInverseWishart([5.8, 3.1], [[0.2, 0.1], [0.1, 0.1]], rows=10)
    NormalInverseWishart(mean=(5.8, 3.1), covariance=((0.2, 0.1), (0.1, 0.1)), rows=10.0)

    Means of two rows, (4.8, 3.25) and (6.65, 3), move towards those of the prior, which has the weight of ten rows:

    >>> from suffice import GaussianDiscriminant
    >>> prior = NormalInverseWishart([5.8, 3.1], [[0.2, 0.1], [0.1, 0.1]], rows=10)
    >>> X, y = [[5.0, 3.4], [4.6, 3.1], [6.4, 2.9], [6.9, 3.1]], ["a", "a", "b", "b"]
    >>> GaussianDiscriminant(estimation="map", conjugate_prior=prior).fit(X, y).means_.round(2)
    array([[5.63, 3.12],
           [5.94, 3.08]])
    """

    mean: Vector | Sequence[float] | Float
    covariance: Square | Sequence[float] | Sequence[Sequence[float]] | Float
    rows: float
    covariance_rows: float | None = None

    def __post_init__(self) -> None:
        mean, covariance = _numbers(self.mean, "mean", 1), _numbers(self.covariance, "covariance", 2)
        if mean.ndim and covariance.ndim and len(mean) != len(covariance):
            raise InputError(
                f"mean has {len(mean)} numbers, but covariance is for {len(covariance)} columns.",
                argument="conjugate_prior",
            )
        _check_positive_definite(covariance)
        rows = _positive(self.rows, "rows", "the number of pseudo-rows")
        given = rows if self.covariance_rows is None else self.covariance_rows
        degrees = _positive(given, "covariance_rows", "the number of pseudo-rows of the covariance")
        _set(self, mean=_tuples(mean.tolist()), covariance=_tuples(covariance.tolist()), rows=rows)
        _set(self, covariance_rows=degrees)

    def __repr__(self) -> str:
        shown = f"mean={_short(self.mean)}, covariance={_short(self.covariance)}, rows={self.rows!r}"
        more = "" if self.covariance_rows == self.rows else f", covariance_rows={self.covariance_rows!r}"
        return f"NormalInverseWishart({shown}{more})"

    @property
    def degrees(self) -> float:
        """Weight of the covariance, as a number of pseudo-rows."""
        assert self.covariance_rows is not None
        return self.covariance_rows

    def of_columns(self, d: int) -> tuple[Float, Float]:
        """Mean (d,) and covariance (d, d) of so many columns; raises `InputError` if they are for another number."""
        mean, covariance = np.asarray(self.mean, dtype=np.float64), np.asarray(self.covariance, dtype=np.float64)
        for name, array in (("mean", mean), ("covariance", covariance)):
            if array.ndim and len(array) != d:
                raise InputError(
                    f"The {name} of a NormalInverseWishart prior is for {len(array)} columns, but there are {d}.",
                    argument="conjugate_prior",
                )
        if covariance.ndim < 2:
            covariance = np.diag(np.broadcast_to(covariance, (d,)))
        return np.broadcast_to(mean, (d,)), covariance


@dataclass(frozen=True, init=False, eq=False)
class Dirichlet:
    """Conjugate prior of the shares of levels: α pseudo-rows of each level.

    A level in the mapping is known, even if no row has it. ``map`` and ``bayes`` estimate (n_l + α_l)/(N + Σ α), with
    the sum over all known levels.

    Parameters
    ----------
    alpha : mapping from level to float, or sequence of float
        Number of pseudo-rows of each level, above 0. For the multinomial family, a sequence of numbers of pseudo-draws,
        in the order of the columns.
    other : float, default=1.0
        Number of pseudo-rows of each level that is not in the mapping, of missing cells if they are a level
        (``missing="category"``), and of all unseen levels together (``unseen="share"``). It has no effect on the
        multinomial family.

    See Also
    --------
    suffice.families.Categorical : The family of columns with levels.
    suffice.families.Multinomial : The family of vectors of counts.
    suffice.families.Beta : Conjugate prior of a single probability.

    Examples
    --------
    >>> from suffice.families import Categorical
    >>> Categorical(conjugate_prior=Dirichlet({"first": 1, "second": 1, "third": 2}))
    Categorical(conjugate_prior=Dirichlet({'first': 1.0, 'second': 1.0, 'third': 2.0}))

    With two rows, each share is (n_l + α_l)/(2 + 4):

    >>> from suffice import NaiveBayes
    >>> family = Categorical(conjugate_prior=Dirichlet({"first": 1, "second": 1, "third": 2}))
    >>> NaiveBayes(family).fit([["first"], ["first"], ["second"], ["third"]], ["a", "a", "b", "b"]).parameters(0)
    level    given a   given b
    first        0.5  0.166667
    second  0.166667  0.333333
    third   0.333333       0.5
    """

    alpha: tuple[tuple[Hashable, float], ...] | tuple[float, ...]
    other: float = 1.0

    def __init__(
        self, alpha: Mapping[Any, float] | Sequence[tuple[Any, float]] | Sequence[float] | Float, other: float = 1.0
    ) -> None:
        pairs = list(alpha.items()) if isinstance(alpha, Mapping) else _listed(alpha)
        if not pairs:
            raise InputError("A Dirichlet prior needs α of at least one level; got none.", argument="conjugate_prior")
        meaning = "the number of pseudo-rows of a level"
        found: tuple[Any, ...]
        if all(isinstance(each, tuple | list) and len(each) == 2 for each in pairs):
            found = tuple((_level(level), _positive(value, f"α of {level!r:.80}", meaning)) for level, value in pairs)
            if len({level for level, _ in found}) < len(found):
                raise InputError("A Dirichlet prior has two α of one level.", argument="conjugate_prior")
        else:
            found = tuple(_positive(each, "α", meaning) for each in pairs)
        _set(self, alpha=found, other=_positive(other, "other", "the number of pseudo-rows of any other level"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dirichlet):
            return NotImplemented
        return self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[object, ...]:
        """Content that two equal priors share, whatever the order of their levels."""
        return (frozenset(self.alpha) if self.names_levels else self.alpha), self.other

    @property
    def names_levels(self) -> bool:
        """Whether α are those of named levels."""
        return isinstance(self.alpha[0], tuple)

    @property
    def of_levels(self) -> dict[Hashable, float]:
        """α of each level."""
        return dict(self.alpha)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        shown = repr(self.of_levels) if self.names_levels else _short(self.alpha)
        return f"Dirichlet({shown}{'' if self.other == 1 else f', other={self.other!r}'})"


Prior: TypeAlias = Beta | GammaRate | NormalInverseGamma | NormalInverseWishart | Dirichlet


@dataclass(frozen=True, init=False, eq=False)
class PriorsOfClasses:
    """A prior for each class.

    >>> PriorsOfClasses({"ham": Beta(1, 9), "spam": Beta(9, 1)})
    {'ham': Beta(a=1.0, b=9.0), 'spam': Beta(a=9.0, b=1.0)}
    """

    priors: tuple[tuple[Hashable, Prior], ...]

    def __init__(self, priors: Mapping[Any, Prior] | Sequence[tuple[Any, Prior]]) -> None:
        _set(self, priors=tuple((label, prior) for label, prior in dict(priors).items()))

    def __eq__(self, other: object) -> bool:
        return (
            frozenset(self.priors) == frozenset(other.priors) if isinstance(other, PriorsOfClasses) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(frozenset(self.priors))

    def __repr__(self) -> str:
        return repr(dict(self.priors))


GivenPrior: TypeAlias = Prior | PriorsOfClasses | Mapping[Any, Any] | None


def _numbers(value: object, name: str, most: int) -> Float:
    """A number, a vector or, if ``most`` is 2, a matrix of finite numbers."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.array(np.nan)
    if array.ndim > most or not array.size or not np.isfinite(array).all():
        forms = (
            "a number or a sequence of numbers" if most == 1 else "a square matrix, a sequence of numbers or a number"
        )
        raise InputError(f"{name} must be {forms}, all finite; got {value!r:.80}.", argument="conjugate_prior")
    if array.ndim == 2 and array.shape[0] != array.shape[1]:
        raise InputError(
            f"{name} must be a square matrix; got {array.shape[0]} × {array.shape[1]} numbers.",
            argument="conjugate_prior",
        )
    return array


def _check_positive_definite(covariance: Float) -> None:
    """Raise `InputError` unless a variance, a vector of variances, or a matrix is positive definite."""
    if covariance.ndim == 2:
        checked_covariance(covariance, argument="conjugate_prior")
        return
    variances = np.atleast_1d(covariance)
    if (variances <= 0).any():
        at = int(np.argmax(variances <= 0))
        raise InputError(
            f"covariance is not positive definite: the variance at position {at} is {variances[at]:.6g}.",
            argument="conjugate_prior",
        )


def _level(value: object) -> Hashable:
    """A level as rows have it, or `InputError`."""
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value) or not isinstance(value, Hashable):
        raise InputError(
            f"A level of a Dirichlet prior must be a string, a number, a truth value or a date; got {value!r:.80}.",
            argument="conjugate_prior",
        )
    return value


def _listed(values: object) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
        raise InputError(
            f"A Dirichlet prior takes a mapping from level to α, or a sequence of α; got {values!r:.80}.",
            argument="conjugate_prior",
        )
    return list(values)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _short(value: object) -> str:
    """The numbers of a vector or matrix, or its size if there are many."""
    array = np.asarray(value)
    return repr(value) if array.size <= MOST_SHOWN else f"<{' × '.join(map(str, array.shape))} numbers>"
