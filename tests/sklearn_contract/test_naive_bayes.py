import pytest

from sklearn_contract.swap import swapped

pytestmark = pytest.mark.filterwarnings("ignore:alpha too small")  # scikit-learn's tests cause it

globals().update(
    swapped(
        "test_naive_bayes",
        "naive_bayes",
        ours=["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"],
        also=[],
        private=["test_gnb_check_update_with_no_data"],  # calls _update_mean_variance
    )
)
