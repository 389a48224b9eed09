"""`Exporting`: a fitted model for other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from suffice.estimators.inference import Inference

__all__ = ["Exporting"]


class Exporting(Inference):
    """Conversions of a fitted model: SQL, ONNX, scikit-learn and JSON."""

    def to_sql(
        self,
        table: str,
        dialect: str = "duckdb",
        *,
        keep: Sequence[str] | None = None,
        columns: Mapping[Any, str] | Sequence[str] | None = None,
        prefix: str = "",
        complete: bool = False,
    ) -> str:
        """Write the model as one SELECT statement that scores each row of a table."""
        from suffice.export.sql import to_sql

        return to_sql(self.fitted_, table, dialect, keep=keep, columns=columns, prefix=prefix, complete=complete)

    def to_onnx(self, precision: Literal["double", "float"] = "double", *, missing: str = "") -> Any:
        """Write the model as a graph of ONNX, which computes the label and the probabilities of each row."""
        from suffice.export.onnx import to_onnx

        return to_onnx(self.fitted_, precision, missing=missing)

    def to_sklearn(self) -> Any:
        """Return an equal fitted model of scikit-learn, if there is one.

        The model has scikit-learn's class, parameters and fitted attributes, and needs only scikit-learn. Its
        probabilities differ from those of this model by rounding errors. As all models of scikit-learn, it refuses
        missing cells and levels that it has not seen.

        ===========================================  ==========================================================
        this model                                   becomes
        ===========================================  ==========================================================
        a class with the name of scikit-learn's      the class with this name
        `GaussianDiscriminant`                       ``LinearDiscriminantAnalysis`` if the classes share the
                                                     covariance, else ``QuadraticDiscriminantAnalysis``;
                                                     ``GaussianNB`` if it is diagonal
        `NaiveBayes` with one family                 ``GaussianNB``, ``BernoulliNB``, ``MultinomialNB``, or
                                                     ``CategoricalNB`` after an ``OrdinalEncoder``
        `TextNaiveBayes`                             a pipeline of ``CountVectorizer``, for ``idf`` a
                                                     ``TfidfTransformer``, and ``MultinomialNB``,
                                                     ``BernoulliNB`` or ``ComplementNB``
        ===========================================  ==========================================================

        Returns
        -------
        estimator or Pipeline of scikit-learn

        Raises
        ------
        InputError
            With the reason, if scikit-learn has no class that predicts as this model: for columns of several families,
            families that scikit-learn lacks, ensembles, calibrated probabilities, and ``estimation="bayes"``, except
            for yes/no values and levels. `to_onnx` and `to_sql` write models of all these kinds.

        See Also
        --------
        to_onnx : Writes a graph, which every model but those of hashed words has.
        to_sql : Writes a query, which scores the rows of a table in a database.
        save : Saves the model itself, which can learn more rows.

        Examples
        --------
        >>> from suffice import GaussianDiscriminant
        >>> X, y = [[1.0, 2.0], [2.0, 1.0], [6.0, 5.0], [5.0, 7.0]], ["a", "a", "b", "b"]
        >>> exported = GaussianDiscriminant().fit(X, y).to_sklearn()
        >>> exported
        LinearDiscriminantAnalysis()
        >>> exported.means_.tolist(), exported.predict([[5.0, 5.0]]).tolist()
        ([[1.5, 1.5], [5.5, 6.0]], ['b'])
        """
        from suffice.export.scikit_learn import to_sklearn

        return to_sklearn(self)

    def to_json(self) -> str:
        """Write the formulas by which any program can compute the probabilities, as JSON.

        The page "Models for other programs" describes the format. Numbers are exact to the last bit, and infinite ones
        are the texts "Infinity" and "-Infinity". Fitted models that are equal give the same text.

        Returns
        -------
        str
            One JSON object in ASCII.

        Raises
        ------
        InputError
            With the reason, if the model has no formulas: its words are hashed to slots or read by a function of the
            user, or a family of the user has none.

        See Also
        --------
        to_onnx : Writes a graph that ONNX Runtime evaluates, without a program of your own.
        to_sql : Writes a query, which scores the rows of a table in a database.
        parameters : Lists the parameters for people.

        Examples
        --------
        >>> import json
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes("bernoulli").fit([[0], [1], [1], [1]], ["no", "no", "yes", "yes"])
        >>> rule = json.loads(model.to_json())
        >>> rule["classes"], rule["prior"]
        (['no', 'yes'], [0.5, 0.5])
        >>> sorted(rule["blocks"][0]["forms"][0])
        ['above', 'form', 'no', 'yes']
        """
        from suffice.export.json_rule import json_rule

        return json_rule(self.fitted_)
