"""scikit-learn's estimator checks on every public estimator; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB


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
    ]
)
def test_estimator_check(estimator, check):
    check(estimator)
