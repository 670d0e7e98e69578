#!/usr/bin/env python3
"""Trains the demo encoder and writes its bundle. See README.md.

    encoders/demo/train.py DATA [--work FOLDER] [--output FOLDER] [--threads 2]

DATA holds grocerystore, clip_text_embeddings_detic and tokenizers/openai_clip. Photo features
and the text tower are kept in the work folder, so that a second run skips them.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import torch

from bpe import read_merges
from export_bundle import TEMPLATE, build_image_tower, export_bundle, round_weights
from features import AUGMENTED_VIEWS, grocery_features
from image_head import train_head
from parts import load_trunk
from photos import read_rgb
from text_targets import load_concepts
from text_tower import load_or_train_tower, tower_vectors

HERE = Path(__file__).resolve().parent
GOLDEN_PHOTO = "test/Fruit/Passion-Fruit/Passion-Fruit_001.jpg"


def log(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "probe-demo-encoder")
    parser.add_argument("--output", type=Path, default=HERE / "bundle")
    parser.add_argument("--threads", type=int, default=1, help="the result may differ in the last digits with it")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    began = time.monotonic()

    grocery = options.data / "grocerystore"
    concepts = load_concepts(options.data / "clip_text_embeddings_detic")
    merges = read_merges(options.data / "tokenizers" / "openai_clip" / "bpe_simple_vocab_16e6.txt.gz")
    log(f"{len(concepts.index)} names of {len(concepts.vectors)} concepts")
    features, names = grocery_features(grocery, "train", options.work, AUGMENTED_VIEWS, extra=True)
    log(f"{len(names)} train photos, {features.shape[1]} views each, {time.monotonic() - began:.0f} s")
    text_tower, kept = load_or_train_tower(concepts, merges, options.work, log)
    round_weights(text_tower)
    vectors = tower_vectors(text_tower, concepts, merges, TEMPLATE, sorted(set(names)))
    head = train_head(concepts, vectors, features, names, log)
    trunk, _, _ = load_trunk()
    image_tower = build_image_tower(trunk, head)
    photo = read_rgb(grocery / GOLDEN_PHOTO)
    size = export_bundle(options.output, options.data, image_tower, text_tower, kept, merges, photo)
    log(f"{options.output}: {size:,} bytes, {len(kept)} kept pieces, {time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
