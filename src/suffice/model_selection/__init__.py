"""Cross-validation in one pass over the rows.

A model is a function of statistics that add. The statistics of each fold are computed once, those of a training set
are the sum over its folds, and a row is held out by subtracting its own statistics. The functions have scikit-learn's
names, arguments and results, and pass any other estimator on to scikit-learn.

>>> from sklearn.datasets import load_iris
>>> from suffice import GaussianDiscriminant
>>> from suffice.model_selection import cross_val_predict, leave_one_out
>>> X, y = load_iris(return_X_y=True)
>>> float((cross_val_predict(GaussianDiscriminant(), X, y, cv=10) == y).mean())
0.98
>>> float((leave_one_out(GaussianDiscriminant(), X, y, method="predict") == y).mean())
0.98
"""

from suffice.model_selection.cross_validation import cross_val_predict, cross_validate
from suffice.model_selection.leave_one_out import leave_one_out

__all__ = ["cross_val_predict", "cross_validate", "leave_one_out"]
