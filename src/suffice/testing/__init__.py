"""Tests of the laws that every family must obey.

    >>> from suffice.families import Gaussian
    >>> from suffice.testing import check_family
    >>> check_family(Gaussian())

A law is a function ``law(family, rows, rng)`` of a family, some `Rows` and a random generator, which raises
`AssertionError` if the family breaks the law. The example of each law has a mistake that it finds.
`check_family` tests all laws on the example rows of the family; your tests may use other rows.

==============================  =====================================================================
law                             meaning
==============================  =====================================================================
`check_zero`                    merging with the statistic of no rows changes nothing
`check_merge`                   merge is commutative and associative
`check_subtract`                subtract undoes merge, and removes rows from one pass over all of them
`check_scale`                   scale(a) scale(b) = scale(ab); scale(0) is zero; scale(2) = merge with itself
`check_split`                   any split of the rows, in any order, with empty pieces, equals one pass
`check_classes`                 shards with different classes merge into one model
`check_columns`                 columns can be reordered, and independent columns selected
`check_weights`                 a row of weight k counts k times; weight 0, not at all
`check_soft_membership`         one-hot class weights are labels; class weights add like row weights
`check_layout`                  memory order, strides, read-only arrays and float32 change nothing
`check_posterior`               posteriors are probabilities, also far from all data
`check_rescaling`               rescaling a column changes no posterior (scale-free families)
`check_relative`                the relative log-likelihood and the kernel give the posterior of the log-likelihood
`check_terms`                   the terms of the columns sum to the log-likelihood
`check_linear_form`             the linear form, if there is one, gives the log-odds
`check_estimation`              mle is map with a flat prior; with many rows the three estimates agree
`check_sample`                  a model fitted to its own samples predicts them as well as the original
==============================  =====================================================================
"""

from suffice.testing.laws import (
    LAWS,
    assert_same,
    check_classes,
    check_columns,
    check_estimation,
    check_family,
    check_layout,
    check_linear_form,
    check_merge,
    check_posterior,
    check_relative,
    check_rescaling,
    check_sample,
    check_scale,
    check_soft_membership,
    check_split,
    check_subtract,
    check_terms,
    check_weights,
    check_zero,
)
from suffice.testing.rows import FORMS, Rows, example_rows

__all__ = [
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
]
