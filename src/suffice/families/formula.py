"""log p(x | y) as plain formulas and tables, which other programs can evaluate: a web page, a query, a model server.

A `Formula` holds a form for each column of a block, or one form for the whole block; arrays have an entry for each of
the K classes. Forms give the relative log-likelihood of a family: terms that all classes share, such as log x! of a
count or the Jacobian −log x of a logarithm, are dropped, and each form says which. The value of a block is

    Σ_columns form_k(x_j)        or        form_k(x)

A missing cell adds nothing, unless the form says otherwise.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from suffice.numerics.types import Codes, Float

__all__ = [
    "BlockForm",
    "CentredLines",
    "ColumnForm",
    "CountDraws",
    "Domain",
    "Formula",
    "GammaCurve",
    "GaussianBlock",
    "JointCells",
    "Knots",
    "LevelLogs",
    "Line",
    "LogShares",
    "Normal",
    "PairTables",
    "PowerTail",
    "Rising",
    "Steps",
    "WordReading",
    "Words",
    "YesNo",
]

Domain = Literal["any", "number", "yes_no", "count", "not_negative", "positive"]
"""Values that a column takes: anything, a finite number, 0 or 1, a whole number from 0 on, from 0 on, above 0."""

# ---------------------------------------------------------------------- columns


@dataclass(frozen=True, eq=False)
class Normal:
    """``log_norm − ½ z²`` with ``z = ((x − mean) − mean_low) scale``; all (K,).

    With degrees of ``freedom`` it is Student's t, ``log_norm − ½ (freedom + 1) log(1 + z²/freedom)``. If
    ``of_logarithm``, x stands for log x, and the term −log x is dropped.
    """

    mean: Float
    mean_low: Float
    scale: Float
    log_norm: Float
    freedom: Float | None = None
    of_logarithm: bool = False


@dataclass(frozen=True, eq=False)
class YesNo:
    """``yes`` if x is above ``above`` and ``no`` otherwise; (K,) each."""

    yes: Float
    no: Float
    above: float = 0.0


@dataclass(frozen=True, eq=False)
class Line:
    """``at_origin + (x − origin) slope``, with ``at_origin`` and ``slope`` (K,).

    Infinite slopes have no effect at 0. Above 0, −∞ makes a class impossible; +∞ makes all other classes impossible,
    except those with +∞ in another column. For counts the term −log x! is dropped.
    """

    at_origin: Float
    slope: Float
    origin: float = 0.0


@dataclass(frozen=True, eq=False)
class Rising:
    """``offset + x slope + log Γ(up + x)/Γ(up) − log Γ(down + x)/Γ(down)``; all (K,).

    Without ``down`` the last ratio is absent. Where ``up`` is 0, numbers above 0 are impossible. For the negative
    binomial distribution the term −log x! is dropped.
    """

    offset: Float
    slope: Float
    up: Float
    down: Float | None = None


@dataclass(frozen=True, eq=False)
class PowerTail:
    """``offset − power log(1 + x/scale)``, the Lomax distribution; all (K,)."""

    offset: Float
    power: Float
    scale: Float


@dataclass(frozen=True, eq=False)
class GammaCurve:
    """``offset + shape (log(x/mean) − t)`` with ``t = (x − mean)/mean``, the gamma distribution; all (K,).

    With ``wide = shape spread`` it is ``offset + shape log(x/mean) − wide log(1 + t/spread)``, the beta-prime
    distribution. The term −log x is dropped.

    Near the mean, where the terms cancel, it is ``offset − shape e(t) + wide e(t/spread)``, where ``e(t)`` is the
    series t²/2 − t³/3 + … of t − log(1 + t). If x is small, compute log(x/mean) from x, since t has lost its digits.
    """

    offset: Float
    shape: Float
    mean: Float
    wide: Float | None = None
    spread: Float | None = None


@dataclass(frozen=True, eq=False)
class Steps:
    """Row b of the ``table`` (B, K), where ``cuts_b−1 < x ≤ cuts_b`` (B − 1,)."""

    cuts: Float
    table: Float


@dataclass(frozen=True, eq=False)
class Knots:
    """Linear between the rows of the ``table`` (B, K) at the ``knots`` (B,), constant beyond the first and the last.

    The density of all rows, which the classes share, is dropped.
    """

    knots: Float
    table: Float


@dataclass(frozen=True, eq=False)
class LevelLogs:
    """The row of the ``table`` (L, K) for each of the ``levels``.

    ``missing`` (K,) is for a missing cell, and ``unseen`` (K,) for any other level; None makes it an error. Numbers
    from ``size`` on, if it is given, count as missing, and fractions are cut off.
    """

    levels: tuple[Hashable, ...]
    table: Float
    missing: Float
    unseen: Float | None
    size: int | None = None


ColumnForm: TypeAlias = Normal | YesNo | Line | Rising | PowerTail | GammaCurve | Steps | Knots | LevelLogs

# ---------------------------------------------------------------------- blocks


@dataclass(frozen=True, eq=False)
class CentredLines:
    """``Σ_j slope_kj ((x_j − origin_j) − away_kj/2)`` with ``slope`` and ``away`` (K, d) and ``origin`` (d,).

    Linear discriminant analysis; the density about the origin is dropped.
    """

    slope: Float
    away: Float
    origin: Float


@dataclass(frozen=True, eq=False)
class CountDraws:
    """``Σ_j log Γ(a_kj + x_j)/Γ(a_kj) − log Γ(A_k + Σ x)/Γ(A_k)``: ``draws`` a (K, d), and A their sum.

    The Dirichlet-multinomial distribution without its coefficient. Where a is 0, counts above 0 are impossible.
    """

    draws: Float


@dataclass(frozen=True, eq=False)
class GaussianBlock:
    """Multivariate Gaussian, or Student's t, of each class.

    With ``z = ((x − mean_k) − mean_low_k) whitening_k`` and r columns of the whitening, the log-density is
    ``−½ (r log 2π + log_det_k + ‖z‖²)``; with degrees of ``freedom`` v and a ``spread`` s it is

        log Γ((v + r)/2)/Γ(v/2) − ½ (r log(π v s) + log_det_k) − ½ (v + r) log(1 + ‖z‖²/(v s))

    Missing columns are integrated out, so a row has the density of the cells that it has: its whitening is that of
    their covariance. With ``P = whitening whiteningᵀ`` and m the missing columns,
    ``‖z‖² = aᵀPa − (Pa)_mᵀ P_mm⁻¹ (Pa)_m`` where a is zero in m, and ``log_det + log |P_mm|``.

    Attributes
    ----------
    mean, mean_low : array of shape (K, d)
    origin : array of shape (d,)
        Mean of all rows, about which explanations of a shared covariance are.
    whitening : tuple of one array of shape (d, r), or of K
    log_det : array of shape (1,) or (K,)
    covariance : array of shape (1, d, d) or (K, d, d), optional
        Only if some covariance is singular or nearly so: then the cells that a row has need a whitening of their own.
    freedom, spread : array of shape (K,), optional
    """

    mean: Float
    mean_low: Float
    origin: Float
    whitening: tuple[Float, ...]
    log_det: Float
    covariance: Float | None = None
    freedom: Float | None = None
    spread: Float | None = None


@dataclass(frozen=True, eq=False)
class JointCells:
    """``log(n_k + alpha Π L_j) − log_size_k``: n_k counts the ``cells`` that agree with the known columns of x.

    The product is that of the numbers of levels of the missing columns. Without any known column, or without cells, it
    is 0. A level that is not among the ``levels`` counts as missing, or is an error if ``knows_all``.

    Attributes
    ----------
    levels : tuple of tuples
    cells : array of int of shape (C, d)
    count : array of shape (K, C)
    log_size : array of shape (K,)
    alpha : float
    knows_all : bool
    """

    levels: tuple[tuple[Hashable, ...], ...]
    cells: Codes
    count: Float
    log_size: Float
    alpha: float
    knows_all: bool


@dataclass(frozen=True, eq=False)
class PairTables:
    """Averaged one-dependence estimators.

    The value is the logarithm of the mean, over the parents i that are read, of

        p(x_i | k) Π_{j ≠ i} p(x_j | k, x_i),    p(b | k, a) = (pairs_k(a, b) + m p(b | k)) / (single_k(a) + m),
        p(b | k) = (single_k(b) + marginal w(b)) / (weight_k + marginal),    w(b) the share of b in all rows

    The bin of a column is that of its cuts, as in `Steps`, or of its level; the last bin is for missing cells. A column
    whose bin has the place −1 is not read. If no parent is read, it is Π_j p(x_j | k).

    Attributes
    ----------
    cuts : tuple
        Cuts of each column; None if it has levels.
    levels : tuple
        Levels of each column; None if it has cuts.
    others : tuple of bool
        Whether other levels share a bin after those of the levels; they are not read otherwise.
    places : array of int of shape (B,)
        Position of each bin of each column, one column after the other, in the tables.
    parents : tuple of int
    rows : array of int of shape (C,)
        Row of each bin of a parent in the table of pairs; −1 for other bins.
    pairs : array of shape (K, R, C)
        0 for two bins of one column, which are not needed.
    single : array of shape (K, C)
    weight : array of shape (K,)
    smoothing, marginal : float
    """

    cuts: tuple[tuple[float, ...] | None, ...]
    levels: tuple[tuple[Hashable, ...] | None, ...]
    others: tuple[bool, ...]
    places: Codes
    parents: tuple[int, ...]
    rows: Codes
    pairs: Float
    single: Float
    weight: Float
    smoothing: float
    marginal: float


@dataclass(frozen=True, eq=False)
class LogShares:
    """``scale_k (log(unit count_kj + added) − log_size_k)`` (K, M): whole numbers need less room than logarithms.

    ``scale`` (K,) is 1 if it is None. If ``weighted``, counts are multiplied by the weights of the words.
    """

    count: Float
    added: float
    log_size: Float
    scale: Float | None = None
    unit: float = 1.0
    weighted: bool = False

    def values(self, weight: Float | None = None) -> Float:
        """The logarithms (K, M), with the weights of the words (M,)."""
        count = self.unit * self.count
        if self.weighted:
            assert weight is not None
            count = count * weight
        with np.errstate(divide="ignore"):
            logs = np.log(count + self.added) - self.log_size[:, None]
        return logs if self.scale is None else logs * self.scale[:, None]


@dataclass(frozen=True)
class WordReading:
    """How a text is split into words; the fields of `suffice.text.analysis.Analysis` that are not functions.

    ``combining`` lists the first and last code points of characters that are removed after a compatibility
    decomposition (NFKD), if accents are removed.
    """

    analyzer: str
    lowercase: bool
    min_length: int
    ngram_range: tuple[int, int]
    strip_accents: str | None
    stop_words: tuple[str, ...]
    punctuation: bool
    characters: tuple[int, int] | None
    combining: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Words:
    """A text as a bag of words; x_j is how often it has word j.

    Let v_j be x_j, or 1 if x_j > 0 with ``distinct``; or, with ``unit``, log(1 + x_j) divided by the Euclidean norm of
    these numbers over all words of the text, known or not, and rounded to a multiple of 2⁻³⁰ above 0. With ``length``
    above 0, v is multiplied by ``(mean_length / Σ_j v_j)^length``, where the sum is over known words. Words are
    multiplied by their ``weight``.

    - ``"sum"``: Σ_j v_j table_kj. An entry of −∞ makes the word impossible, and +∞ makes all other classes impossible.
    - ``"present"``: total_k + Σ_j (table_kj − absent_kj) over the words of the text. ``total`` is Σ_j absent_kj over
      all words but those whose ``absent`` is −∞, which every text of the class must have. With ``unit``, a text
      without known words has no effect.
    - ``"draws"``: Σ_j log Γ(a_kj + v_j)/Γ(a_kj) − log Γ(A_k + Σ v)/Γ(A_k), where a_kj are the numbers of the table, and
      A_k their sum.

    A missing text has no effect. The multinomial coefficient, and in a sum terms of words that all classes share, are
    dropped.

    Attributes
    ----------
    kind : {"sum", "present", "draws"}
    words : tuple of str
    reading : WordReading
    table : LogShares or array of shape (K, M)
    absent : LogShares or array of shape (K, M), optional
    total : array of shape (K,), optional
    weight : array of shape (M,), optional
    distinct, unit : bool
    length, mean_length : float
    """

    kind: Literal["sum", "present", "draws"]
    words: tuple[str, ...]
    reading: WordReading
    table: LogShares | Float
    absent: LogShares | Float | None = None
    total: Float | None = None
    weight: Float | None = None
    distinct: bool = False
    unit: bool = False
    length: float = 0.0
    mean_length: float = 0.0


BlockForm: TypeAlias = CentredLines | CountDraws | GaussianBlock | JointCells | PairTables | Words


@dataclass(frozen=True, eq=False)
class Formula:
    """log p(x_block | y), up to a term that all classes share.

    Attributes
    ----------
    columns : tuple of ColumnForm
        One for each column; empty if there is a ``block``.
    block : BlockForm, optional
    domain : Domain
        Which values the columns take.
    missing : bool
        Whether cells may be missing.

    Examples
    --------
    >>> line = Line(at_origin=np.zeros(2), slope=np.array([0.0, 1.0]))
    >>> Formula(columns=(line,), domain="count").columns[0].slope
    array([0., 1.])
    """

    columns: tuple[ColumnForm, ...] = ()
    block: BlockForm | None = None
    domain: Domain = "number"
    missing: bool = True
