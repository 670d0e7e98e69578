"""The rule of BUNDLE.md, made with Pillow, against the libraries' own processors."""

import numpy as np
import pytest
from PIL import Image

from probe_export.picture import fit, golden_picture, golden_sides, preprocess, squash

MEAN = (0.5, 0.5, 0.5)


def noise(width, height):
    levels = np.random.default_rng(width * 1000 + height).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(levels, "RGB")


@pytest.mark.parametrize("width, height", [(500, 375), (640, 427), (333, 500), (57, 56), (59, 56), (56, 61), (56, 56),
                                           (200, 57), (31, 90)])
@pytest.mark.parametrize("kernel, number", [("bicubic", 3), ("bilinear", 2)])
def test_shortest_and_crop_as_hugging_face(width, height, kernel, number):
    from transformers import CLIPImageProcessorPil

    processor = CLIPImageProcessorPil(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56},
                                      resample=number)
    image = noise(width, height)
    wanted = processor(image, do_rescale=False, do_normalize=False, return_tensors="np")["pixel_values"][0]
    fields = preprocess(56, "shortest", 56, kernel, "center", "floor", MEAN, MEAN)
    assert np.array_equal(fit(image, fields), wanted.transpose(1, 2, 0))


def test_squash_as_siglip():
    from transformers import SiglipImageProcessorPil

    processor = SiglipImageProcessorPil(size={"height": 52, "width": 52})
    image = noise(100, 37)
    wanted = processor(image, do_rescale=False, do_normalize=False, return_tensors="np")["pixel_values"][0]
    assert np.array_equal(fit(image, squash(52, MEAN, MEAN)), wanted.transpose(1, 2, 0))


@pytest.mark.parametrize("to, size", [(224, 224), (336, 336), (384, 384), (448, 448), (256, 224), (56, 56), (64, 56)])
def test_golden_picture_tells_the_roundings_apart(to, size):
    """Floored against rounded long side, floored against half-to-even crop start."""
    width, height = golden_sides(to, size)
    exact = to * width / height
    assert int(exact) != round(exact)
    excess = int(exact) - size
    assert round(excess / 2) != excess // 2
    image = golden_picture(to, size)
    floor = preprocess(size, "shortest", to, "bicubic", "center", "floor", MEAN, MEAN)
    even = preprocess(size, "shortest", to, "bicubic", "center", "half_even", MEAN, MEAN)
    assert not np.array_equal(fit(image, floor), fit(image, even))
    assert not np.array_equal(fit(image, floor), fit(image, squash(size, MEAN, MEAN)))
