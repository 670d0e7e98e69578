#!/usr/bin/env python3
"""Writes similarity.json: CKA, mutual kNN, RSA and PCA by their definitions, with n x n
matrices and explicit centring, in numpy and scipy.

    make_similarity.py > similarity.json      (numpy 2.4, scipy 1.17)
"""

import json
import sys

import numpy as np
from scipy.stats import spearmanr


def hsic_unbiased(k, l):
    """HSIC_1 of Song et al. 2012, equation 5."""
    n = len(k)
    k, l = k - np.diag(np.diag(k)), l - np.diag(np.diag(l))
    one = np.ones(n)
    return (np.trace(k @ l) + one @ k @ one * (one @ l @ one) / ((n - 1) * (n - 2))
            - 2 / (n - 2) * (one @ k @ l @ one)) / (n * (n - 3))


def cka(x, y):
    n = len(x)
    h = np.eye(n) - np.ones((n, n)) / n
    k, l = x @ x.T, y @ y.T
    hsic = lambda a, b: np.trace(a @ h @ b @ h)
    biased = hsic(k, l) / np.sqrt(hsic(k, k) * hsic(l, l))
    debiased = hsic_unbiased(k, l) / np.sqrt(hsic_unbiased(k, k) * hsic_unbiased(l, l))
    return biased, debiased


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def neighbors(x, k):
    cosines = unit(x) @ unit(x).T
    np.fill_diagonal(cosines, -np.inf)
    return np.argsort(-cosines, axis=1, kind="stable")[:, :k]


def rsa(x, y):
    upper = np.triu_indices(len(x), 1)
    return spearmanr((1 - unit(x) @ unit(x).T)[upper], (1 - unit(y) @ unit(y).T)[upper]).statistic


def pca(x):
    x = x - x.mean(0)
    _, s, vt = np.linalg.svd(x, full_matrices=False)
    axes = vt[:2]
    signs = np.sign(axes[np.arange(2), np.abs(axes).argmax(1)])
    return x @ axes.T * signs, (s**2 / (s**2).sum())[:2]


def case(name, seed, n, da, db, k):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 4))
    a = shared @ rng.normal(size=(4, da)) + 0.7 * rng.normal(size=(n, da)) + 2.0
    b = np.tanh(shared @ rng.normal(size=(4, db))) + 0.5 * rng.normal(size=(n, db)) - 1.0
    a, b = a.astype(np.float32).round(3), b.astype(np.float32).round(3)
    x, y = a.astype(np.float64), b.astype(np.float64)
    biased, debiased = cka(x, y)
    na, nb = neighbors(x, k), neighbors(y, k)
    points, explained = pca(x)
    return {
        "name": name, "k": k,
        "a": a.astype(float).round(3).tolist(), "b": b.astype(float).round(3).tolist(),
        "cka": biased, "cka_debiased": debiased,
        "neighbors_a": na.tolist(), "neighbors_b": nb.tolist(),
        "overlaps": [len(set(p) & set(q)) / k for p, q in zip(na, nb)],
        "rsa": rsa(x, y),
        "points": points.tolist(), "explained": explained.tolist(),
    }


cases = [case("many items", 1, 40, 6, 9, 5), case("many dimensions", 2, 9, 30, 41, 3)]
json.dump({"made_by": "make_similarity.py", "cases": cases}, sys.stdout)
