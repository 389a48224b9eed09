"""What a graph of ONNX computes for some rows, against what its model computes."""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from graph_inputs import graph_inputs

TOLERANCE = {"double": 1e-12, "float": 1e-5}
ELEMENT = {"double": np.float64, "float": np.float32}
MISSING = "<missing>"


def reference(proto, inputs):
    """The outputs, by the evaluator that defines what operators of ONNX compute."""
    with np.errstate(all="ignore"):  # log 0 is −∞ in a graph
        return ReferenceEvaluator(proto).run(None, inputs)


def answers(model, rows, run=reference, precision="double", missing=MISSING):
    """The labels, the probabilities and their logarithms of some rows."""
    proto = model.to_onnx(precision, missing=missing)
    onnx.checker.check_model(proto, full_check=True)
    label, p, logs = run(proto, graph_inputs(proto, rows))
    assert p.dtype == logs.dtype == ELEMENT[precision]
    assert p.shape == logs.shape == (len(rows), len(model.classes_))
    return np.asarray(label), p, logs


def assert_same_answers(model, rows, run=reference, precision="double"):
    """The graph has the probabilities and the labels of the model."""
    label, p, logs = answers(model, rows, run, precision)
    np.testing.assert_allclose(p, model.predict_proba(rows), rtol=0, atol=TOLERANCE[precision])
    np.testing.assert_array_equal(label, model.predict(rows))
    np.testing.assert_allclose(logs, model.predict_log_proba(rows), rtol=10 * TOLERANCE[precision], atol=1e-5)
    some = ~np.isnan(p).any(axis=1)
    np.testing.assert_allclose(p[some].sum(axis=1), 1, rtol=TOLERANCE[precision])
