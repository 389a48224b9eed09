from sklearn_contract.swap import swapped

globals().update(
    {
        name: test
        for name, test in swapped(
            "test_naive_bayes",
            "naive_bayes",
            ours=["GaussianNB"],
            also=["BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB"],
            private=["test_gnb_check_update_with_no_data"],  # calls _update_mean_variance
        ).items()
        if "gnb" in name
        or name in ("test_predict_joint_proba", "test_categorical_input_tag", "test_check_accuracy_on_digits")
    }
)
