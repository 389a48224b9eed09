"""The public names. Adding one is a decision; losing one breaks somebody's import."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import suffice

PUBLIC = {
    "suffice": [
        "AveragedDependence",
        "ClassError",
        "EmptyColumnWarning",
        "GaussianDiscriminant",
        "GenerativeEnsemble",
        "ImpossibleRowsWarning",
        "InputError",
        "MergeError",
        "ModelFileError",
        "ModelFileMissingError",
        "NaiveBayes",
        "NotLinearError",
        "SingularCovarianceError",
        "SingularCovarianceWarning",
        "SufficeError",
        "SufficeWarning",
        "TextNaiveBayes",
        "WordCounts",
        "__version__",
        "diagnose",
        "fit",
        "load",
        "loads",
        "merge",
    ],
    "suffice.api": ["FitReport", "MODELS", "Scores", "fit", "load", "loads", "merge", "model_named"],
    "suffice.averaged_dependence": ["AveragedDependence"],
    "suffice.cli": ["main"],
    "suffice.comparison": ["Comparison", "LearningCurves", "compare"],
    "suffice.diagnostics": ["Diagnosis", "Finding", "diagnose"],
    "suffice.discriminant_analysis": [
        "GaussianDiscriminant",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ],
    "suffice.ensemble": ["GenerativeEnsemble"],
    "suffice.estimators": ["ESTIMATORS", "GenerativeClassifier", "TunableClassifier"],
    "suffice.exceptions": [
        "Argument",
        "ClassError",
        "ConvergenceWarning",
        "EmptyColumnWarning",
        "ImpossibleRowsWarning",
        "InputError",
        "MergeError",
        "ModelFileError",
        "ModelFileMissingError",
        "NotLinearError",
        "SingularCovarianceError",
        "SingularCovarianceWarning",
        "SufficeError",
        "SufficeWarning",
        "columns_at",
        "counted",
        "did_you_mean",
        "listed",
        "short",
        "similar_name",
        "warn_user",
    ],
    "suffice.families": [
        "AveragedDependence",
        "Bernoulli",
        "Beta",
        "Binned",
        "Categorical",
        "Dirichlet",
        "Exponential",
        "Family",
        "Gamma",
        "GammaRate",
        "Gaussian",
        "Geometric",
        "Histogram",
        "IndependentColumns",
        "JointTable",
        "Linear",
        "LogNormal",
        "Multinomial",
        "MultivariateGaussian",
        "NormalInverseGamma",
        "NormalInverseWishart",
        "Poisson",
        "Text",
        "family_named",
        "family_names",
        "register",
    ],
    "suffice.families.gaussian": ["Gaussian", "GaussianParameters"],
    "suffice.families.histogram": ["Histogram", "HistogramParameters"],
    "suffice.families.multivariate_gaussian": ["MultivariateGaussian", "MultivariateGaussianParameters"],
    "suffice.families.text": ["Text"],
    "suffice.model": ["Block", "Conditional", "Estimate", "LinearForm", "Model", "generator", "row_count"],
    "suffice.model_file": ["model_bytes", "model_of_bytes", "read_model", "storable", "write_model"],
    "suffice.model_selection": ["cross_val_predict", "cross_validate", "leave_one_out"],
    "suffice.monitoring": ["Drift", "Finding", "Monitor", "Window"],
    "suffice.naive_bayes": [
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "GaussianNB",
        "MultinomialNB",
        "NaiveBayes",
        "PoissonNB",
        "TextNaiveBayes",
    ],
    "suffice.plotting": [
        "CalibrationDisplay",
        "ConfusionDisplay",
        "DensityDisplay",
        "DependenceDisplay",
        "DirectionsDisplay",
        "ExplanationDisplay",
        "ImportanceDisplay",
        "LearningCurveDisplay",
        "PrecisionRecallDisplay",
        "RegionsDisplay",
        "RocCurveDisplay",
        "WordsDisplay",
    ],
    "suffice.report": ["Report", "Summary", "compact_html", "report_of", "summarize"],
    "suffice.sources.files": [
        "Batch",
        "CellFormat",
        "RowLocation",
        "RowLocations",
        "Source",
        "is_labelled_source",
        "is_source",
        "open_source",
    ],
    "suffice.sources": ["Source", "open_query", "open_source"],
    "suffice.sources.databases": ["open_query"],
    "suffice.statistics": [
        "BinCounts",
        "ByClass",
        "ByColumn",
        "ByPair",
        "CellSums",
        "ClassAxis",
        "CountVectors",
        "Counts",
        "FourthMoments",
        "JointCounts",
        "Membership",
        "Moments",
        "PairCounts",
        "Pairs",
        "PatternScatter",
        "PooledScatter",
        "RowMoments",
        "Scatter",
        "Statistic",
        "Sums",
        "WordSums",
    ],
    "suffice.tables": ["Coded", "CodedColumn", "Levels", "MatrixTable", "Table", "Vocabulary", "WordRows"],
    "suffice.text": ["WordCounts"],
    "suffice.text.mail": ["Mail", "Mails", "Skipped", "load_mails", "read_mail", "read_mails"],
    "suffice.testing": [
        "FORMS",
        "LAWS",
        "Rows",
        "assert_same",
        "check_classes",
        "check_columns",
        "check_estimation",
        "check_family",
        "check_layout",
        "check_linear_form",
        "check_merge",
        "check_posterior",
        "check_relative",
        "check_rescaling",
        "check_sample",
        "check_scale",
        "check_soft_membership",
        "check_split",
        "check_subtract",
        "check_terms",
        "check_weights",
        "check_zero",
        "example_rows",
    ],
}
EXPORTS = [f"suffice.export.{name}" for name in ("onnx", "scikit_learn", "sql")]  # methods of estimators call them


@pytest.mark.parametrize("module", PUBLIC)
def test_exported_names(module):
    assert sorted(importlib.import_module(module).__all__) == PUBLIC[module]


def test_every_package_with_exports_is_listed():
    packages = [found.name for found in pkgutil.walk_packages(suffice.__path__, "suffice.") if found.ispkg]
    exporting = {name for name in packages if hasattr(importlib.import_module(name), "__all__")}
    assert exporting - set(PUBLIC) == {"suffice.kernels", *EXPORTS}  # for the library alone


def test_every_name_in_all_exists():
    for found in pkgutil.walk_packages(suffice.__path__, "suffice."):
        if found.name.endswith("_core"):
            continue
        module = importlib.import_module(found.name)
        missing = [name for name in getattr(module, "__all__", []) if not hasattr(module, name)]
        assert not missing, f"{found.name} lacks {missing}"


def test_only_public_names_are_listed():
    """As a user sees them after a bare import, in a process that has imported nothing else."""
    code = "import suffice; print(*dir(suffice)); suffice.sources.open_source; suffice.sources.files"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    packages = [name for name in found if name not in suffice.__all__]
    assert set(suffice.__all__) <= set(found)
    assert packages == [name for name in packages if f"suffice.{name}" in PUBLIC or name == "cli"]
    assert {"sources", "naive_bayes", "model_selection"} <= set(packages)
