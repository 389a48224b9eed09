"""The laws that every family keeps, as functions that raise `AssertionError` where one is broken.

    >>> from suffice.families import Gaussian
    >>> from suffice.testing import check_family
    >>> check_family(Gaussian())

A law is a function of a family and some `Rows`. `check_family` tries all of them on rows that the family
itself calls examples; a test of your own may bring others.

==============================  =====================================================================
law                             says
==============================  =====================================================================
`check_zero`                    the statistic of no rows is neutral in merge
`check_merge`                   merge is commutative and associative
`check_subtract`                subtract undoes merge, and takes rows out of one pass over all of them
`check_scale`                   scale(a) scale(b) = scale(ab); scale(0) is zero; scale(2) = merge with itself
`check_split`                   any split of the rows, in any order, with empty pieces, equals one pass
`check_classes`                 shards that saw other classes unite
`check_columns`                 columns in another order, or some of them where they are independent
`check_weights`                 weight k is the row k times; weight 0 is its absence
`check_soft_membership`         one-hot class weights are labels; class weights add like row weights
`check_layout`                  memory order, strides, read-only arrays and float32 change nothing
`check_posterior`               posteriors are probabilities, also far from all data
`check_rescaling`               rescaling a column moves no posterior (families that are scale-free)
`check_relative`                the relative log-likelihood, and an answer at once, give the posterior of the full one
`check_terms`                   the terms of independent columns sum to the log-likelihood
`check_linear_form`             where there is one, it gives the log-odds
`check_estimation`              mle is map with a flat prior; with many rows the three estimates meet
`check_sample`                  a model fitted to rows it drew predicts them as well as itself
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
