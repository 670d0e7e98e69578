"""Writes tests/encoders/golden/pixels.json: what Pillow makes of made-up pictures.

    python make_pixels.py > ../encoders/golden/pixels.json     (Pillow 13)

A picture is given by its size and a formula that preprocess_test.cc has too. Kept are the
SHA-256 of the fitted pixels and the first 12 bytes.
"""

import hashlib
import json

import numpy as np
import PIL
from compare_pixels import RULES, reference
from PIL import Image

SIZES = [(1, 1), (1000, 1), (1, 1000), (2, 700), (297, 224), (299, 224), (301, 224), (224, 224),
         (500, 375), (640, 427), (333, 500), (427, 640), (384, 1200), (1500, 31), (57, 43)]


def noise(width, height):
    """Byte i of the picture is the top byte of the i-th number of a linear generator."""
    count = 3 * width * height
    i = np.arange(1, count + 1, dtype=np.uint64)
    mixed = i * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(56)).astype(np.uint8).reshape(height, width, 3)


def columns(width, height):
    row = (np.arange(width) % 256).astype(np.uint8)
    return np.broadcast_to(row[None, :, None], (height, width, 3)).copy()


def main():
    cases = []
    for formula in (noise, columns):
        for width, height in SIZES if formula is noise else SIZES[1:7]:
            image = Image.fromarray(formula(width, height))
            for rule in RULES:
                fitted = reference(image, *rule).tobytes()
                cases.append({
                    "formula": formula.__name__, "width": width, "height": height,
                    "rule": rule[0], "to": rule[1], "size": rule[2], "interpolation": rule[3],
                    "crop": rule[4], "rounding": rule[5],
                    "sha256": hashlib.sha256(fitted).hexdigest(), "start": list(fitted[:12]),
                })
    lines = ",\n".join(json.dumps(case) for case in cases)
    print(f'{{"made_by": "make_pixels.py, Pillow {PIL.__version__}", "cases": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
