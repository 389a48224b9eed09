"""scikit-learn's estimator checks on every public estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB

WHY = "the weights of the members are fitted to held-out rows, and a row that is repeated is held out once"
HELD_OUT = {f"check_sample_weight_equivalence_on_{kind}_data": WHY for kind in ("dense", "sparse")}


# Some checks fit fewer rows than columns; a warning is then the right answer.
@pytest.mark.filterwarnings("ignore::suffice.exceptions.SingularCovarianceWarning")
@pytest.mark.filterwarnings("ignore:The cuts of:suffice.exceptions.SufficeWarning")
@parametrize_with_checks(
    [
        AveragedDependence(),
        GaussianDiscriminant(),
        GaussianDiscriminant("own", shrinkage="oas"),
        GenerativeEnsemble(),
        NaiveBayes(),
        NaiveBayes(estimation="bayes"),
        GaussianNB(),
        BernoulliNB(),
        CategoricalNB(),
        ComplementNB(),
        MultinomialNB(),
        PoissonNB(),
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
    ],
    expected_failed_checks=lambda estimator: HELD_OUT if isinstance(estimator, GenerativeEnsemble) else {},
)
def test_estimator_check(estimator, check):
    check(estimator)
