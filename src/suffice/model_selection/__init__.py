"""Cross-validation and leave-one-out in one pass over the rows.

The models of this library are computed from sums. The sums of each fold are computed once; those of a training set are
the total of its folds, and a row is held out by subtracting its own. `cross_val_predict` and `cross_validate` have the
arguments and results of scikit-learn's functions of the same names, and pass other estimators on to them.

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
