"""The formulas of R's and river's classifiers in NumPy, to which the cheat sheet compares Suffice.

They were read from the sources of MASS, e1071, naivebayes, klaR and river; ``test_cheat_sheet.py`` checks them against
numbers that MASS, e1071, naivebayes and river computed. Rows are arrays; labels are codes 0, …, K − 1.
"""

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.special import softmax
from scipy.stats import norm, poisson


def class_shares(y):
    return np.bincount(y) / len(y)


def class_means(X, y):
    return np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])


def class_covariances(X, y, ddof=1):
    return np.array([np.cov(X[y == k].T, ddof=ddof) for k in range(y.max() + 1)])


def pooled_covariance(X, y, *, mle=False):
    centred = X - class_means(X, y)[y]
    return centred.T @ centred / (len(y) if mle else len(y) - (y.max() + 1))


def gaussian_posterior(X, means, covariances, prior):
    densities = []
    for mean, covariance in zip(means, covariances, strict=True):
        scale = np.sqrt(np.diag(covariance))
        factor = np.linalg.cholesky(covariance / np.outer(scale, scale))
        white = solve_triangular(factor, ((X - mean) / scale).T, lower=True)
        densities.append(-0.5 * (white**2).sum(axis=0) - np.log(np.diag(factor)).sum() - np.log(scale).sum())
    return softmax(np.log(prior) + np.transpose(densities), axis=1)


# ---------------------------------------------------------------------- MASS and klaR::rda


def lda(X, y, *, mle=False, prior=None):
    """Posteriors of ``lda(x, y, method, prior)``; the prior has no effect on the covariance."""
    prior, means = class_shares(y) if prior is None else prior, class_means(X, y)
    return gaussian_posterior(X, means, [pooled_covariance(X, y, mle=mle)] * len(means), prior)


def qda(X, y, *, mle=False):
    """Posteriors of ``qda(x, y, method)``."""
    return gaussian_posterior(X, class_means(X, y), class_covariances(X, y, 0 if mle else 1), class_shares(y))


def rda(X, y, gamma, lamda):
    """Posteriors of ``klaR::rda(x, y, gamma, lambda)``."""
    covariances = (1 - lamda) * class_covariances(X, y) + lamda * pooled_covariance(X, y)
    size = X.shape[1]
    covariances = [(1 - gamma) * each + gamma * np.trace(each) / size * np.eye(size) for each in covariances]
    return gaussian_posterior(X, class_means(X, y), covariances, class_shares(y))


def directions(X, y, *, mle=False):
    """``fit$scaling`` and ``fit$svd^2 / sum(fit$svd^2)``, with arbitrary signs."""
    away = class_means(X, y) - X.mean(axis=0)
    between = (class_shares(y)[:, None] * away).T @ away
    values, vectors = eigh(between, pooled_covariance(X, y, mle=mle))
    rank = min(y.max(), X.shape[1])
    return vectors[:, ::-1][:, :rank], values[::-1][:rank] / values[::-1][:rank].sum()


def leave_one_out_lda(X, y):
    """Posteriors of ``lda(x, y, CV = TRUE)``: downdated distances, and the priors of all rows."""
    n, K = len(y), y.max() + 1
    counts, means = np.bincount(y), class_means(X, y)
    inverse = np.linalg.inv(pooled_covariance(X, y))
    centred, away = X - means[y], X[:, None, :] - means
    distance = np.einsum("ikp,pq,ikq->ik", away, inverse, away)
    own = distance[np.arange(n), y]
    cross = np.einsum("ikp,pq,iq->ik", away, inverse, centred)
    c = counts[y] / ((counts[y] - 1) * (n - K))
    left_out = (n - 1 - K) / (n - K) * (distance + (c / (1 - c * own))[:, None] * cross**2)
    left_out[np.arange(n), y] = own * (n - 1 - K) / (n - K) * (counts[y] / (counts[y] - 1)) ** 2 / (1 - c * own)
    return softmax(np.log(counts / n) - left_out / 2, axis=1)


# ---------------------------------------------------------------------- naive Bayes in R


def level_shares(x, y, laplace, levels):
    """p(level | y) (K, L) as in ``naiveBayes`` and ``naive_bayes``."""
    counts = np.array([[np.sum((y == k) & (x == level)) for level in levels] for k in range(y.max() + 1)], dtype=float)
    return (counts + laplace) / (counts.sum(axis=1, keepdims=True) + laplace * len(levels))


def numeric_terms(x, y, new):
    """log p(x | y) of one numeric column (n, K): missing cells are ignored, and variances have the divisor n_k − 1."""
    parts = [x[(y == k) & ~np.isnan(x)] for k in range(y.max() + 1)]
    terms = np.transpose([norm(each.mean(), each.std(ddof=1)).logpdf(new) for each in parts])
    return np.where(np.isnan(terms), 0, terms)


def poisson_terms(x, y, new):
    """log p(x | y) of one column of counts (n, K), with ``laplace = 0``."""
    parts = [x[(y == k) & ~np.isnan(x)] for k in range(y.max() + 1)]
    terms = np.transpose([poisson(each.mean()).logpmf(np.nan_to_num(new)) for each in parts])
    return np.where(np.isnan(new)[:, None], 0, terms)


def level_terms(x, y, new, laplace, levels):
    """log p(x | y) of one factor (n, K); a value that is not a level is a missing cell."""
    shares = np.log(level_shares(x, y, laplace, levels))
    known = {level: shares[:, at] for at, level in enumerate(levels)}
    return np.array([known.get(value, np.zeros(len(shares))) for value in new])


def naive_bayes(terms, y):
    """Posteriors from the terms of all columns."""
    return softmax(np.log(class_shares(y)) + sum(terms), axis=1)


def gaussian_naive_bayes(X, y):
    return naive_bayes([numeric_terms(x, y, x) for x in X.T], y)


def poisson_naive_bayes(N, y):
    return naive_bayes([poisson_terms(x, y, x) for x in N.T.astype(float)], y)


def bernoulli_naive_bayes(B, y, laplace):
    return naive_bayes([level_terms(x, y, x, laplace, [0, 1]) for x in B.T], y)


def multinomial_naive_bayes(N, y, laplace):
    totals = np.array([N[y == k].sum(axis=0) for k in range(y.max() + 1)]) + laplace
    return softmax(np.log(class_shares(y)) + N @ np.log(totals / totals.sum(axis=1, keepdims=True)).T, axis=1)


# ---------------------------------------------------------------------- river

RIVER_ADDS = 1e-9  # to a density, or to the probability of a yes/no value


def river_gaussian(X, y, new, ddof):
    """Posteriors of river's GaussianNB: the divisor is n since version 0.26, and n − 1 before."""
    deviations = [X[y == k].std(axis=0, ddof=ddof) for k in range(y.max() + 1)]
    pairs = zip(class_means(X, y), deviations, strict=True)
    joint = np.transpose([np.log(RIVER_ADDS + norm(m, s).pdf(new)).sum(axis=1) for m, s in pairs])
    return softmax(np.log(class_shares(y)) + joint, axis=1)


def river_bernoulli(B, y, new):
    """Posteriors of river's BernoulliNB(alpha=1)."""
    yes = np.array([(B[y == k].sum(axis=0) + 1) / (np.sum(y == k) + 2) for k in range(y.max() + 1)])
    joint = new @ np.log(RIVER_ADDS + yes).T + (1 - new) @ np.log(RIVER_ADDS + 1 - yes).T
    return softmax(np.log(class_shares(y)) + joint, axis=1)


def river_multinomial(N, y, new):
    """Posteriors of river's MultinomialNB(alpha=1)."""
    totals = np.array([N[y == k].sum(axis=0) for k in range(y.max() + 1)]) + 1
    return softmax(np.log(class_shares(y)) + new @ np.log(totals / totals.sum(axis=1, keepdims=True)).T, axis=1)
