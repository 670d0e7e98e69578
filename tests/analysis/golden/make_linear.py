#!/usr/bin/env python3
"""Writes linear.json: scikit-learn's logistic regression, and DINOv2's kNN vote in numpy, on
embeddings of demo photos (their first 24 values; a few categories).

    probe embed demo -o demo.h5 --no-text && probe export demo.h5 -o npy
    make_linear.py npy > linear.json          (numpy 2.4, scikit-learn 1.9)
"""

import csv
import json
import pathlib
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

folder = pathlib.Path(sys.argv[1])
vectors = np.load(folder / "image_embedding.npy").astype(np.float32)
with open(folder / "items.csv", newline="", encoding="utf-8") as file:
    items = list(csv.DictReader(file))


def pick(names, each):
    rows, classes = [], []
    for place, name in enumerate(names):
        own = [i for i, item in enumerate(items)
               if item["category"] == name and item["condition"] == "original"][:each]
        assert len(own) >= 4, name
        rows += own
        classes += [place] * len(own)
    x = vectors[rows][:, :24].astype(np.float64)
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32).round(5)
    return x, np.array(classes)


def fit(x, y, c):
    model = LogisticRegression(C=c, solver="lbfgs", tol=1e-10, max_iter=100000)
    model.fit(x.astype(np.float64), y)
    return model


def knn(train, classes, test, k, temperature, count):
    unit = lambda v: v / np.linalg.norm(v, axis=1, keepdims=True)
    cosines = unit(test.astype(np.float64)) @ unit(train.astype(np.float64)).T
    votes = []
    for row in cosines:
        nearest = np.argsort(-row, kind="stable")[:k]
        weights = np.exp(row[nearest] / temperature)
        weights /= weights.sum()
        votes.append([float(weights[classes[nearest] == c].sum()) for c in range(count)])
    return votes


cases = []
for names, c in ((["apple", "banana", "kiwi", "tomato"], 1.0),
                 (["apple", "banana", "kiwi", "tomato"], 100.0), (["apple", "tomato"], 10.0)):
    x, y = pick(names, 10)
    train, test = np.arange(len(x)) % 2 == 0, np.arange(len(x)) % 2 == 1
    model = fit(x[train], y[train], c)
    cases.append({
        "names": names, "c": c,
        "train": x[train].astype(float).round(5).tolist(), "train_classes": y[train].tolist(),
        "test": x[test].astype(float).round(5).tolist(), "test_classes": y[test].tolist(),
        "weights": model.coef_.tolist(), "intercepts": model.intercept_.tolist(),
        "predicted": model.predict(x[test].astype(np.float64)).tolist(),
        "probabilities": model.predict_proba(x[test].astype(np.float64)).tolist(),
        "votes": knn(x[train], y[train], x[test], 7, 0.07, len(names)),
    })
json.dump({"made_by": "make_linear.py", "k": 7, "temperature": 0.07, "cases": cases}, sys.stdout)
