"""The demo encoder's preprocessing, made with Pillow."""

import math

import numpy as np
import torch
from PIL import Image, ImageEnhance

RESIZE_TO, SIDE = 256, 224
MEAN, STD = 127 / 255, 128 / 255


def read_rgb(path):
    with Image.open(path) as image:
        return image.convert("RGB")


def resize_shortest(image, to=RESIZE_TO):
    width, height = image.size
    short, long = min(width, height), max(width, height)
    far = int(to * long / short)
    return image.resize((to, far) if width <= height else (far, to), Image.Resampling.BICUBIC)


def centre_crop(image, side=SIDE):
    left = round((image.width - side) / 2)  # Python rounds halves to even, as torchvision does
    top = round((image.height - side) / 2)
    return image.crop((left, top, left + side, top + side))


def prepare(image):
    """RGB image -> uint8 levels [224, 224, 3]: the exact pixels the bundle is fed."""
    return np.array(centre_crop(resize_shortest(image)), dtype=np.uint8)


def to_pixels(levels):
    """uint8 [n, 224, 224, 3] -> normalised float32 [n, 3, 224, 224]."""
    scaled = torch.from_numpy(np.ascontiguousarray(levels)).permute(0, 3, 1, 2).float() / 255
    return (scaled - MEAN) / STD


def augment(image, rng):
    """A random view: crop of 35-100% of the area, flip, small turn, brightness, contrast, colour."""
    if rng.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    image = image.rotate(rng.uniform(-15, 15), Image.Resampling.BILINEAR, fillcolor=(127, 127, 127))
    for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        image = enhance(image).enhance(rng.uniform(0.7, 1.3))
    area = rng.uniform(0.35, 1.0) * image.width * image.height
    ratio = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
    width = min(image.width, round(math.sqrt(area * ratio)))
    height = min(image.height, round(math.sqrt(area / ratio)))
    left = int(rng.integers(image.width - width + 1))
    top = int(rng.integers(image.height - height + 1))
    box = (left, top, left + width, top + height)
    return np.array(image.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box), dtype=np.uint8)
