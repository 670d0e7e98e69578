#!/usr/bin/env python3
"""Writes scores.json: AUROC with DeLong's interval, risk and coverage, expected calibration
error, each by its definition with plain loops.

    make_scores.py > scores.json              (numpy 2.4, scikit-learn 1.9)
"""

import json
import sys

import numpy as np
from sklearn.metrics import roc_auc_score


def delong(positives, negatives):
    """DeLong et al. 1988 by the O(mn) kernel."""
    psi = lambda x, y: 1.0 if x > y else 0.5 if x == y else 0.0
    table = np.array([[psi(x, y) for y in negatives] for x in positives])
    v10, v01 = table.mean(1), table.mean(0)
    variance = v10.var(ddof=1) / len(positives) + v01.var(ddof=1) / len(negatives)
    return table.mean(), 1.959963984540054 * np.sqrt(variance)


def ece(probabilities, correct, bins=15):
    """Guo et al. 2017: bins are (low, high]."""
    total, largest = 0.0, 0.0
    for i in range(bins):
        inside = [(p, c) for p, c in zip(probabilities, correct)
                  if (p > i / bins or i == 0) and p <= (i + 1) / bins]
        if inside:
            gap = abs(np.mean([c for _, c in inside]) - np.mean([p for p, _ in inside]))
            total += gap * len(inside) / len(probabilities)
            largest = max(largest, gap)
    return total, largest


def aurc(confidence, correct):
    """Mean over i of the risk among the i surest; no ties in this data."""
    order = np.argsort(-np.array(confidence), kind="stable")
    wrong = 1 - np.array(correct)[order]
    return (np.cumsum(wrong) / np.arange(1, len(wrong) + 1)).mean()


rng = np.random.default_rng(5)
positives = rng.normal(0.3, 0.1, 25).round(2).tolist()  # two decimals: there are ties
negatives = rng.normal(0.22, 0.12, 18).round(2).tolist()
area, half = delong(positives, negatives)
assert abs(area - roc_auc_score([1] * 25 + [0] * 18, positives + negatives)) < 1e-12
probabilities = rng.beta(4, 2, 120).round(4).tolist()
correct = [int(rng.random() < 0.8 * p) for p in probabilities]
error, largest = ece(probabilities, correct)
confidence = rng.permutation(60).astype(float).tolist()
answered = [int(rng.random() < (c + 20) / 80) for c in confidence]
json.dump({
    "made_by": "make_scores.py",
    "positives": positives, "negatives": negatives, "auroc": area, "half_width": half,
    "probabilities": probabilities, "correct": correct, "ece": error, "largest": largest,
    "confidence": confidence, "answered": answered, "aurc": aurc(confidence, answered),
}, sys.stdout)
