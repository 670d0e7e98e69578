#!/usr/bin/env python3
"""Measures a demo bundle on photos it was not trained on and checks it against its bars.

    encoders/demo/evaluate.py DATA [--bundle FOLDER] [--json]

Both towers run as TorchScript in float32, as the program runs them. Exit status 1 if a bar
is missed. For development; the program must reach the same numbers by its own code.
"""

import argparse
import gzip
import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from bpe import Bpe
from grocery_names import grocery_photos
from photos import prepare, read_rgb, to_pixels

HERE = Path(__file__).resolve().parent
DRAWS = 20
PER_CLASS = 10
SEED = 1
BARS = {"choice of 4": 0.95, "choice of 21": 0.78, "O2O hit@5": 0.90}
# NEMO name -> file of the crops set, for names whose file is called otherwise
CROPS_FILES = {"cocos": "coconut", "kaki": "persimmon", "mangostan": "mangosteen", "pineapple": "ananas", "pear": "pears"}


class Bundle:
    def __init__(self, folder):
        self.spec = json.loads((folder / "encoder.json").read_text())
        self.image = torch.jit.load(str(folder / "image.pt")).to(torch.float32).eval()
        self.text = torch.jit.load(str(folder / "text.pt")).to(torch.float32).eval()
        with gzip.open(folder / "merges.txt.gz", "rt", encoding="utf-8") as file:
            self.bpe = Bpe(file.read().splitlines()[1:])

    def embed_photos(self, paths, batch=32):
        """(unit embeddings [n, 512], unit mean tokens [n, 1280])."""
        parts = []
        for i in range(0, len(paths), batch):
            levels = np.stack([prepare(read_rgb(path)) for path in paths[i : i + batch]])
            with torch.inference_mode():
                embedding, tokens = self.image(to_pixels(levels))
            parts.append((F.normalize(embedding, dim=1), F.normalize(tokens.mean(1), dim=1)))
        return tuple(torch.cat(column) for column in zip(*parts))

    def embed_names(self, names):
        texts = [self.spec["templates"][0].format(name) for name in names]
        with torch.inference_mode():
            return F.normalize(self.text(torch.tensor(self.bpe.rows(texts))), dim=1)


def choice_accuracy(scores, answers, choices, rng, draws=DRAWS):
    """Mean share right over draws of choices - 1 random wrong names per photo. scores [n, names]."""
    right = []
    for _ in range(draws):
        for row, answer in zip(scores, answers):
            wrong = [i for i in rng.permutation(len(row)) if i != answer][: choices - 1]
            right.append(row[answer] > row[wrong].max())
    return float(np.mean(right))


def table_b_accuracy(bundle, embeddings, names):
    """Choice against the three distractors of NEMO's Table B."""
    rows = (HERE.parents[1] / "demo" / "table_b.csv").read_text().splitlines()[1:]
    distractors = {row.split(",")[0]: row.split(",")[1:4] for row in rows}
    right = []
    for embedding, name in zip(embeddings, names):
        scores = bundle.embed_names([name, *distractors[name]]) @ embedding
        right.append(bool(scores[0] > scores[1:].max()))
    return float(np.mean(right))


def match_hits(tokens, names, k=5):
    """(hit@k, mean share of right neighbours) for originals against all other originals."""
    similar = tokens @ tokens.T
    similar.fill_diagonal_(-2)
    near = similar.topk(k, dim=1).indices
    labels = np.array(names)
    same = labels[near.numpy()] == labels[:, None]
    return float(same.any(1).mean()), float(same.mean())


def measure_choices(bundle, embeddings, names, label, rng):
    known = sorted(set(names))
    scores = (embeddings @ bundle.embed_names(known).T).numpy()
    answers = [known.index(name) for name in names]
    return {
        f"{label} photos": len(names),
        f"{label} choice of 4": choice_accuracy(scores, answers, 4, rng),
        f"{label} choice of {len(known)}": float(np.mean(scores.argmax(1) == answers)),
    }


def measure(bundle, data):
    rng = np.random.default_rng(SEED)
    photos = grocery_photos(data / "grocerystore", "test")
    names = [name for _, name in photos]
    embeddings, tokens = bundle.embed_photos([data / "grocerystore" / path for path, _ in photos])
    results = measure_choices(bundle, embeddings, names, "grocery test", rng)
    results["grocery test, Table B distractors"] = table_b_accuracy(bundle, embeddings, names)

    by_name = {name: [i for i, other in enumerate(names) if other == name] for name in sorted(set(names))}
    hits = []
    for _ in range(DRAWS):
        pick = [i for rows in by_name.values() for i in rng.permutation(rows)[:PER_CLASS]]
        hits.append(match_hits(tokens[pick], [names[i] for i in pick]))
    results["grocery test O2O hit@5"], results["grocery test O2O share"] = (float(v) for v in np.mean(hits, 0))

    nemo = [line.split(",")[0] for line in (HERE.parents[1] / "demo" / "table_a.csv").read_text().splitlines()[1:]]
    folder = data / "crops_parser" / "images"
    files = {name: folder / f"{CROPS_FILES.get(name, name)}.jpg" for name in nemo}
    found = {name: path for name, path in files.items() if path.exists()}
    embeddings, _ = bundle.embed_photos(list(found.values()))
    results |= measure_choices(bundle, embeddings, list(found), "crops", rng)
    scores = (embeddings @ bundle.embed_names(nemo).T).numpy()
    results["crops choice of 45"] = float(np.mean([nemo[i] == n for i, n in zip(scores.argmax(1), found)]))
    fresh = [i for i, name in enumerate(found) if name not in by_name]
    results |= measure_choices(bundle, embeddings[fresh], [list(found)[i] for i in fresh], "crops, no train photo,", rng)

    lines = (data / "animals_wikimedia" / "LICENCES.tsv").read_text(encoding="utf-8").splitlines()[1:]
    animals = [line.split("\t")[:2] for line in lines]
    embeddings, _ = bundle.embed_photos([data / "animals_wikimedia" / file for file, _ in animals])
    return results | measure_choices(bundle, embeddings, [name for _, name in animals], "animals", rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--bundle", type=Path, default=HERE / "bundle")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = measure(Bundle(options.bundle), options.data)
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        for name, value in results.items():
            print(f"{name:45} {value if isinstance(value, int) else format(value, '.4f')}")
    missed = [f"{bar} {results[f'grocery test {bar}']:.4f} < {low}" for bar, low in BARS.items() if results[f"grocery test {bar}"] < low]
    for line in missed:
        print(f"bar missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
