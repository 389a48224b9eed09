"""Fitted models as graphs of ONNX."""

from __future__ import annotations

import importlib.util
from typing import Any

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted, fitted_of

__all__ = ["to_onnx"]


def to_onnx(fitted: Fitted, precision: Any = "double", *, missing: str = "") -> Any:
    """Write a fitted model as a graph of ONNX; see `GenerativeClassifier.to_onnx`."""
    if importlib.util.find_spec("onnx") is None:
        raise InputError("Graphs are written by the package onnx, which is not installed: pip install 'suffice[onnx]'.")
    from suffice.export.onnx.exporting import onnx_model

    return onnx_model(fitted_of(fitted, "to_onnx"), precision, missing)
