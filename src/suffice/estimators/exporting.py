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
        """Write the model as one SELECT statement that scores each row of a table.

        The result has the columns of the table, and after them ``predicted_label``, ``probability_…`` of each class,
        which are those of `predict_proba`, and ``log_joint_…`` of each class, which is log p(x, y) without calibration,
        up to a term that all classes of a row share: compare it between classes, but not between rows. The rows come
        in any order, so ``keep`` a key.

        NULL is a missing cell, and NaN too where the engine has it. Levels that the model has not seen count as they
        do in the model. A query raises no errors for cells of the expected type: where the model would refuse a row,
        for example because of an infinite number or a count of 2.5, all results of the row are NULL. Decimals of
        PostgreSQL beyond the range of doubles are infinite or 0. If all classes exclude a row, ``log_joint_…`` is −∞,
        and label and probabilities depend on ``impossible``. Texts are compared by their characters, whatever the
        collation of their column. On DuckDB, PostgreSQL and Spark, models of texts find the words that `predict_proba`
        finds.

        Parameters
        ----------
        table : str
            The name of a table or view as it is written in SQL: ``"orders"``, ``"sales.orders"`` or
            ``'"Orders 2024"'``. Create a view of a subquery.
        dialect : {"duckdb", "postgres", "sqlite", "spark"}, default="duckdb"
        keep : sequence of str, optional
            The columns of the table that the result keeps; by default all, and on SQLite also a first column
            ``row_number``.
        columns : mapping or sequence of str, optional
            Names of the columns in the table, if they differ from those of the rows that were fitted: new names by
            old ones, or a name for each column in their order, as a model that was fitted to an array needs them. On
            DuckDB, SQLite and Spark, they must differ in more than case.
        prefix : str, default=""
            What the names of computed columns begin with. A name that a column of the model or of ``keep`` has, too,
            gets a number. Other columns of the table are not known: if it has a column ``predicted_label``, set
            ``prefix`` or ``keep``, because a query on the result would read the old column, or fail.
        complete : bool, default=False
            Whether the columns of a multivariate Gaussian have no missing cells. The statement is then shorter and
            faster. In a row with a missing cell all results are NULL.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If the model has no formulas; if it reads texts, and the dialect is "sqlite" or accents are removed
            (``strip_accents``); if a name, a label or the number of columns is not possible in the dialect; if it would
            read two columns of the model from one column of the table; or if SQLGlot, which writes the statement, is
            not installed.

        See Also
        --------
        to_onnx : The model as a graph.
        to_json : The formulas for a program of your own.

        Examples
        --------
        >>> import sqlite3
        >>> import pandas as pd
        >>> from suffice import NaiveBayes
        >>> orders = pd.DataFrame({"amount": [20.0, 35.0, None, 80.0], "country": ["de", "fr", "de", "us"]})
        >>> model = NaiveBayes().fit(orders, ["kept", "kept", "returned", "returned"])
        >>> database = sqlite3.connect(":memory:")
        >>> _ = database.execute("CREATE TABLE orders (number INTEGER, amount REAL, country TEXT)")
        >>> _ = database.execute("INSERT INTO orders VALUES (1, 25, 'fr'), (2, 90, 'at'), (3, NULL, 'us')")
        >>> query = model.to_sql("orders", "sqlite", keep=["number"])
        >>> for row in database.execute(f"SELECT number, predicted_label, probability_kept FROM ({query})"):
        ...     print(row[0], row[1], round(row[2], 3))
        1 kept 0.884
        2 returned 0.017
        3 returned 0.333
        """
        from suffice.export.sql import to_sql

        return to_sql(self.fitted_, table, dialect, keep=keep, columns=columns, prefix=prefix, complete=complete)

    def to_onnx(self, precision: Literal["double", "float"] = "double", *, missing: str = "") -> Any:
        """Write the model as a graph of ONNX, which computes the label and the probabilities of each row.

        The graph has three outputs: ``label`` (n,), ``probabilities`` (n, K) and ``log_probabilities`` (n, K), with the
        classes in the order of ``classes_``. A table has one input of shape (n, 1) for each column that the model
        reads, with the name of the column. An array of numbers, or of texts, has one input ``X`` of shape (n, d). A
        column of documents has an input with the words of each document (n, W), filled with empty strings. Each input
        has a description, and the metadata of the graph say how words are found in a text.

        Parameters
        ----------
        precision : {"double", "float"}, default="double"
            Type of the numbers that are passed to the graph, and of the probabilities. All computations are in double
            precision. With ``float``, columns whose numbers float32 would round too much remain double, such as points
            in time, columns with a mean that is large relative to their standard deviation, and columns with values
            or differences below about 1e-37 or above about 1e37.
        missing : str, default=""
            Text that is a missing cell in columns of texts. In columns of numbers it is NaN. A missing document is one
            with this text as its only word. With "" it has no words, as an empty document, which makes a difference
            only for ``event="bernoulli"``.

        Returns
        -------
        onnx.ModelProto
            For ONNX Runtime 1.20 or newer (opset 18, IR version 8). ``onnx.save`` writes it to a file. Equal
            models give the same bytes.

        Raises
        ------
        InputError
            With the reason, if there is no graph: words are hashed to slots or read by a function of the user, a family
            of the user has no formula, a singular covariance of many columns has rows with missing cells, names,
            labels or levels cannot be told apart as texts, or the graph would have more than 2 GB. Also if the package
            onnx is not installed.

        See Also
        --------
        to_sql : Writes a query, which scores the rows of a table in a database.
        to_json : Writes the formulas, for a program of your own.
        predict_proba : Computes the same probabilities.

        Notes
        -----
        The probabilities are equal to those of `predict_proba` up to about 1e-14, or 1e-5 with ``float``. For rows that
        the model refuses, such as those with infinite numbers, they are NaN, and the label is an empty text, the
        smallest int64, or NaN. With ``float``, a number may be rounded across a limit between two bins.

        Examples
        --------
        >>> import numpy as np
        >>> from onnx.reference import ReferenceEvaluator
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0, 7.0], [2.0, 6.0], [5.0, 1.0], [6.0, 3.0]], ["a", "a", "b", "b"])
        >>> graph = ReferenceEvaluator(model.to_onnx())
        >>> rows = np.array([[1.5, np.nan], [4.0, 2.0]])
        >>> label, probabilities, log_probabilities = graph.run(None, {"X": rows})
        >>> label.tolist()
        ['a', 'b']
        >>> bool(np.allclose(probabilities, model.predict_proba(rows), rtol=0, atol=1e-12))
        True
        """
        from suffice.export.onnx import to_onnx

        return to_onnx(self.fitted_, precision, missing=missing)

    def to_sklearn(self) -> Any:
        """Return an equal fitted model of scikit-learn, if there is one.

        The model has scikit-learn's class, parameters and fitted attributes, and needs only scikit-learn. Its
        probabilities differ from those of this model by rounding errors. As all models of scikit-learn, it refuses
        missing cells and levels that it has not seen. Fitting it again uses scikit-learn's own estimation and defaults,
        so the probabilities change.

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
