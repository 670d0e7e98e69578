"""Mean-pooled trunk features of photos, computed once and kept in a work folder."""

from pathlib import Path

import numpy as np
import torch

from parts import load_trunk
from grocery_names import grocery_photos
from photos import augment, prepare, read_rgb, to_pixels

AUGMENTED_VIEWS = 6
SEED = 20240607


def mean_tokens(trunk, views):
    with torch.inference_mode():
        return trunk(to_pixels(np.stack(views))).mean(1).numpy()


def photo_features(trunk, root, photos, views=0, batch=32):
    """Features [photos, 1 + views, 1280]; view 0 is the plain photo, the rest are augmented.

    Each photo draws its views from a generator of its own, so the order of work is no matter.
    """
    todo = []
    for i, (path, _) in enumerate(photos):
        image = read_rgb(Path(root) / path)
        todo.append(prepare(image))
        todo.extend(augment(image, np.random.default_rng([SEED, i, view])) for view in range(views))
        if len(todo) >= batch or i + 1 == len(photos):
            yield mean_tokens(trunk, todo)
            todo = []


def grocery_features(root, split, work, views=0, extra=False):
    """(features [photos, 1 + views, 1280] float32, names), from the work folder if already there."""
    photos = grocery_photos(root, split, extra)
    file = Path(work) / f"{split}-{views}.npy"
    if not file.exists():
        trunk, _, _ = load_trunk()
        done = np.concatenate(list(photo_features(trunk, root, photos, views)))
        Path(work).mkdir(parents=True, exist_ok=True)
        np.save(file, done.reshape(len(photos), 1 + views, -1))
    features = np.load(file)
    if len(features) != len(photos):
        raise ValueError(f"{file}: expected {len(photos)} photos, got {len(features)}; delete it")
    return torch.from_numpy(features), [name for _, name in photos]
