from sklearn_contract.swap import swapped

globals().update(
    swapped(
        "test_discriminant_analysis",
        "discriminant_analysis",
        ours=["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
        also=["_cov"],
        private=["test_covariance"],  # calls _cov
    )
)
