"""Statistics of Gaussian families from the number of rows, the means and the spreads of each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_pandas_like_dataframe, is_pandas_like_series

from suffice.exceptions import Argument, InputError, counted, listed
from suffice.families import Family, Gaussian, MultivariateGaussian
from suffice.families.covariance import checked_covariance
from suffice.learning.fitted import Fitted
from suffice.learning.given.classes import Classes, as_numbers, class_labels
from suffice.learning.given.labelled import aligned, has_entries, labels_of, second_labels
from suffice.learning.given.model import class_sums
from suffice.learning.specification import Specification
from suffice.model import Model
from suffice.numerics.types import Float
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Moments, Statistic
from suffice.statistics.scatter import PooledScatter, Scatter

__all__ = ["GivenMoments", "check_column_names", "column_labels", "fitted_moments", "given_moments"]

TEXTS = (nw.String, nw.Categorical, nw.Enum)
Spread = Literal["variances", "covariances"]


@dataclass(frozen=True, eq=False)
class GivenMoments:
    """Moments of each class, in the order of the class axis.

    Attributes
    ----------
    classes : ClassAxis
    columns : list
        Names of the columns.
    weight : array of shape (K,)
        Number of rows.
    means : array of shape (K, d)
    spread : array
        Variances (K, d), covariances (K, d, d), or pooled covariances (d, d).
    pooled : bool
        Whether the spread is one covariance of all classes.
    ddof : float
        What was subtracted from the rows of a class in the divisor of its spread.
    """

    classes: ClassAxis
    columns: list[Any]
    weight: Float
    means: Float
    spread: Float
    pooled: bool
    ddof: float

    @property
    def divisors(self) -> Float:
        """Divisors of the sums of squares or products of each class (K,)."""
        return np.maximum(self.weight - self.ddof, 0.0)


# ---------------------------------------------------------------------- reading


def given_moments(
    n: Any, means: Any, spread: Any, classes: Any, columns: Any, ddof: float, what: Spread
) -> GivenMoments:
    """Moments that a user gives, checked; ``what`` names the spread."""
    by_class = has_entries(spread) or what == "variances"
    written = class_labels(classes, n, means, *([spread] if by_class else []))
    axis = ClassAxis.of(written)
    if classes is None:
        _check_order(written, axis, {"n": n, "means": means} | ({what: spread} if by_class else {}))
    of = Classes(axis, axis.labels[axis.positions(np.array(written))].tolist(), np.ones(len(axis)))
    _check_class_column(written, {"means": means, what: spread})
    weight = of.numbers(n, "n")
    if weight.ndim != 1 or not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError("n must be one number of rows for each class, at least 0.", argument="n")
    names = column_labels(columns, means, spread)
    centre = of.numbers(means, "means", columns=names)
    if centre.ndim != 2:
        raise InputError(
            f"means must be finite numbers of each class and column (K, d); got shape {centre.shape}.{_frame(means)}",
            argument="means",
        )
    names = list(range(centre.shape[1])) if names is None else names
    check_column_names(names, centre.shape[1])
    _check_finite(centre, "means", axis, names)
    pooled = what == "covariances" and not has_entries(spread) and np.ndim(spread) == 2
    given = GivenMoments(axis, names, weight, centre, _spread(spread, of, names, what, pooled=pooled), pooled, ddof)
    _check_divisors(given, what)
    return given


def _check_order(written: list[Any], axis: ClassAxis, given: Mapping[str, Any]) -> None:
    """Raise `InputError` if an array has to follow an order of classes that pandas has chosen, not the user."""
    chosen = not any(isinstance(each, Mapping) for each in given.values()) and written != axis.labels.tolist()
    for name, each in given.items():
        if chosen and labels_of(each) is None:
            raise InputError(
                f"{name} has no labels of classes, and those of the other arguments are not sorted: {listed(written)}. "
                "Give the order of its classes with classes=[...].",
                argument="classes",
            )


def _check_class_column(written: list[Any], given: Mapping[str, Any]) -> None:
    """Raise `InputError` for a frame without an index that has the classes in a column.

    Numbers may be labels by chance, unless all frames have them in the same column.
    """
    frames = {
        name: nw.from_native(each, eager_only=True)
        for name, each in given.items()
        if is_into_dataframe(each) and not is_pandas_like_dataframe(each)
    }
    for name, frame in frames.items():
        for column in frame.columns:
            labels = [column in each.columns and set(each[column]) == set(written) for each in frames.values()]
            if frame[column].dtype in TEXTS or (len(labels) > 1 and all(labels)):
                holds = "the class labels" if set(frame[column]) == set(written) else "texts"
                raise InputError(
                    f"{name} has the column {column!r}, which holds {holds}. Remove the column, and name the classes "
                    "in the order of the rows with classes=[...].",
                    argument=name,
                    column=column,
                )


def _frame(given: Any) -> str:
    """Advice to give a frame in place of a Series, which has one column without saying so."""
    if not is_pandas_like_series(given):
        return ""
    return f" Give a frame in place of a Series: select the column by rows.groupby(y)[[{given.name or 'x'!r}]]."


def column_labels(columns: Any, *given: Any) -> list[Any] | None:
    """The names of columns: those that are given, or those of the first object with labels; None without any."""
    if columns is not None:
        return list(columns)
    return next((labels for labels in map(second_labels, given) if labels is not None), None)


def check_column_names(names: list[Any], n_columns: int) -> None:
    """Raise `InputError` unless there are so many different names."""
    if len(names) != n_columns or len(set(names)) < n_columns:
        raise InputError(f"columns must be {n_columns} different names; got {listed(names)}.", argument="columns")


def _spread(given: Any, of: Classes, names: list[Any], what: Spread, *, pooled: bool) -> Float:
    """Variances (K, d), or covariances of each class (K, d, d) or of all classes (d, d)."""
    d = len(names)
    if pooled:
        expected = "a matrix of numbers (d, d), or one for each class (K, d, d)"
        ordered = aligned(given, (names, names), what, names=("column", "column"))
        values = as_numbers(ordered, what, expected, argument=what)
    else:
        values = of.numbers(given, what, columns=names)
    shape = (d, d) if pooled else (len(of.axis), d) if what == "variances" else (len(of.axis), d, d)
    if values.shape != shape:
        raise InputError(f"{what} has shape {values.shape}; expected {shape}.{_frame(given)}", argument=what)
    _check_finite(values[None] if pooled else values, what, None if pooled else of.axis, names)
    if what == "variances":
        _check_variances(values, of.axis, names)
    else:
        for k, each in enumerate(values.reshape(-1, d, d)):
            matrix = "The pooled covariance" if pooled else f"The covariance of class {of.axis.label(k)!r}"
            checked_covariance(each, matrix, names, argument=what, definite=False)
    return values


def _check_finite(values: Float, what: str, axis: ClassAxis | None, names: list[Any]) -> None:
    """Raise `InputError` for numbers (K, d, ...) that are not finite, with their class and column."""
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        k, j, *_ = wrong[0].tolist()
        of = "" if axis is None else f"class {axis.label(k)!r}, "
        value = values[tuple(wrong[0])]
        raise InputError(
            f"{what}: {of}column {names[j]!r} has {'NaN' if np.isnan(value) else value}; expected a finite number.",
            argument=what,
            column=names[j],
        )


def _check_variances(values: Float, axis: ClassAxis, names: list[Any]) -> None:
    if (values < 0).any():
        k, j = np.argwhere(values < 0)[0].tolist()
        raise InputError(
            f"variances: class {axis.label(k)!r}, column {names[j]!r} has {values[k, j]:.6g}; it must be at least 0.",
            argument="variances",
            column=names[j],
        )


def _check_divisors(given: GivenMoments, what: Spread) -> None:
    """Raise `InputError` for a ``ddof`` that the numbers of rows contradict."""
    if not (isinstance(given.ddof, int | float) and 0 <= given.ddof < np.inf):
        raise InputError(f"ddof must be a number of at least 0; got {given.ddof!r}.", argument="ddof")
    for k, rows in enumerate(given.weight.tolist()):
        label = given.classes.label(k)
        if 0 < rows < given.ddof:
            raise InputError(
                f"Class {label!r} has {counted(rows, 'row')}, fewer than ddof={given.ddof:g}.", argument="ddof"
            )
        if not given.pooled and rows <= given.ddof and given.spread[k].any():
            raise InputError(
                f"{what}: class {label!r} has {counted(rows, 'row')}, so with ddof={given.ddof:g} it has no variance. "
                "Set its numbers to 0, or correct n or ddof.",
                argument=what,
            )


# ---------------------------------------------------------------------- statistics


def fitted_moments(specification: Specification, layout: RowLayout, given: GivenMoments) -> Fitted:
    """The fitted model of moments: one block of Gaussian columns."""
    blocks = specification.blocks_of(layout.schema)
    if len(blocks) != 1 or not isinstance(blocks[0].family, Gaussian | MultivariateGaussian):
        raise InputError("from_moments builds Gaussian columns; choose families='gaussian'.", argument="families")
    statistic = _statistic(blocks[0].family, given).check(given.columns)
    return Fitted(specification, layout, Model(blocks, class_sums(given.classes, given.weight), (statistic,)))


def _statistic(family: Family, given: GivenMoments) -> Statistic:
    """The statistic of rows with these moments, in the form that the family reads."""
    if isinstance(family, Gaussian):
        return _moments(family, given)
    assert isinstance(family, MultivariateGaussian)
    if family.shrinkage == "ledoit_wolf":
        raise InputError(
            Argument("shrinkage", "ledoit_wolf"),
            " needs fourth moments, which covariances do not determine. Use ",
            Argument("shrinkage", "oas"),
            ".",
            argument="shrinkage",
        )
    pooled, rows = given.pooled, given.divisors
    scatter = given.spread * (rows.sum() if pooled else rows[:, None, None])
    parts = {
        "weight": given.weight,
        "mean": given.means,
        "mean_low": np.zeros_like(given.means),
        "scatter": scatter,
        "scatter_low": np.zeros_like(scatter),
    }
    if pooled:
        if family.covariance == "own":
            raise _needs_own("An own covariance")
        return family.of_complete_rows(PooledScatter(given.classes, **parts))
    own = Scatter(given.classes, **parts)
    return family.of_complete_rows(PooledScatter.of(own) if family.covariance == "shared" else own)


def _moments(family: Gaussian, given: GivenMoments) -> Moments:
    """Sums of squares of each column; a shared variance depends on their sums over all classes alone."""
    variance = given.spread
    if given.pooled and family.variance != "shared":
        raise _needs_own("A diagonal shape with own variances")
    if given.pooled or variance.ndim == 3:
        variance = np.broadcast_to(np.diagonal(variance, axis1=-2, axis2=-1), given.means.shape)
    none = np.zeros_like(given.means)
    weight = np.repeat(given.weight[:, None], len(given.columns), axis=1)
    return Moments(given.classes, weight, given.means, none, given.divisors[:, None] * variance, none)


def _needs_own(what: str) -> InputError:
    return InputError(
        f"{what} needs the covariances of each class (K, d, d), not the pooled one.", argument="covariances"
    )
