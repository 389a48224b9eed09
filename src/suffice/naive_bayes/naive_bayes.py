"""`NaiveBayes`: columns that are independent given the class, of any type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.bayes import Prior
from suffice.estimators.tunable import PATH, OwnClassifier, is_auto
from suffice.exceptions import InputError, listed
from suffice.families import Family
from suffice.learning.column_checks import (
    check_empty,
    check_levels,
    check_merge,
    warn_about_empty,
    warn_about_levels,
    warn_about_words,
)
from suffice.learning.family_choice import POLICIES, chosen_blocks, columns_of, family_of
from suffice.model import Block, Model
from suffice.model.explanation import Explanation, explain_columns
from suffice.model.parameter_tables import parameter_table
from suffice.sources.forms import ArrayForm, Form, SparseForm, StoredFrameForm
from suffice.sources.tables import check_kinds, explain_table, read_training_table, table_of_rows
from suffice.statistics import Membership
from suffice.tables import Table
from suffice.tables.listing import Listing
from suffice.tables.table import Schema

__all__ = ["NaiveBayes"]

Float = NDArray[np.float64]


class NaiveBayes(OwnClassifier):
    """Naive Bayes: p(x | y) is a product over the columns, each of its own family.

    Rows may come as a NumPy array, a SciPy sparse matrix, a pandas or Polars data frame or a PyArrow table. A
    missing value (NaN, None, NA, NaT) says nothing, in fitting and in prediction: its cell is left out of the sums
    and of the product. Rescaling a column of numbers changes no prediction.

    Parameters
    ----------
    families : "auto", a name, a family, or a mapping, default="auto"
        The distribution of the columns. ``"auto"`` chooses by the type of a column, once, at the first batch:
        numbers are Gaussian, truth values Bernoulli, categories and texts categorical. A name or a family object
        stands for all columns. A mapping says it column by column, and ``"auto"`` chooses for the others; a
        tuple of columns as its key is a block that hangs together, if its family is ``"multivariate_gaussian"``,
        ``"joint_table"`` or ``"multinomial"``; the value None leaves a column out. ``"text"`` reads a column as
        documents, and counts their words.
    estimation : {"mle", "map", "bayes"} or None, default=None
        How parameters are made from what was counted: by maximum likelihood, with a conjugate prior, or
        integrated over the posterior. None is each family's own way: ``"mle"`` for numbers, ``"map"`` for counts
        and categories (Laplace smoothing). A family object speaks for itself.
    smoothing : float, "auto" or None, default=None
        Weight of the prior: rows of each level or answer, or rows like all rows together. None is 1. ``"auto"`` chooses
        by the log-loss of rows that are left out, one by one where that has a closed form, else in ten folds; see
        ``tuning_``. Maximum likelihood, the default for numbers, has no prior: give them ``estimation="map"`` or
        ``"bayes"`` as well.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.
    missing : {"ignore", "category"}, default="ignore"
        Whether a missing cell of a categorical column says nothing, or is a level of its own.
    unseen : {"ignore", "share", "error"}, default="ignore"
        What a level says that was never seen: nothing; the smoothed share of one more level; or it is an error.
        By default nothing, because its share would be largest in the class with the fewest rows, whatever the
        level is.

    calibrate : bool or {"temperature", "isotonic"}, default=False
        Whether `predict_proba` mends the posterior by a map that is fitted to rows which are left out one by one (in
        ten folds where that has no closed form and there are more than 1,000): a temperature and an offset for each
        class (True), or a monotone function (``"isotonic"``). Naive Bayes counts
        columns that depend on each other as often as they come, and is too sure of itself without.

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_, class_prior_ : array of shape (K,)
    smoothing_ : float
        The weight of the prior that is used.
    tuning_ : Tuning
        What was tried for a setting that is "auto", and its log-loss.
    calibration_ : Calibration
        The map, if there is one.
    families_ : dict
        The family of each column, or of each tuple of columns.
    means_, variances_ : array of shape (K, d)
        Where all columns are Gaussian.

    See Also
    --------
    suffice.GaussianDiscriminant : Columns that hang together by a covariance matrix.
    suffice.naive_bayes.GaussianNB : scikit-learn's class on this core.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes
    >>> X = np.array([[1.0, 10.0], [2.0, np.nan], [1.5, 12.0], [8.0, 3.0], [9.0, 4.0], [np.nan, 2.0]])
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([[2.0, np.nan], [np.nan, 3.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.means_
    array([[ 8.5,  3. ],
           [ 1.5, 11. ]])

    A data frame has columns of different types:

    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "size": [1.0, 2.0, None, 7.0, 9.0, 8.0],
    ...         "red": [True, True, False, False, None, False],
    ...         "kind": ["a", "a", "b", "b", "c", None],
    ...     }
    ... )
    >>> mixed = NaiveBayes().fit(frame, ["small", "small", "small", "large", "large", "large"])
    >>> mixed.families_
    {'size': Gaussian(), 'red': Bernoulli(), 'kind': Categorical()}
    >>> mixed.predict(pd.DataFrame({"kind": ["never seen"], "size": [7.5], "red": [None]}))
    array(['large'], dtype='<U5')
    >>> mixed.explain(frame[:1])
    row  label  against  column       part
      0  small  large    size      36.7404
      0  small  large    kind     0.916291
      0  small  large    red      0.875469
      0  small  large    (prior)         0

    With a shared variance the posterior is exactly a logistic function of x:

    >>> from suffice.families import Gaussian
    >>> shared = NaiveBayes(families=Gaussian(variance="shared")).fit(X, y)
    >>> theta, theta0 = shared.linear_form()
    >>> row = np.array([4.0, 7.0])
    >>> bool(np.isclose(1 / (1 + np.exp(-row @ theta - theta0)), shared.predict_proba([row])[0, 1]))
    True
    """

    _form: Form | None = None  # of the rows that were fitted first
    _stored: ClassVar[tuple[str, ...]] = ("_form",)

    def __init__(
        self,
        families: str | Family | Mapping[Any, Any] = "auto",
        *,
        estimation: str | None = None,
        smoothing: float | str | None = None,
        prior: Prior = "data",
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool | str = False,
    ) -> None:
        self.families = families
        self.estimation = estimation
        self.smoothing = smoothing
        self.prior = prior
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate

    # ------------------------------------------------------------------ rows

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        schema = None if reset else self._schema
        table, y, form = read_training_table(self, X, y, schema, self._left_out(), min_rows)
        if schema is None:
            self._form = form
        else:
            check_kinds(table, schema)
            check_empty(table, schema, self._named())
        return table, y

    def _read_rows(self, X: Any) -> Table:
        assert self._schema is not None
        table = table_of_rows(self, X, self._schema, self._left_out())
        check_kinds(table, self._schema)
        return table

    def _rows_of_source(self, rows: Any) -> Any:
        return rows

    def _read_unlabelled(self, X: Any) -> Table:
        assert self._schema is not None
        table = self._read_rows(X)
        check_empty(table, self._schema, self._named())
        return table

    def _left_out(self) -> list[Any]:
        """Columns that no family reads, and that need not be there."""
        if not isinstance(self.families, Mapping):
            return []
        names = [] if self._schema is None else list(self._schema.names)
        return [name for key, family in self.families.items() if family is None for name in columns_of(key, names)]

    def _named(self) -> list[Any]:
        """Columns whose family does not follow from their type."""
        assert self._schema is not None
        names = list(self._schema.names)
        if isinstance(self.families, Mapping):
            keys = [key for key, family in self.families.items() if not (isinstance(family, str) and family == "auto")]
            return [name for key in keys for name in columns_of(key, names)]
        return [] if isinstance(self.families, str) and self.families == "auto" else names

    def _check_stored(self, schema: Schema) -> None:
        super()._check_stored(schema)
        form = self._form
        if not isinstance(form, ArrayForm | SparseForm | StoredFrameForm):
            raise InputError(f"{form!r} is no form of rows.")
        if isinstance(form, StoredFrameForm) and len(form.names) != len(schema):
            raise InputError(f"There are {len(form.names)} columns in a frame of {len(schema)}.")

    def _write_rows(self, columns: list[Any]) -> Any:
        columns = columns + [None] * (self.n_features_in_ - len(columns))  # left out at the end of a row
        assert self._form is not None
        return self._form(columns)

    def _explain_values(self, table: Table) -> None:
        super()._explain_values(table)
        explain_table(table, self._schema.names if self._schema else self._names(len(table.kinds)))

    @property
    def _allow_nan(self) -> bool:
        if isinstance(self.families, str) and self.families != "auto":
            return family_of(self.families, self._settings()).accepts_missing
        return not isinstance(self.families, Family) or self.families.accepts_missing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ families

    def _settings(self) -> dict[str, Any]:
        """The settings that hold for families which were not given as objects."""
        given = {"estimation": self.estimation, "smoothing": self._setting("smoothing", 1.0)}
        kept = {name: value for name, value in given.items() if value is not None}
        policies = {"missing": self.missing, "unseen": self.unseen}
        for name, value in policies.items():
            if value not in POLICIES[name]:
                raise InputError(f"{name} must be one of {listed(POLICIES[name])}; got {value!r}.")
        return kept | policies

    def _blocks(self, schema: Schema) -> list[Block]:
        return chosen_blocks(self.families, schema, self._settings())

    def _check_columns(self, model: Model, table: Table) -> None:
        warn_about_empty(model, table)
        warn_about_words(model)
        self._warn_about_levels(model)

    def _warn_about_levels(self, model: Model) -> None:
        assert self._schema is not None
        warn_about_levels(model, self._schema, self._named())

    def _summarize(self, table: Table, members: Membership) -> Model:
        model = super()._summarize(table, members)
        if self._model is not None:
            check_levels(self._model, model, table)
        return model

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from these rows in addition to those already seen.

        Any split of the rows into batches, in any order, gives the same model as one `fit`, as long as the families
        that ``"auto"`` chooses by the types of the first batch are the same.

        Parameters
        ----------
        X : rows, or a source
            May be none. Levels that were not seen before are learned.
        y : array-like of shape (n,), or str
            Labels that were not seen before add a class. The name of their column, of a source.
        classes : array-like, optional
            Classes to expect. A class that is declared and never seen has prior probability zero, unless the prior is
            uniform or given.
        sample_weight : array-like of shape (n,), optional
        decay : float in [0, 1], optional
            The weight of all rows seen before is multiplied by it first; see `decay`.

        Returns
        -------
        self
        """
        first = self._model is None
        super().partial_fit(X, y, classes=classes, sample_weight=sample_weight, decay=decay)
        if first:
            self._warn_about_levels(self._learned())
        return self

    def merge(self, other: NaiveBayes) -> NaiveBayes:
        """Take in what another model has learned from other rows.

        Parameters
        ----------
        other : NaiveBayes
            Fitted on the same columns, in any order if they have names, and perhaps on other classes and other
            levels. It is not changed. A model that was not fitted yet adds nothing.

        Returns
        -------
        self
        """
        first = self._model is None
        if isinstance(other, NaiveBayes) and self._model is not None and other._model is not None:
            assert self._schema is not None
            assert other._schema is not None
            check_merge(self._schema, self._model, other._schema, other._model)
        super().merge(other)
        if first and self._model is not None:
            self._form = other._form
        return self

    # ------------------------------------------------------------------ what was learned

    def _paths(self) -> dict[str, Sequence[float]]:
        return {"smoothing": PATH} if is_auto(self.smoothing) else {}

    @property
    def smoothing_(self) -> float:
        """The weight of the prior that is used, where a family has one and does not speak for itself."""
        self._learned()
        value = self._setting("smoothing", 1.0)
        return 1.0 if value is None else float(value)

    @property
    def families_(self) -> dict[Any, Family]:
        """The family of each column, or of each tuple of columns that hang together."""
        found: list[tuple[int, Any, Family]] = []
        for block in self._learned().blocks if self._cached is None else self._cached.blocks:
            at = block.positions(self.n_features_in_)
            if block.by_column:
                found += [(at[i], name, block.family) for i, name in enumerate(block.names)]
            else:
                found.append((at[0], tuple(block.names), block.family))
        return {name: family for _, name, family in sorted(found, key=lambda each: each[0])}

    def parameters(self, column: Any) -> Listing:
        """The fitted p(x | y) of a column, or of a tuple of columns that hang together, as a table.

        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.parameters(0)
        class  mean  deviation
        a         2          1
        b        12          2
        """
        return parameter_table(self._estimated(), column)

    def explain(self, X: Any, label: Any = None, against: Any = None) -> Explanation:
        """Why the model answers as it does: the parts of the log-odds, which sum to it.

        Parameters
        ----------
        X : rows
        label, against : optional
            The classes to compare. Of two classes it is the second against the first; of more the likeliest of
            each row against the next likeliest.

        Returns
        -------
        Explanation
            ``parts`` as an array, and `Explanation.to_frame` by strength.
        """
        estimate = self._estimated()
        table = self._read_rows(X)
        first, second = (None if each is None else estimate.classes.position(each) for each in (label, against))
        return explain_columns(estimate, table, first, second)

    @property
    def means_(self) -> Float:
        """Mean of each class and column (K, d), where all columns are Gaussian."""
        means: Float = self._only("means_").mean
        return means

    @property
    def variances_(self) -> Float:
        """Variance of each class and column (K, d), where all are Gaussian; zero: a column that says nothing."""
        variances: Float = self._only("variances_").variance
        return variances

    def _only(self, attribute: str) -> Any:
        parameters = self._estimated().parameters
        if len(parameters) != 1 or not hasattr(parameters[0], "variance"):
            raise AttributeError(f"{attribute} is there where all columns are Gaussian; see parameters(column).")
        return parameters[0]

    # ------------------------------------------------------------------ how it shows itself

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = super().__repr__(N_CHAR_MAX)
        return text if self._model is None else f"{text}\n{self._summary()}"

    def _summary(self) -> str:
        """The families with their columns, one to a line."""
        grouped: dict[str, list[Any]] = {}
        for name, family in self.families_.items():
            grouped.setdefault(repr(family), []).append(name)
        return "\n".join(f"  {family}: {_names(names)}" for family, names in grouped.items())

    def _repr_html_(self) -> str:
        inner: str = super()._repr_html_() if hasattr(super(), "_repr_html_") else ""
        if self._model is None:
            return inner
        shown = Listing(
            {
                "columns": [str(name) for name in self.families_],
                "family": [repr(family) for family in self.families_.values()],
            }
        )
        return inner + shown._repr_html_()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _names(names: list[Any], limit: int = 8) -> str:
    shown = ", ".join(str(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
