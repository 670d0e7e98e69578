"""Preprocessing as BUNDLE.md states it, made with Pillow, and the golden picture.

`fit` is checked against the reference library's own processor in every export, so the
rule written to encoder.json is known to be the one the model was given.
"""

import hashlib

import numpy as np
from PIL import Image, ImageDraw

FILTERS = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}


def preprocess(size, rule, to, interpolation, crop, rounding, mean, std, fill=None) -> dict:
    """The preprocessing part of encoder.json's `image`."""
    fields = {
        "size": int(size),
        "resize": {"rule": rule, "to": int(to), "interpolation": interpolation},
        "crop": {"rule": crop, "rounding": rounding},
        "mean": [float(x) for x in mean],
        "std": [float(x) for x in std],
    }
    if fill is not None:
        fields["fill"] = [int(x) for x in fill]
    return fields


def squash(size, mean, std, interpolation="bicubic") -> dict:
    return preprocess(size, "squash", size, interpolation, "none", "floor", mean, std)


def _crop_start(side: int, size: int, rounding: str) -> int:
    return round((side - size) / 2) if rounding == "half_even" else (side - size) // 2


def fit(image: Image.Image, fields: dict) -> np.ndarray:
    """uint8 [s, s, 3] after resize and crop, before normalisation."""
    size, resize, crop = fields["size"], fields["resize"], fields["crop"]
    to, kernel = resize["to"], FILTERS[resize["interpolation"]]
    width, height = image.size
    if resize["rule"] == "squash":
        image = image.resize((to, to), kernel)
    elif resize["rule"] == "shortest":
        short, long = min(width, height), max(width, height)
        long = to * long // short
        image = image.resize((to, long) if width <= height else (long, to), kernel)
    else:  # pad
        scale = to / max(width, height)
        image = image.resize((round(width * scale), round(height * scale)), kernel)
        sheet = Image.new("RGB", (to, to), tuple(fields["fill"]))
        sheet.paste(image, ((to - image.width) // 2, (to - image.height) // 2))
        image = sheet
    if crop["rule"] == "center":
        left = _crop_start(image.width, size, crop["rounding"])
        top = _crop_start(image.height, size, crop["rounding"])
        image = image.crop((left, top, left + size, top + size))
    return np.asarray(image, dtype=np.uint8)


def normalize(pixels: np.ndarray, fields: dict) -> np.ndarray:
    """float32 [3, s, s]."""
    mean = np.asarray(fields["mean"], dtype=np.float32)
    std = np.asarray(fields["std"], dtype=np.float32)
    return ((pixels.astype(np.float32) / np.float32(255) - mean) / std).transpose(2, 0, 1).copy()


def pixels_sha256(pixels: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(pixels, dtype=np.uint8).tobytes()).hexdigest()


def golden_sides(to: int, size: int) -> tuple[int, int]:
    """Width and height for which the roundings that implementations confuse all differ:
    long side floored or rounded, crop start floored, rounded to even or rounded up."""
    for height in range(60, 100):
        for width in range(height + 20, 2 * height):
            exact = to * width / height
            excess = int(exact) - size
            if 0.55 < exact % 1 < 0.95 and excess > 4 and excess % 4 == 3:
                return width, height
    return 96, 64


def golden_picture(to: int, size: int) -> Image.Image:
    """A small picture with edges, gradients and text-like detail in every part."""
    width, height = golden_sides(to, size)
    x = np.linspace(0, 1, width, dtype=np.float64)[None, :]
    y = np.linspace(0, 1, height, dtype=np.float64)[:, None]
    planes = [
        40 + 200 * x + 0 * y,
        30 + 180 * y * (1 - x),
        128 + 100 * np.sin(9 * x + 4 * y),
    ]
    pixels = np.stack(planes, -1).clip(0, 255).astype(np.uint8)
    image = Image.fromarray(pixels, "RGB")
    draw = ImageDraw.Draw(image)
    draw.ellipse((width * 0.55, height * 0.15, width * 0.9, height * 0.75), fill=(220, 40, 30))
    draw.rectangle((width * 0.05, height * 0.55, width * 0.3, height * 0.9), fill=(20, 90, 200))
    draw.polygon([(width * 0.2, height * 0.1), (width * 0.4, height * 0.45), (width * 0.05, height * 0.4)],
                 fill=(250, 230, 60))
    for step in range(0, width, 7):
        draw.line((step, height - 6, step + 3, height - 1), fill=(0, 0, 0))
    return image
