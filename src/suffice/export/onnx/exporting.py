"""A fitted model as a graph of ONNX, which computes the label and the probabilities of each row."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import get_args

import numpy as np
from onnx import ModelProto, helper

from suffice import bayes
from suffice.exceptions import InputError, did_you_mean
from suffice.export.onnx.blocks import block_result
from suffice.export.onnx.calibration import calibrated
from suffice.export.onnx.graph import DTYPE, Graph, Kind, Output, Value
from suffice.export.onnx.inputs import Inputs, check_unicode, made_inputs, reads_matrix
from suffice.export.onnx.operations import as_number, concatenated, exp, largest, normalized, squeezed, taken, where
from suffice.export.onnx.precision import Precision, as_single, wide_columns
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import ScoringRule
from suffice.numerics.types import Array

__all__ = ["onnx_model"]

OPERATORS, MACHINE_LEARNING, FORMAT = 18, 3, 8  # versions that ONNX Runtime reads since 1.14 (February 2023)
OUTPUTS = ("label", "probabilities", "log_probabilities")
NO_LABEL = {"text": "", "whole": np.iinfo(np.int64).min, "number": np.nan}
NO_ANSWER = "for a row that the model refuses"


def onnx_model(fitted: Fitted, precision: Precision = "double", missing: str = "") -> ModelProto:
    """A graph with the labels and probabilities of a fitted model; see `GenerativeClassifier.to_onnx`."""
    if precision not in get_args(Precision):
        hint = did_you_mean(precision, get_args(Precision))
        raise InputError(f"precision must be 'double' or 'float'; got {precision!r}.{hint}", argument="precision")
    if not isinstance(missing, str):
        raise InputError(
            f"missing must be a text: that of a missing cell in columns of texts; got {missing!r:.80}.",
            argument="missing",
        )
    check_unicode(missing, "The text of a missing cell")
    rule, single = ScoringRule.of(fitted), set[int]()
    if precision == "float":
        single = _single_columns(fitted, rule)
        rule = as_single(rule, single)
    graph = Graph()
    inputs = made_inputs(graph, fitted, rule, missing, single)
    joint, wrong = _joint(graph, rule, inputs)
    outputs = _outputs(graph, rule, joint, wrong, single=precision == "float")
    name = fitted.specification.estimator
    model = helper.make_model(
        graph.finished(name, f"Scores of a model of Suffice ({name}).", outputs),
        ir_version=FORMAT,
        opset_imports=[helper.make_opsetid("", OPERATORS), helper.make_opsetid("ai.onnx.ml", MACHINE_LEARNING)],
        producer_name="suffice",
        producer_version=version("suffice"),
    )
    described = {"classes": rule.labels.tolist(), "inputs": inputs.described}
    as_json = {key: json.dumps(value, ensure_ascii=False) for key, value in described.items()}
    helper.set_model_props(model, {"missing": missing, **as_json})
    return model


def _joint(graph: Graph, rule: ScoringRule, inputs: Inputs) -> tuple[Value, Value | None]:
    """log p(x, y) up to a term of each row (n, K), and the rows that the model refuses (n, 1), or None."""
    one = graph.constant(np.array([1]), "whole")
    shape = concatenated([inputs.rows, one], 0)
    joint = graph.op("Expand", graph.constant(rule.log_prior[None], "number"), shape, kind="number")
    wrong: Value | None = None
    for block in rule.blocks:
        scores, errors = block_result(inputs, block)
        joint = joint if scores is None else joint + scores
        for error in errors:
            wrong = error if wrong is None else wrong | error
    return where(joint < np.inf, joint, -np.inf), wrong


def _outputs(graph: Graph, rule: ScoringRule, joint: Value, wrong: Value | None, *, single: bool) -> list[Output]:
    """Labels (n,), probabilities and their logarithms (n, K)."""
    possible = largest(joint, 1) > -np.inf
    scores = where(possible, joint, bayes.log_prior(rule.prior))
    if rule.calibration is not None:
        scores = calibrated(scores, rule.calibration)
    logs = normalized(scores, 1)
    code = graph.op("ArgMax", scores, kind="whole", axis=1)
    likeliest = int(np.argmax(rule.prior))
    n_classes = len(rule.labels)
    if rule.impossible == "prior":
        logs = where(possible, logs, bayes.log_prior(rule.prior))
    else:
        logs = where(possible, logs, np.nan)
    code = where(possible, code, n_classes if rule.impossible == "error" else likeliest, "whole")
    if wrong is not None:
        logs, code = where(wrong, np.nan, logs), where(wrong, n_classes, code, "whole")
    label = squeezed(_labels(graph, rule.labels, code), 1)
    p, log_p = (as_number(each, "single") if single else each for each in (exp(logs), logs))
    names, shape = _output_names([each.name for each in graph.inputs]), [None, n_classes]
    none = json.dumps(NO_LABEL[label.kind], ensure_ascii=False)
    return [
        Output(names[0], label, [None], f"The most probable class; {none} {NO_ANSWER}."),
        Output(names[1], p, shape, f"Probability of each class, in the order of the metadata; NaN {NO_ANSWER}."),
        Output(names[2], log_p, shape, f"Logarithm of the probability of each class; NaN {NO_ANSWER}."),
    ]


def _labels(graph: Graph, labels: Array, code: Value) -> Value:
    """The label of each code; beyond the last class, one that no class has."""
    values = labels.tolist()
    kind: Kind = "number"
    if all(isinstance(each, str) for each in values):
        kind = "text"
        for each in values:
            check_unicode(each, "A label")
    elif all(isinstance(each, int) for each in values):  # booleans, too
        kind = "whole"
        if max(map(abs, values), default=0) >= 1 << 63:
            raise InputError(
                "A label is a whole number too large for int64, so a graph cannot hold it. Fit the model with other "
                "labels."
            )
    elif not all(isinstance(each, int | float) for each in values):
        raise InputError(
            f"The labels are of the type {type(values[0]).__name__}; a graph has labels that are numbers or texts. "
            "Fit the model with such labels."
        )
    every = np.empty(len(values) + 1, dtype=object)
    every[:] = [*values, NO_LABEL[kind]]
    return taken(graph, every if kind == "text" else every.astype(DTYPE[kind]), code, kind=kind)


def _single_columns(fitted: Fitted, rule: ScoringRule) -> set[int]:
    """Positions of the columns whose numbers come as float32; a matrix has one type."""
    every, wide = {column.position for column in rule.columns}, wide_columns(rule)
    return set() if wide and reads_matrix(fitted, rule) else every - wide


def _output_names(inputs: list[str]) -> list[str]:
    """Names of the outputs, with an underscore where an input has the name."""
    out = []
    for name in OUTPUTS:
        while name in inputs:
            name += "_"
        out.append(name)
    return out
