"""Image files of the kinds that users bring, made from photos: what a decoder has to get
right before any resize. Every file is written once and read by both sides.

KINDS lists (name, photos of 200, writer). The writers change the container, the mode and
the metadata; about a quarter of the photos stay the published files, byte for byte.
"""

import random
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps


def png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_png16(path: Path, levels: np.ndarray) -> None:
    """16-bit PNG, grey [h, w] or RGB [h, w, 3]; Pillow itself writes no 16-bit RGB."""
    height, width = levels.shape[:2]
    rows = np.zeros((height, 1 + levels[0].size * 2), np.uint8)  # filter 0 in front of each
    rows[:, 1:] = levels.reshape(height, -1).astype(">u2").view(np.uint8)
    head = struct.pack(">IIBBBBB", width, height, 16, 0 if levels.ndim == 2 else 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head)
                     + png_chunk(b"IDAT", zlib.compress(rows.tobytes(), 1)) + png_chunk(b"IEND", b""))


def deep(image: Image.Image, rng: random.Random) -> np.ndarray:
    """16-bit levels: the photo's in the upper byte, noise below."""
    levels = np.asarray(image).astype(np.uint16) << 8
    noise = np.random.default_rng(rng.randrange(2**31)).integers(0, 256, levels.shape, dtype=np.uint16)
    return levels | noise


def exif(orientation: int) -> bytes:
    values = Image.Exif()
    values[0x0112] = orientation
    return values.tobytes()


def with_alpha(image: Image.Image) -> Image.Image:
    """Alpha from the photo's own brightness, so that compositing would show."""
    image = image.copy()
    image.putalpha(ImageOps.invert(image.convert("L")))
    return image


def strip(image: Image.Image, rng: random.Random) -> Image.Image:
    """One row or one column of the photo."""
    if rng.random() < 0.5:
        row = rng.randrange(image.height)
        return image.crop((0, row, image.width, row + 1))
    column = rng.randrange(image.width)
    return image.crop((column, 0, column + 1, image.height))


def huge(image: Image.Image) -> Image.Image:
    return image.resize((6007, max(1, round(image.height * 6007 / image.width))), Image.Resampling.BICUBIC)


KINDS = [
    ("JPEG 4:2:0", 22, ".jpg", lambda im, p, r: im.save(p, quality=r.randrange(60, 96), subsampling=2)),
    ("JPEG 4:4:4", 8, ".jpg", lambda im, p, r: im.save(p, quality=95, subsampling=0)),
    ("progressive JPEG", 12, ".jpg", lambda im, p, r: im.save(p, quality=85, progressive=True)),
    ("greyscale JPEG", 12, ".jpg", lambda im, p, r: im.convert("L").save(p, quality=90)),
    ("CMYK JPEG", 12, ".jpg", lambda im, p, r: im.convert("CMYK").save(p, quality=92)),
    ("EXIF-rotated JPEG", 12, ".jpg", lambda im, p, r: im.save(p, quality=90, exif=exif(r.randrange(2, 9)))),
    ("EXIF-rotated PNG", 4, ".png", lambda im, p, r: im.save(p, exif=exif(r.randrange(2, 9)))),
    ("RGB PNG", 6, ".png", lambda im, p, r: im.save(p)),
    ("palette PNG", 12, ".png", lambda im, p, r: im.quantize(r.choice([16, 256])).save(p)),
    ("palette PNG with transparency", 4, ".png", lambda im, p, r: im.quantize(64).save(p, transparency=3)),
    ("RGBA PNG", 12, ".png", lambda im, p, r: with_alpha(im).save(p)),
    ("grey PNG with alpha", 4, ".png", lambda im, p, r: with_alpha(im).convert("LA").save(p)),
    ("1-bit PNG", 4, ".png", lambda im, p, r: im.convert("1").save(p)),
    ("16-bit RGB PNG", 4, ".png", lambda im, p, r: write_png16(p, deep(im, r))),
    ("16-bit grey PNG", 8, ".png", lambda im, p, r: write_png16(p, deep(im.convert("L"), r))),
    ("lossy WebP", 4, ".webp", lambda im, p, r: im.save(p, quality=85)),
    ("lossless WebP", 4, ".webp", lambda im, p, r: im.save(p, lossless=True)),
    ("BMP", 2, ".bmp", lambda im, p, r: im.save(p)),
    ("TIFF", 4, ".tif", lambda im, p, r: im.save(p, compression=r.choice([None, "tiff_lzw", "tiff_adobe_deflate"]))),
    ("1 x N or N x 1", 6, ".png", lambda im, p, r: strip(im, r).save(p)),
    ("over 20 megapixels", 2, ".jpg", lambda im, p, r: huge(im).save(p, quality=85)),
]


def find_photos(folders) -> list[Path]:
    return sorted(path for folder in folders for path in Path(folder).rglob("*")
                  if path.suffix.lower() in {".jpg", ".jpeg", ".png"})


def write_photo_files(folders, count: int, seed: int, target: Path):
    """Yields (kind, path): `count` files below `target`, some of them the photos as they
    are. Sides are odd and even; scale and crop vary."""
    rng = random.Random(seed)
    photos = find_photos(folders)
    if len(photos) < count:
        sys.exit(f"expected {count} photos in the folders, got {len(photos)}")
    plan = [kind for kind in KINDS for _ in range(kind[1])]
    rng.shuffle(plan)
    plan = (plan + [None] * count)[:count]
    for index, (path, kind) in enumerate(zip(rng.sample(photos, count), plan)):
        if kind is None:
            yield "photo as published", path
            continue
        image = Image.open(path).convert("RGB")
        scale = rng.choice([0.3, 0.7, 1.0, 1.0, 1.0, 1.6])
        if scale != 1.0:
            image = image.resize((round(image.width * scale), round(image.height * scale)))
        image = image.crop((rng.randrange(9), rng.randrange(9), image.width - rng.randrange(9),
                            image.height - rng.randrange(9)))
        out = target / f"{index:03}{kind[2]}"
        kind[3](image, out, rng)
        yield kind[0], out


def pillow_rgb(path: Path) -> Image.Image:
    """As openai/CLIP and open_clip read a file: open and convert, orientation ignored.
    16-bit grey is scaled (v >> 8), where convert("RGB") would clip at 255 and turn it white
    (python-pillow issue 2574). Alpha is dropped, also as a note that Pillow keeps beside the
    pixels: transformers 5 would composite such pictures over white."""
    image = Image.open(path)
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)).convert("RGB")
    image = image.convert("RGB")
    image.info = {}
    return image
