"""What a family is, and where families are found.

A family is a frozen dataclass: its fields are its settings, its methods turn rows into statistics,
statistics into parameters, and parameters into likelihoods and samples. Adding one means adding one file
to this package; see ``docs/adding_a_family.md``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, listed
from suffice.statistics import ClassAxis, Membership, Statistic

__all__ = ["Family", "family_named", "family_names", "read_only", "register"]

Float = NDArray[np.float64]


@runtime_checkable
class Family(Protocol):
    """One p(x_block | y).

    What ``x`` is follows from the optional attribute ``reads``: "numbers" (the default) is a matrix of
    floats, dense or sparse, with NaN where a cell is missing; "categories" is a `Coded` batch; "documents" is one
    column of `Texts`.

    Other optional parts, looked up by name:

    - ``check(x, names, present)`` raises for values that are none of the family's, naming column and row
    - ``check_seen(parameters, x, names)`` does so for levels that the parameters do not know
    - ``independent`` and ``terms(parameters, x)``: whether columns are independent given the class, and the
      part of each in `log_likelihood` (n, K, d)
    - ``relative_log_likelihood(parameters, x)``, cheaper or more accurate than `log_likelihood` and equal to
      it up to a term that all classes share
    - ``is_density``, False where scores are no log-densities: then there is only ``relative_log_likelihood``, and the
      others raise
    - ``answers(parameters, x, finish)``: what ``finish`` asks of that, written by the kernel that scores the rows (see
      `suffice.kernels.PosteriorRequest`); the first row without one, −1 if all have one, None if it cannot be done
    - ``linear_form(parameters)``, a `Linear`, over the ``indicators(parameters)`` where there are any
    - ``log_prior(parameters, statistic)``, the log-density of ``map`` parameters under their prior, up to what does not
      depend on them: the log-likelihood of the rows that the prior is worth. `estimate` makes the sum of it and the
      log-likelihood of the rows largest. Learning from unlabelled rows counts it in
    - ``leave_one_out(statistic, parameters, x, members, columns)``, `log_likelihood` of each row under parameters of
      all the others (n, K), up to a term of each row, with NaN in rows for which it has no closed form; or None, if
      there is none for any. Rows are all in the statistic, with a weight above zero
    - ``summarize_folds(x, members, folds, n_folds, columns)``, a list of the statistics of the folds, for a statistic
      whose numbers are not all by class
    - ``log_evidence(statistic)``, the log marginal likelihood of the rows
    - ``mean_and_variance(parameters, k)`` where columns are independent, ``mean_and_covariance`` where not
    - ``table(parameters, j)`` or ``block_table(parameters, names)``: p(x_j | y) as named columns, a row for each class;
      or ``level_table(parameters, j)``: levels, and their shares in each class (L, K)
    - ``directions(parameters, prior)``, what tells the classes apart best
    - ``places(n_columns)``: where the columns of a block stand in its statistic (m, n_columns), if that has m columns
      for each; without it the statistic has the columns of the block
    - ``left(before, left, columns)``, the statistic that is left after rows were taken out: raises `MergeError` where
      no rows have such a one, and puts right what rounding left beyond the possible
    - ``aggregates(columns)`` and ``from_aggregates``, for query engines; see `suffice.statistics.aggregation`

    Attributes
    ----------
    name : str
        How users call it.
    accepts_missing : bool
        Whether NaN is a cell that is not there.
    scale_free : bool
        Whether rescaling a column leaves every posterior as it is.
    """

    name: ClassVar[str]

    @property
    def accepts_missing(self) -> bool: ...  # noqa: D102

    @property
    def scale_free(self) -> bool: ...  # noqa: D102

    def zero(self, classes: ClassAxis, n_columns: int) -> Statistic:
        """The statistic of no rows."""

    def summarize(self, x: Any, members: Membership, columns: Sequence[object]) -> Statistic:
        """The statistic of a batch of rows (n, d). ``columns`` are names, for messages."""

    def estimate(self, statistic: Any, columns: Sequence[object]) -> Any:
        """Parameters of each class: where smoothing, priors, shrinkage and floors live."""

    def log_likelihood(self, parameters: Any, x: Any) -> Float:
        """log p(x | y) of each row under each class (n, K)."""

    def sample(self, parameters: Any, codes: NDArray[np.int64], rng: np.random.Generator) -> Any:
        """One row drawn from p(x | y = code) for each code (n, d)."""

    def example(self, rng: np.random.Generator, codes: NDArray[np.int64], n_columns: int) -> Float:
        """Rows this family can be fitted to, one for each class code: what the laws are tried on."""


_REGISTERED: dict[str, type[Any]] = {}
F = TypeVar("F", bound=type[Any])


def register(family: F) -> F:
    """Class decorator that makes a family known by its name, and lets it show only what is not its default."""
    _REGISTERED[family.name] = family
    family.__repr__ = _short  # type: ignore[assignment]
    return family


def _short(family: Any) -> str:
    """The class name, with the settings that differ from their defaults."""
    shown = (
        f"{each.name}={getattr(family, each.name)!r}"
        for each in fields(family)
        if getattr(family, each.name) != each.default
    )
    return f"{type(family).__name__}({', '.join(shown)})"


def family_names() -> list[str]:
    """Names of all families, those of this package and those registered elsewhere."""
    package = importlib.import_module("suffice.families")
    for module in pkgutil.iter_modules(package.__path__, "suffice.families."):
        importlib.import_module(module.name)
    return sorted(_REGISTERED)


def family_named(name: str) -> Family:
    """The family of that name, with its default settings.

    >>> family_named("gaussian").name
    'gaussian'
    """
    if name not in _REGISTERED and name not in family_names():
        raise InputError(f"There is no family {name!r}. The families are {listed(family_names())}.")
    made: Family = _REGISTERED[name]()
    return made


def read_only(parameters: object) -> None:
    """Make the arrays of a parameter object read-only: what a model shows is not a handle on it."""
    for value in vars(parameters).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
