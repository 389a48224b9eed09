"""Parameters of a multivariate Gaussian or t distribution for each class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice import kernels
from suffice.families.contract import read_only
from suffice.families.covariance import Whitening, whiten
from suffice.families.linear import Linear
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Float, Index

__all__ = ["MultivariateGaussianParameters"]


@dataclass(frozen=True, eq=False)
class MultivariateGaussianParameters:
    """Means and covariances of each class, and their factors.

    Attributes
    ----------
    mean, mean_low : array of shape (K, d)
        Mean, stored as the sum ``mean + mean_low``.
    covariance : array of shape (d, d), or (K, d, d) if each class has its own
        Covariance, shared or of each class.
    whitening : list of one Whitening, or of K
        Map from each covariance to the identity.
    within : array of shape (d, d)
        The shared covariance, also if each class has its own.
    shrinkage : array of shape () or (K,)
        Amount of shrinkage that was applied.
    origin : array of shape (d,)
        Mean of all rows.
    freedom, spread : array of shape (K,), or None
        Degrees of freedom of a multivariate t, and the factor of its scale matrix relative to the covariance.

    See Also
    --------
    suffice.families.MultivariateGaussian : The family, which computes the parameters.
    suffice.GaussianDiscriminant : Has them as ``means_``, ``covariance_`` and ``shrinkage_``.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant
    >>> X = [[1.0, 5.0], [2.0, 7.0], [3.0, 6.0], [6.0, 5.0], [7.0, 7.0], [8.0, 6.0]]
    >>> model = GaussianDiscriminant(shrinkage=0.5).fit(X, ["low"] * 3 + ["up"] * 3)
    >>> parameters = model.fitted_.estimate.parameters[0]
    >>> parameters.mean, parameters.covariance.round(3), float(parameters.shrinkage)
    (array([[2., 6.],
           [7., 6.]]), array([[0.667, 0.167],
           [0.167, 0.667]]), 0.5)
    """

    mean: Float
    mean_low: Float
    covariance: Float
    whitening: list[Whitening]
    within: Float
    shrinkage: Float
    origin: Float
    freedom: Float | None = None
    spread: Float | None = None

    def __post_init__(self) -> None:
        read_only(self)

    @property
    def away(self) -> Float:
        """Class means minus the origin (K, d)."""
        return (self.mean - self.origin) + self.mean_low

    @cached_property
    def log_norm(self) -> Float:
        """Logarithm of the density at the mean, for each class (K,) or for all (1,)."""
        rank = np.array([each.matrix.shape[1] for each in self.whitening])
        return np.asarray(-0.5 * (rank * np.log(2 * np.pi) + np.array([each.log_det for each in self.whitening])))

    @cached_property
    def triangles(self) -> Float:
        """The whitening of each class as a packed triangular map (K, size), which halves the work of the kernel.

        A `Whitening` from a Cholesky factor is triangular; a rotation of z makes any other triangular.
        """
        return np.stack([kernels.packed_triangle(_triangle(each.matrix)) for each in self.whitening])

    @cached_property
    def linear(self) -> Linear:
        """Log-likelihoods with a shared covariance, up to a common term: ``coef_k = Σ⁻¹(μ_k − origin)``."""
        return Linear(*_linear(self.away, self.whitening[0].matrix), self.origin)

    def covariance_of(self, k: int) -> Float:
        """Covariance of class k (d, d)."""
        return self.covariance if self.covariance.ndim == 2 else self.covariance[k]

    def marginal(self, known: Index) -> MultivariateGaussianParameters:
        """Parameters of the marginal distribution of some columns."""
        square = np.ix_(known, known)
        covariance = self.covariance[..., known[:, None], known]
        return replace(
            self,
            mean=np.ascontiguousarray(self.mean[:, known]),
            mean_low=np.ascontiguousarray(self.mean_low[:, known]),
            covariance=covariance,
            whitening=[whiten(each) for each in covariance.reshape(-1, len(known), len(known))],
            within=self.within[square],
            origin=self.origin[known],
        )


@single_threaded_blas(lambda away, _: away.shape[1])
def _linear(away: Float, whitening: Float) -> tuple[Float, Float]:
    white = away @ whitening
    return white @ whitening.T, -0.5 * (white**2).sum(axis=1)


@single_threaded_blas(len)
def _triangle(whitening: Float) -> Float:
    """A lower triangular T (d, d) with ``‖T v‖ = ‖v W‖`` for every v; W is (d, r).

    >>> bool(np.isclose(np.linalg.norm(_triangle(np.array([[1.0, 2.0], [3.0, 4.0]])) @ [1, 1]), np.hypot(4, 6)))
    True
    """
    d, rank = whitening.shape
    if d == rank and not np.tril(whitening, -1).any():
        return whitening.T
    # QR of Wᵀ with its columns reversed: R, reversed along both axes, is lower triangular.
    out = np.zeros((d, d))
    upper = np.linalg.qr(whitening[::-1].T, mode="r")
    out[: len(upper)] = upper
    return out[::-1, ::-1]
