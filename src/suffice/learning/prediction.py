"""Answers of a fitted model about rows: labels, posteriors, joint densities, samples.

Rows go through in blocks that stay in cache, and a model of one block of columns lets the kernel that scores the rows
finish them. `suffice.bayes` computes posteriors; the families compute densities.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from suffice import bayes
from suffice.exceptions import Argument, ClassError, InputError, NotLinearError, counted, listed
from suffice.learning.fitted import Fitted
from suffice.learning.impossible import check_possible, impossible_rows, warn_of_impossible_rows
from suffice.model import Block, LinearForm, generator, row_count
from suffice.model.explanation import Explanation, explain, explain_columns, with_cells
from suffice.model.member_explanation import explain_members
from suffice.numerics.types import Array, Float, Index
from suffice.sources.labels import read_weights
from suffice.statistics import ClassAxis
from suffice.tables import Table
from suffice.tables.row_blocks import evaluate_in_blocks

__all__ = [
    "answer",
    "answer_by_rule",
    "answer_of_joint",
    "decision",
    "explained",
    "joint",
    "linear_form",
    "log_likelihood",
    "sample",
]

REAL = (np.dtype(np.float64), np.dtype(np.float32))


def answer(fitted: Fitted, table: Table, method: str, numbers: Index | None = None) -> Array:
    """The answer to a prediction method for each row of a table.

    Parameters
    ----------
    method : {"predict", "predict_proba", "predict_log_proba"}
    numbers : array of int of shape (n,), optional
        Row numbers for messages.

    Returns
    -------
    array of shape (n,) or (n, K)
    """
    specification, solution, classes = fitted.specification, fitted.scorer, fitted.classes
    asked = _asked(fitted, method)
    direct = not specification.calibrates
    dtype = np.result_type(table.dtype, fitted.layout.dtype)

    def evaluate(rows: Table, out: Array | None) -> Array:
        place = out if out is not None and out.dtype in REAL else None
        known = solution.write_posterior(rows, asked, place) if direct else None
        if known is None:
            with np.errstate(over="ignore", invalid="ignore"):
                scores = solution.relative_joint(rows)
            return answer_by_rule(fitted, method, scores, classes, dtype, out)
        if method == "predict":
            return np.take(classes.labels, known, out=out)
        return specification.present(method, known, classes, dtype)

    with contextlib.suppress(ValueError):
        return evaluate_in_blocks(table, len(classes.labels), evaluate, at_once=len(fitted.combined.blocks) > 1)
    # A row has no answer. The joint densities of all rows tell which row, and whether one of its values is invalid.
    return answer_of_joint(fitted, method, joint(fitted, table), classes, dtype, table, numbers)


def answer_of_joint(
    fitted: Fitted,
    method: str,
    scores: Float,
    classes: ClassAxis,
    dtype: np.dtype,
    table: Table,
    numbers: Index | None = None,
) -> Array:
    """The answer to a prediction method from log p(x, y) of the rows of a table (n, K), up to a term of each row.

    A row with probability zero in every class raises an error, or gets the class prior or NaN, by the specification.
    """
    if fitted.specification.impossible == "error":
        check_possible(fitted, table, scores, numbers)
        return answer_by_rule(fitted, method, scores, classes, dtype)
    rows = impossible_rows(scores)
    if not len(rows):
        return answer_by_rule(fitted, method, scores, classes, dtype)
    prior = fitted.estimate.log_prior
    scores[rows] = prior
    out = answer_by_rule(fitted, method, scores, classes, dtype)
    if method == "predict":
        out[rows] = classes.labels[np.argmax(prior)]
    elif fitted.specification.impossible == "nan":
        out[rows] = np.nan
    else:
        out[rows] = prior if method == "predict_log_proba" else fitted.estimate.prior
    warn_of_impossible_rows(fitted, table, rows, numbers)
    return out


def decision(fitted: Fitted, table: Table) -> Float:
    """Calibrated log p(x, y) of each row and class (n, K), up to a term that all classes share.

    A row with probability zero in every class raises an error, or gets the class prior or NaN, by the specification.
    """
    scores = joint(fitted, table)
    policy, rows = fitted.specification.impossible, impossible_rows(scores)
    if policy == "error":
        check_possible(fitted, table, scores)
    prior = fitted.estimate.log_prior
    scores[rows] = prior
    scores = fitted.calibrated(scores, fitted.classes)
    if len(rows):
        scores[rows] = np.nan if policy == "nan" else prior
        warn_of_impossible_rows(fitted, table, rows)
    return scores


def answer_by_rule(
    fitted: Fitted, method: str, scores: Float, classes: ClassAxis, dtype: np.dtype, out: Array | None = None
) -> Array:
    """The answer to a prediction method by Bayes' rule; it may be written to ``out``, which has its shape and type."""
    asked = _asked(fitted, method)
    if fitted.specification.calibrates:
        scores = fitted.calibrated(scores, classes)
    if asked == "predict":
        return np.take(classes.labels, bayes.decide(scores), out=out)
    place = scores if out is None or out.dtype != np.float64 else out
    known = bayes.posterior(scores, place) if asked == "predict_proba" else bayes.log_posterior(scores, place)
    return fitted.specification.present(method, known, classes, dtype)


def _asked(fitted: Fitted, method: str) -> str:
    """The method whose answer by Bayes' rule comes first."""
    late = method == "predict_log_proba" and fitted.specification.log_of_probability
    return "predict_proba" if late else method


def joint(fitted: Fitted, table: Table, *, relative: bool = True) -> Float:
    """log p(x, y) of each row and class (n, K).

    If ``relative``, up to a term that all classes share, and with the weights that a calibration gives to columns.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        out = fitted.scorer.relative_joint(table) if relative else fitted.solution.joint(table)
    return usable(fitted, out, table)


def usable(fitted: Fitted, scores: Float, table: Table) -> Float:
    """The scores; raises if they show that a value of the rows was not a finite number.

    Where finite numbers overflowed, the density is zero in float64.
    """
    if not np.isfinite(scores).all():
        fitted.reader.explain_values(table, fitted.layout)
        scores[~(scores < np.inf)] = -np.inf
    return scores


def log_likelihood(fitted: Fitted, table: Table, y: object, sample_weight: object) -> float:
    """Σ log p(x, y) of rows with labels, Σ log p(x) without."""
    scores = joint(fitted, table, relative=False)
    if y is None:
        each = bayes.log_evidence(scores)
    else:
        labels = np.asarray(y)
        if labels.shape != (len(scores),):
            raise InputError(
                f"y must hold one label for each of the {len(scores)} rows; got shape {labels.shape}.", argument="y"
            )
        codes = fitted.classes.positions(labels)
        if (codes < 0).any():
            unknown = np.unique(labels[codes < 0]).tolist()
            raise ClassError(
                f"y holds {listed(unknown)}, not among the classes {listed(fitted.classes.labels.tolist())}.",
                rows=np.flatnonzero(codes < 0),
                argument="y",
            )
        each = scores[np.arange(len(scores)), codes]
    weights = read_weights(sample_weight, len(scores))
    return float(each.sum() if weights is None else weights @ each)


def linear_form(fitted: Fitted) -> LinearForm:
    """The log-odds as a linear function of x; those of calibrated probabilities with a calibration.

    A calibrated row without evidence keeps the prior instead.
    """
    if not fitted.specification.calibrates:
        return fitted.specification.linear_form(fitted)
    calibration = fitted.required_calibration()
    if calibration.knots:
        raise NotLinearError(
            "The log-odds of an isotonic calibration are not linear in x. Use ",
            Argument("calibrate", True),
            ".",
            page="docs/calibration.md",
        )
    estimate = fitted.combined
    scale, offset = calibration.linear(estimate.classes, estimate.prior)
    if fitted.weighted is not None:
        return estimate.linear_form(fitted.weighted.of_blocks, offset)
    offset = offset + np.where(estimate.prior > 0, (scale - 1) * estimate.log_prior, 0.0)
    return estimate.linear_form([np.array([scale])] * len(estimate.blocks), offset)


def linear_form_of_columns(fitted: Fitted) -> LinearForm | None:
    """The log-odds as a linear function of the columns; None if they are not linear, or of the words of documents."""
    words = any(block.member or block.family.reads == "documents" for block in fitted.combined.blocks)
    if words or not fitted.specification.has_density:
        return None
    try:
        form = linear_form(fitted)
    except NotLinearError:
        return None
    names = list(fitted.layout.names)
    # Solvers of scikit-learn's classes know columns by position.
    return replace(form, columns=names) if form.columns == list(range(len(names))) else form


def explained(
    fitted: Fitted,
    table: Table,
    label: object,
    against: object,
    *,
    absent_words: bool = False,
    by_column: bool = False,
    pairs: bool = False,
) -> Explanation:
    """Parts of the log-odds of one class against another, row by row.

    With weights of columns they are the log-odds of the calibrated probabilities, without the share of outliers; with
    another calibration, those before it. ``by_column`` makes documents one part for each column, and ``pairs`` makes
    pairs of columns parts of an ensemble's averaged dependence.
    """
    estimate, weighted = fitted.combined, fitted.weighted
    first, second = (None if each is None else fitted.classes.position(each) for each in (label, against))
    scores = joint(fitted, table)
    check_possible(fitted, table, scores, predicts=False)
    if weighted is None:
        weights, shift = None, None
    else:
        weights = weighted.of_blocks
        shift = fitted.required_calibration().row_offsets(scores, estimate.classes, estimate.prior)
        scores = scores + shift
        if any(block.member for block in estimate.blocks):
            found = explain_members(estimate, table, first, second, scores, weights, shift, pairs=pairs)
            return replace(with_cells(found, estimate.blocks, table), measure="weighted log-odds")
    if by_column:
        found = explain_columns(estimate, table, first, second, weights, shift)
    else:
        found = explain(estimate, table, first, second, scores, absent_words=absent_words, weights=weights, shift=shift)
    measure = "weighted log-odds" if weighted is not None else "log-odds"
    measure += " before calibration" if weighted is None and fitted.specification.calibrates else ""
    return replace(with_cells(found, estimate.blocks, table), measure=measure)


def sample(
    fitted: Fitted, n_samples: object, label: object, random_state: object, length: object = None
) -> tuple[object, Array]:
    """Rows drawn from the model, in the form of the rows that were fitted, and their labels.

    Documents have ``length`` words, or by default about as many as those of their class.
    """
    size = row_count(n_samples, "n_samples")
    n_words = None if length is None else _document_length(length, fitted.estimate.blocks)
    try:
        return _drawn(fitted, size, label, generator(random_state), n_words)
    except MemoryError:
        of_words = "" if n_words is None else f" of {counted(n_words, 'word')}"
        raise InputError(
            f"There is not enough memory to draw {counted(size, 'row')}{of_words}. Draw fewer at a time.",
            argument="n_samples",
        ) from None


def _drawn(
    fitted: Fitted, size: int, label: object, rng: np.random.Generator, n_words: int | None
) -> tuple[object, Array]:
    estimate = fitted.estimate
    if label is None:
        codes = rng.choice(len(estimate.prior), size=size, p=estimate.prior / estimate.prior.sum())
    else:
        codes = np.full(size, estimate.classes.position(label), dtype=np.int64)
    columns = estimate.sample(codes, rng, length=n_words)
    return fitted.reader.write(columns, fitted.layout), fitted.classes.labels[codes]


def _document_length(length: object, blocks: Sequence[Block]) -> int:
    """A number of words; raises `InputError` for anything else, or if the model has no texts."""
    if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 0:
        raise InputError(
            Argument("length"),
            f" is a number of words, a whole number of at least 0; got {length!r}.",
            argument="length",
        )
    if not any(block.family.reads == "documents" for block in blocks):
        raise InputError(
            Argument("length"),
            " is the number of words of drawn texts, but the model has no column of texts. Leave it out.",
            argument="length",
        )
    return int(length)
