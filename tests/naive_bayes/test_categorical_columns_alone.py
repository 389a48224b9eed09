"""Each column of `CategoricalNB` keeps its own least number of categories where columns are scored one by one."""

import numpy as np

from suffice.model.parts import leave_one_out_parts
from suffice.naive_bayes import CategoricalNB
from suffice.statistics import Membership
from suffice.tables import MatrixTable


def test_columns_alone_have_their_least_number_of_categories():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 3)).astype(float), np.arange(40) % 2
    least = [3, 9, 5]
    fitted = CategoricalNB(min_categories=least).fit(X, y).fitted_
    family = fitted.specification.smoothed_family(1.0, 3)
    assert family.of_columns([2, 0]).least == (5, 3)
    block = fitted.model.blocks[0]
    model = fitted.model.with_blocks([type(block)(family, block.columns, block.names)])
    members = Membership(model.classes, codes=y.astype(np.int64))
    parts = list(leave_one_out_parts(model, MatrixTable(X), members))
    for j, part in enumerate(parts):
        rest = np.arange(40) != 7
        alone = CategoricalNB(min_categories=least[j]).fit(X[rest][:, [j]], y[rest])
        np.testing.assert_allclose(
            part[7], alone.fitted_.estimate.log_likelihood(MatrixTable(X[7:8, [j]]))[0], rtol=1e-12
        )
