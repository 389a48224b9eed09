"""`Inference`: methods of fitted models beyond predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from suffice.engines.answers import answer_table
from suffice.estimators.predictor import Predictor
from suffice.exceptions import InputError
from suffice.learning import decisions, fitting, prediction, updating
from suffice.learning.decisions import Costs, Thresholds
from suffice.learning.expectation_maximisation import EMTrace
from suffice.learning.information import N_SAMPLES, mutual_information
from suffice.learning.prior_shift import AdaptedPrior
from suffice.learning.report import FitReport
from suffice.model import Conditional, LinearForm, row_count
from suffice.model.explanation import Explanation
from suffice.model.parameter_tables import all_parameters, parameter_table
from suffice.numerics.types import Array, Float
from suffice.tables.listing import Listing

__all__ = ["Inference"]


class Inference(Predictor):
    """Decisions, densities, samples, explanations and plots of a fitted model."""

    # ------------------------------------------------------------------ predictions

    def decide(self, X: Any, *, costs: Costs | None = None, thresholds: Thresholds | None = None) -> Array:
        """Choose the class of each row by the costs of errors, or by thresholds of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        costs : mapping of (true class, predicted class) to float, optional
            Costs of errors: the class with the smallest expected cost is chosen. An error that is not named costs 1,
            and a correct decision costs 0. Expected costs are as good as the probabilities, so set ``calibrate`` first.
        thresholds : mapping of class to float, optional
            Probability from which a class is chosen. If several classes reach their thresholds, the class is chosen
            that exceeds its threshold by the largest factor; if none does, the most probable class without a
            threshold, or the most probable of all if each has one.

        Returns
        -------
        array of shape (n,)
            Labels. A row whose probabilities are NaN (see ``impossible``) gets the class that `predict` chooses.

        See Also
        --------
        predict : Chooses the most probable class.
        predict_proba : Computes the probabilities that the decision uses.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [4.0], [8.0]], ["ham", "ham", "spam", "spam"])
        >>> model.predict([[3.0], [5.0]]), model.decide([[3.0], [5.0]], thresholds={"spam": 0.2})
        (array(['ham', 'spam'], dtype='<U4'), array(['spam', 'spam'], dtype='<U4'))
        >>> model.decide([[3.0], [4.2]], costs={("ham", "spam"): 100})
        array(['ham', 'ham'], dtype='<U4')
        """
        for argument, given, form in (
            ("costs", costs, "(true class, predicted class) to cost"),
            ("thresholds", thresholds, "class to probability"),
        ):
            if given is not None and not isinstance(given, Mapping):
                raise InputError(f"{argument} must be a mapping of {form}; got {given!r:.80}.", argument=argument)
        fitted = self.fitted_
        probabilities = prediction.answer(fitted, self._rows(fitted, X), "predict_proba")
        codes = decisions.decide(probabilities, fitted.classes, costs, thresholds)
        decisions.warn_about_thresholds(fitted, thresholds)
        codes[np.isnan(probabilities).any(axis=1)] = np.argmax(fitted.estimate.prior)  # as in `predict`
        out: Array = fitted.classes.labels[codes]
        return out

    def predict_log_proba(self, X: Any) -> Float:
        """Compute log p(y | x), the logarithm of the posterior.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, K)
            One column for each class, in the order of ``classes_``.

        See Also
        --------
        predict_proba : Computes the probabilities.
        predict_joint_log_proba : Computes log p(x, y).

        Examples
        --------
        The second row is so far from class "a" that its probability underflows to 0; the logarithm does not:

        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.predict_proba([[2.0], [1000.0]]).round(3)
        array([[0.877, 0.123],
               [0.   , 1.   ]])
        >>> model.predict_log_proba([[2.0], [1000.0]]).round(3)
        array([[-1.310000e-01, -2.098000e+00],
               [-4.090269e+03,  0.000000e+00]])
        """
        out: Float = self._answer(X, "predict_log_proba")
        return out

    def predict_joint_log_proba(self, X: Any) -> Float:
        """Compute log p(x, y) = log p(y) + log p(x | y).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, K)
            One column for each class, in the order of ``classes_``.

        See Also
        --------
        predict_log_proba : Computes log p(y | x) = log p(x, y) − log p(x).
        score_samples : Computes log p(x).

        Examples
        --------
        The joint probabilities of all classes sum to p(x):

        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> joint = model.predict_joint_log_proba([[2.0], [12.0]])
        >>> joint.round(2)
        array([[-3.07, -5.04],
               [-5.24, -3.12]])
        >>> np.log(np.exp(joint).sum(axis=1)).round(2), model.score_samples([[2.0], [12.0]]).round(2)
        (array([-2.94, -3.01]), array([-2.94, -3.01]))
        """
        out: Float = self._joint_answer(X, relative=False)
        return out

    def log_likelihood(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the log-likelihood of rows: the sum of log p(x), or of log p(x, y) if labels are given.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,), optional
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, 1 by default.

        Returns
        -------
        float
            The weighted sum over the rows, in nats.

        See Also
        --------
        score_samples : Computes log p(x) of each row.
        predict_joint_log_proba : Computes log p(x, y) of each row and class.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> round(model.log_likelihood([[2.0], [12.0]]), 3)
        -5.944
        >>> round(model.log_likelihood([[2.0], [12.0]], ["a", "b"]), 3)
        -6.189
        """
        fitted = self.fitted_
        return prediction.log_likelihood(fitted, self._rows(fitted, X), y, sample_weight)

    def sample(
        self, n_samples: int = 1, *, label: Any = None, length: int | None = None, random_state: Any = None
    ) -> tuple[Any, Array]:
        """Draw random rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        label : optional
            Class of the rows, which are then drawn from p(x | y = label). By default the class of each row is drawn
            from p(y) first.
        length : int, optional
            Number of words of each text, for models of texts only. By default it is drawn from a Poisson distribution
            with the mean length of the class.
        random_state : int, Generator, RandomState or None, default=None
            Seed or generator. The same seed draws the same rows.

        Returns
        -------
        X : array of shape (n_samples, d), or a frame
            Rows of the form that was fitted, with the names and types of their columns.
        y : array of shape (n_samples,)
            Their labels.

        See Also
        --------
        conditional : Returns p(x | y) of one class as a distribution.
        score_samples : Computes the log-density of rows.

        Examples
        --------
        >>> import pandas as pd
        >>> from suffice import NaiveBayes
        >>> frame = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", "red"]})
        >>> model = NaiveBayes().fit(frame, ["small", "small", "large", "large"])
        >>> rows, labels = model.sample(3, label="large", random_state=0)
        >>> rows.round(1)
           size colour
        0   7.7   blue
        1   7.0    red
        2   9.0    red
        """
        return prediction.sample(self.fitted_, n_samples, label, random_state, length)

    def explain(self, X: Any, label: Any = None, against: Any = None) -> Explanation:
        """Explain predictions: split the log-odds of each row into the parts of the columns and of the prior.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        label, against : optional
            The classes to compare: a positive part is evidence for ``label``, a negative part for ``against``. By
            default the second of two classes is compared with the first; with more than two classes, the most probable
            class of each row is compared with the second most probable.

        Returns
        -------
        Explanation
            The parts of each row, which sum to its log-odds: ``parts`` as an array, and `Explanation.to_frame` with the
            largest parts first, each beside the value of its cell.

        See Also
        --------
        parameters : Lists the parameters that the parts follow from.
        predict_proba : Computes the probabilities that are explained.
        suffice.plotting.ExplanationDisplay : Plots the parts of one row.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.explain([[6.0]])
        row  label  against  column   value       part
          0  b      a        0            6  -0.424134
          0  b      a        (prior)                 0
        """
        return self._explained(X, label, against)

    def _explained(self, X: Any, label: Any, against: Any, **options: bool) -> Explanation:
        fitted = self.fitted_
        fitted.specification.check_density("explain")
        found: Explanation | None = answer_table(fitted, X, "explain", None, label=label, against=against, **options)
        if found is not None:
            return found
        return prediction.explained(fitted, self._rows(fitted, X), label, against, **options)

    def parameters(self, column: Any = None, *, classes: Any = None, wide: bool = False) -> Listing:
        """List the fitted parameters of one column, or of the whole model.

        Parameters
        ----------
        column : optional
            A column, or a tuple with all columns of a block. The result then is a table with one row for each class, or
            one row for each level and one column for each class. By default the result is one long listing of
            everything: p(y), the parameters of each column, and the coefficients θ and θ0 of the log-odds if they are
            linear in the columns.
        classes : sequence, optional
            The classes to list. By default all.
        wide : bool, default=False
            Whether the long listing has one column for each class, instead of one row for each number.

        Returns
        -------
        Listing
            A mapping of names to columns, with `to_frame` for pandas and Polars. A long listing has ``column``,
            ``family``, ``class``, ``parameter``, ``level`` and ``value``. Dependent Gaussian columns have means,
            deviations, and covariances and correlations with the column that ``level`` names. Words of documents have a
            ``share`` or a ``probability``, or a ``weight`` if the event is a complement. Means and cuts of a column of
            times are seconds since 1970 in ``value``, and UTC times in the column ``time``.

        See Also
        --------
        linear_form : Returns the coefficients of the log-odds as arrays.
        mutual_information : Ranks the columns by what they tell about the class.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.parameters(0)
        class  mean  deviation
        a         2          1
        b        12          2
        >>> model.parameters()
        column   family    class  parameter    level  value
        (prior)            a      probability           0.5
        (prior)            b      probability           0.5
        0        gaussian  a      mean                    2
        0        gaussian  b      mean                   12
        0        gaussian  a      deviation               1
        0        gaussian  b      deviation               2
        """
        fitted = self.fitted_
        estimate, schema = fitted.estimate, fitted.layout.schema
        chosen = None if classes is None else _chosen_classes(classes)
        if column is None:
            form = prediction.linear_form_of_columns(fitted)
            calibrated = fitted.specification.calibrates
            return all_parameters(fitted.combined, schema, form, classes=chosen, wide=wide, calibrated=calibrated)
        return parameter_table(estimate, column, schema, chosen)

    def mutual_information(self, n_samples: int = N_SAMPLES, *, random_state: Any = 0) -> Listing:
        """Compute the mutual information of each column and the class under the model, in bits.

        It measures how much the column alone tells about the class: 0 if the column has the same distribution in all
        classes, and at most the entropy of p(y). It is exact for categorical columns. For other columns it is a mean
        over rows that are drawn from the model, evenly spread over each class. All independent columns use the same
        random numbers, so equal columns have equal information.

        Parameters
        ----------
        n_samples : int, default=4000
            Number of rows to draw; a few more are drawn for small classes.
        random_state : int, Generator, RandomState or None, default=0
            Seed or generator.

        Returns
        -------
        Listing
            The most informative column comes first. It has ``column`` (a tuple for a block of dependent columns),
            ``bits``, and ``error``: the standard error of independent draws, usually far above the actual error.

        See Also
        --------
        parameters : Lists the parameters of each column.
        suffice.plotting.ImportanceDisplay : Plots the information of the columns.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice.naive_bayes import GaussianNB
        >>> GaussianNB().fit(*load_iris(return_X_y=True)).mutual_information()
        column      bits       error
             3   1.42317  0.00380086
             2   1.35308  0.00421782
             0  0.716957  0.00502594
             1  0.364731  0.00521076
        """
        information = mutual_information(self.fitted_, row_count(n_samples, "n_samples"), random_state)
        columns = [each.columns[0] if len(each.columns) == 1 else each.columns for each in information]
        bits, errors = [each.bits for each in information], [each.error for each in information]
        return Listing({"column": columns, "bits": bits, "error": errors})

    def plot(self, X: Any = None, y: Any = None, *, kind: str | None = None, ax: Any = None, **options: Any) -> Any:
        """Plot the model with the Display that suits it; needs Matplotlib (``pip install 'suffice[plots]'``).

        The default depends on the columns: densities for one column, regions for two columns of numbers, words for
        texts, directions for a Gaussian discriminant with more columns, and for any other model the densities of its
        four most informative columns.

        Parameters
        ----------
        X, y : array-like, optional
            Rows and their labels, which are drawn with the model. Some kinds of plot need them.
        kind : str, optional
            The kind of plot: "densities", "regions", "explanation", "importance", "calibration", "roc",
            "precision_recall", "confusion", "words", "dependence" or "directions".
        ax : Axes of Matplotlib, or a sequence of them, optional
            Axes to draw on. By default a new figure is made.
        **options
            Other arguments of ``from_estimator`` of the Display; see `suffice.plotting`.

        Returns
        -------
        Display
            The plot. Its attributes hold the numbers that are drawn, and ``figure_`` is the figure.

        See Also
        --------
        report : Writes plots, parameters and scores to one HTML file.
        suffice.plotting.DensityDisplay : Plots the densities of the columns.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from suffice import GaussianDiscriminant
        >>> X, y = load_iris(return_X_y=True)
        >>> model = GaussianDiscriminant().fit(X, y)
        >>> type(model.plot(X, y, ax=Figure().subplots())).__name__
        'DirectionsDisplay'
        >>> round(model.plot(X, y, kind="roc", ax=Figure().subplots()).mean_area, 3)
        0.998
        """
        from suffice.plotting.choice import plot_model

        return plot_model(self, X, y, kind=kind, ax=ax, **options)

    def conditional(self, label: Any) -> Conditional:
        """Return p(x | y = label) as a distribution with the method names of ``scipy.stats``.

        Parameters
        ----------
        label
            The class.

        Returns
        -------
        Conditional
            Distribution with the methods ``logpdf``, ``pdf`` and ``rvs``, and the attributes ``mean`` and ``cov``.

        See Also
        --------
        sample : Draws rows of all classes.
        suffice.model.Conditional : The distribution.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> given_b = model.conditional("b")
        >>> given_b.mean, given_b.cov, given_b.pdf([12.0]).round(4)
        (array([12.]), array([[4.]]), array([0.1995]))
        """
        fitted = self.fitted_
        reader, layout = fitted.reader, fitted.layout
        return fitted.estimate.conditional(
            fitted.classes.position(label),
            layout.n_columns,
            lambda X: reader.rows(X, layout),
            lambda columns: reader.write(columns, layout),
        )

    def linear_form(self) -> LinearForm:
        """Return the log-odds as a linear function of x, with coefficients θ and intercept θ0.

        For two classes, p(y=1 | x) is the logistic function 1/(1 + exp(−theta·x − theta0)). For K classes, p(y | x) is
        the softmax of ``theta @ x + theta0``, which has one row for each class. If the model is calibrated, the
        log-odds are those of the calibrated probabilities; only rows without evidence keep the prior.

        Returns
        -------
        LinearForm
            It has ``theta``, ``theta0`` and ``columns``, and unpacks into ``theta, theta0``.

        Raises
        ------
        NotLinearError
            If the log-odds are not linear in x, as with a covariance for each class.

        See Also
        --------
        explain : Splits the log-odds of a row into parts, for any model.
        suffice.model.LinearForm : The result.

        Examples
        --------
        >>> from suffice import GaussianDiscriminant
        >>> model = GaussianDiscriminant().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> theta, theta0 = model.linear_form()
        >>> theta, float(theta0)
        (array([4.]), -28.0)
        """
        return prediction.linear_form(self.fitted_)

    # ------------------------------------------------------------------ class prior

    def adapt_prior(self, X: Any, *, level: float = 0.05) -> AdaptedPrior:
        """Estimate the class prior of unlabelled rows, and use it in a copy of the model (Saerens et al. 2002).

        If the classes look the same as in training but occur with different probabilities, the posterior of the model
        is wrong by the ratio of the priors. The maximum-likelihood prior of the new rows corrects it.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of the population in which the model will be used. No labels are needed.
        level : float, default=0.05
            Significance level: a shift with a smaller p-value is called significant.

        Returns
        -------
        AdaptedPrior
            ``model`` is the copy with the new prior. ``shares``, ``standard_errors``, ``p_value``, ``significant`` and
            other attributes describe the shift.

        See Also
        --------
        with_prior : Returns a copy of the model with a given prior.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(1)
        >>> y = np.repeat(["ill", "well"], 500)
        >>> model = NaiveBayes().fit(rng.normal(2.0 * (y == "ill")[:, None]), y)
        >>> ill = rng.random(2000) < 0.1
        >>> model.adapt_prior(rng.normal(2.0 * ill[:, None]))
        class  trained     share  standard error
        ill        0.5  0.111616       0.0164567
        well       0.5  0.888384       0.0164567
        The class prior has shifted: χ² = 168.7, p = 1.43e-38
        """
        number = isinstance(level, int | float | np.floating) and not isinstance(level, bool)
        if not (number and 0 < level < 1):
            raise InputError(
                f"level is the probability of a false alarm, between 0 and 1; got {level!r}.", argument="level"
            )
        fitted = self.fitted_
        fitted.specification.check_density("adapt_prior")
        fitting.check_row_count(X, "X")
        shift = updating.prior_shift(fitted, self._rows(fitted, X))
        return AdaptedPrior(
            self.with_fitted(shift.fitted),
            fitted.classes.labels,
            shift.shares.shares,
            shift.shares.standard_errors,
            shift.trained,
            shift.statistic,
            shift.p_value,
            float(level),
            shift.shares.n_iter,
            shift.shares.converged,
            shift.log_likelihood,
        )

    # ------------------------------------------------------------------ fitted attributes

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self.fitted_.layout.n_columns

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns (d,), if the rows had column names that are all strings."""
        names = self.fitted_.layout.feature_names
        if names is None:
            raise AttributeError("The model was fitted to columns without names, so it has no feature_names_in_.")
        return np.array(names, dtype=object)

    @property
    def report_(self) -> FitReport:
        """What the last fit has read from a source, and its held-out scores."""
        report = self.fitted_.report
        if report is None:
            raise AttributeError(
                "The model has no report_: it learned rows in memory, was loaded, or removed rows since its last fit."
            )
        return report

    @property
    def log_likelihoods_(self) -> Float:
        """Log-likelihood after each step of learning from unlabelled rows."""
        return self._trace("log_likelihoods_").log_likelihoods

    @property
    def n_iter_(self) -> int:
        """Number of steps of learning from unlabelled rows."""
        return len(self._trace("n_iter_").log_likelihoods)

    @property
    def converged_(self) -> bool:
        """Whether the steps of learning from unlabelled rows have converged."""
        return self._trace("converged_").converged

    @property
    def stop_reason_(self) -> str:
        """Why learning from unlabelled rows stopped."""
        return self._trace("stop_reason_").reason

    def _trace(self, name: str) -> EMTrace:
        trace = self.fitted_.trace
        if trace is None:
            raise AttributeError(f"The last fit had no unlabelled rows, so there is no {name}.")
        return trace


def _chosen_classes(classes: Any) -> list[Any]:
    """Labels of classes to list; raises `InputError` unless they are a list of at least one."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise InputError(f"classes must be a list of labels; got {classes!r:.80}.", argument="classes")
    chosen = list(classes)
    if not chosen:
        raise InputError("classes is empty; name at least one class.", argument="classes")
    return chosen
