"""What a fitted estimator computes below its public methods."""

from suffice.learning import prediction


def table_of(model, X):
    """The rows as the model reads them."""
    fitted = model.fitted_
    return fitted.reader.rows(X, fitted.layout)


def joint_of(model, X, *, relative):
    """log p(x, y) of each row and class."""
    return prediction.joint(model.fitted_, table_of(model, X), relative=relative)
