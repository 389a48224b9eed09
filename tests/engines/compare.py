"""Comparison of models that were fitted in different ways."""

import numpy as np

import suffice

METHODS = ("predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples")


def arrays(model):
    """The arrays of all statistics, without the low halves of two-part numbers."""
    found = {}
    for b, statistic in enumerate(model.fitted_.model.statistics):
        parts = {"": statistic, **{f"{name}.": part for name, part in statistic.inner().items()}}
        for prefix, part in parts.items():
            for name, values in part.arrays().items():
                if not name.endswith("_low"):
                    found[b, prefix + name] = np.asarray(values)
    return found


def assert_same_statistics(model, other, tolerance=1e-12):
    """Both models have the same classes and columns, and statistics that agree relative to their largest entry."""
    assert model.classes_.tolist() == other.classes_.tolist()
    assert list(model.fitted_.layout.names) == list(other.fitted_.layout.names)
    np.testing.assert_allclose(model.class_count_, other.class_count_, rtol=1e-14)
    mine, theirs = arrays(model), arrays(other)
    assert mine.keys() == theirs.keys()
    for name, values in mine.items():
        if values.dtype.kind == "f":
            size = np.abs(theirs[name]).max(initial=0.0)
            np.testing.assert_allclose(values, theirs[name], rtol=tolerance, atol=tolerance * size, err_msg=str(name))
        else:
            np.testing.assert_array_equal(values, theirs[name], err_msg=str(name))


def assert_same_predictions(model, other, rows, tolerance=1e-10):
    """Both models have the same predictions for some rows."""
    np.testing.assert_allclose(model.predict_proba(rows), other.predict_proba(rows), rtol=0, atol=tolerance)
    assert (model.predict(rows) == other.predict(rows)).mean() > 0.9999


def same_settings(model):
    """An estimator with the same parameters that has learned nothing."""
    return suffice.loads(model.to_bytes()) if model.__sklearn_is_fitted__() else type(model)(**model.get_params())
