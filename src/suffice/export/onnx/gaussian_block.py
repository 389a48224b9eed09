"""Scores of multivariate Gaussians and Student's t distributions, whose rows may lack cells."""

from __future__ import annotations

import numpy as np

from suffice.export.onnx.densities import is_linear, log_densities
from suffice.export.onnx.graph import Value
from suffice.export.onnx.missing_cells import with_incomplete_rows
from suffice.export.onnx.operations import concatenated, summed
from suffice.export.onnx.singular_block import is_singular, scores_by_pattern
from suffice.families.formula import CentredLines, GaussianBlock

__all__ = ["gaussian_scores", "line_scores"]


def line_scores(x: Value, form: CentredLines) -> Value:
    """Scores of linear discriminant analysis (n, K)."""
    at_origin = np.asarray(-0.5 * (form.slope * form.away).sum(axis=1))
    return (x - form.origin) @ form.slope.T + at_origin


def gaussian_scores(x: Value, form: GaussianBlock, *, missing: bool) -> Value:
    """Scores of rows x (n, d), with NaN for missing cells (n, K)."""
    if missing and is_singular(form):
        return scores_by_pattern(x, form)
    complete = _linear(x, form) if is_linear(form) else _of_classes(x, form)
    return with_incomplete_rows(x, form, complete) if missing else complete


def _linear(x: Value, form: GaussianBlock) -> Value:
    """Scores with a shared covariance, without the quadratic term of all classes."""
    (whitening,) = form.whitening
    away = (form.mean - form.origin) + form.mean_low
    return line_scores(x, CentredLines((away @ whitening) @ whitening.T, away, form.origin))


def _of_classes(x: Value, form: GaussianBlock) -> Value:
    """Scores of complete rows; the distances are those of one class after another, which needs less memory."""
    distances = []
    for k, (mean, low) in enumerate(zip(form.mean, form.mean_low, strict=True)):
        z = ((x - mean) - low) @ form.whitening[min(k, len(form.whitening) - 1)]
        distances.append(summed(z * z, 1, keep=True))
    rank = x.graph.constant(np.array([[each.shape[1] for each in form.whitening]]), "whole")
    return log_densities(form, concatenated(distances, 1), form.log_det, rank)
