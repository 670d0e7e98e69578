"""Writes what transformers makes of made-up pictures under LLaVA-NeXT's and InternVL's tiles.

    python make_tiles.py [--check]            (transformers 5.24, torch 2.13, Pillow 13)

With --check (scripts/parity_tiles.sh) nothing is written: everything is made afresh and
compared with the files that are there.

tests/encoders/golden/tiles.json: the SHA-256 of every tile's pixels, and which patches the
model keeps, for sizes up to extreme aspect ratios; pictures by the formula of
make_pixels.py. Pixels of anyres come from LlavaNextImageProcessorPil, those of dynamic from
GotOcr2ImageProcessorPil.crop_image_to_patches (which InternVL's port uses), with InternVL's
own rule for the grid restated here and compared on many sizes. Kept patches come from
LlavaNextModel.pack_image_features, fed with the patches' numbers.

tests/data/tiles/: a few small pictures as PNG, and means.json: the mean tokens of the tiny
bundles' towers on them, as LlavaNextModel and InternVLModel arrange the tokens.
"""

import hashlib
import json
import sys
import types
from pathlib import Path

import numpy as np
import PIL
import torch
import transformers
from PIL import Image
from transformers.image_utils import SizeDict
from transformers.models.got_ocr2 import image_processing_pil_got_ocr2 as got_ocr2
from transformers.models.internvl.modeling_internvl import InternVLModel
from transformers.models.llava_next.image_processing_pil_llava_next import (
    LlavaNextImageProcessorPil,
)
from transformers.models.llava_next.modeling_llava_next import (
    LlavaNextModel,
    get_anyres_image_grid_shape,
)

from make_pixels import noise

TESTS = Path(__file__).resolve().parent.parent
BUNDLES = TESTS / "data" / "bundles"
CHECK = sys.argv[1:] == ["--check"]

# Width, height.
SIZES = [(1, 1), (1, 1000), (1000, 1), (3, 2000), (2000, 3), (56, 56), (57, 56), (56, 57),
         (112, 56), (100, 100), (224, 224), (640, 480), (480, 640), (333, 500), (500, 167),
         (167, 500), (168, 56), (700, 199), (97, 1031), (113, 112), (225, 224), (112, 336)]
PINPOINTS = [(1, 2), (2, 1), (2, 2), (3, 1), (1, 3)]  # LLaVA-NeXT's, in tiles
OTHERS = [(1, 1), (4, 3), (1, 6), (5, 1)]
GRIDS = [(4, 1), (9, 1), (12, 1), (12, 2), (6, 6), (40, 1)]  # most and fewest tiles


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def scaled(pinpoints, size):
    return [[size * rows, size * columns] for rows, columns in pinpoints]


def anyres_tiles(image, pinpoints, size):
    """uint8 [1 + tiles, size, size, 3]: the whole image first."""
    processor = LlavaNextImageProcessorPil(
        size={"shortest_edge": size}, crop_size={"height": size, "width": size},
        image_grid_pinpoints=pinpoints, do_rescale=False, do_normalize=False)
    values = processor(Image.fromarray(image), return_tensors="np")["pixel_values"][0]
    return np.moveaxis(values, 1, -1).astype(np.uint8)


def packed(features, width, height, pinpoints, size, grid):
    """The rows [tokens, w] that LLaVA-NeXT keeps of [1 + tiles, grid * grid, w]."""
    vision = types.SimpleNamespace(image_size=size, patch_size=size // grid)
    config = types.SimpleNamespace(vision_config=vision, image_grid_pinpoints=pinpoints)
    model = types.SimpleNamespace(config=config)
    packed_rows, _ = LlavaNextModel.pack_image_features(
        model, [features], torch.tensor([[height, width]]), "default")
    return packed_rows[0]


def anyres_case(width, height, tiles, size, grid):
    pinpoints = scaled(tiles, size)
    pictures = anyres_tiles(noise(width, height), pinpoints, size)
    numbers = torch.arange(len(pictures) * grid * grid).reshape(len(pictures), grid * grid, 1)
    kept = packed(numbers, width, height, pinpoints, size, grid)[:, 0].sort().values
    rows, columns = get_anyres_image_grid_shape((height, width), pinpoints, size)
    return {"scheme": "anyres", "width": width, "height": height, "size": size, "grid": grid,
            "pinpoints": pinpoints, "rows": rows, "columns": columns,
            "pixels": [sha256(picture) for picture in pictures], "kept": len(kept),
            "kept_sha256": sha256(kept.numpy().astype("<i4"))}


def internvl_grid(width, height, size, fewest, most):
    """InternVL's rule as its dynamic_preprocess words it: (columns, rows)."""
    grids = {(i, j) for n in range(fewest, most + 1) for i in range(1, n + 1)
             for j in range(1, n + 1) if fewest <= i * j <= most}
    best, least = (1, 1), float("inf")
    for columns, rows in sorted(grids, key=lambda grid: grid[0] * grid[1]):
        difference = abs(width / height - columns / rows)
        if difference < least:
            least, best = difference, (columns, rows)
        elif difference == least and width * height > 0.5 * size * size * columns * rows:
            best = (columns, rows)
    return best


def dynamic_tiles(image, size, fewest, most):
    processor = got_ocr2.GotOcr2ImageProcessorPil()
    tiles = processor.crop_image_to_patches(
        np.moveaxis(image, -1, 0), fewest, most, patch_size=SizeDict(height=size, width=size),
        resample=Image.Resampling.BICUBIC)
    return np.stack([np.moveaxis(tile, 0, -1) for tile in tiles])


def dynamic_case(width, height, size, fewest, most):
    columns, rows = got_ocr2.get_optimal_tiled_canvas(
        (height, width), (size, size), fewest, most)
    pictures = dynamic_tiles(noise(width, height), size, fewest, most)
    return {"scheme": "dynamic", "width": width, "height": height, "size": size,
            "min_tiles": fewest, "max_tiles": most, "rows": rows, "columns": columns,
            "pixels": [sha256(picture) for picture in pictures]}


def check_grids():
    """transformers' port chooses as InternVL's own rule does, at its default of 1 to 12."""
    random = np.random.default_rng(0)
    for _ in range(20000):
        width, height = (int(side) for side in random.integers(1, 3000, 2))
        ours = internvl_grid(width, height, 448, 1, 12)
        theirs = got_ocr2.get_optimal_tiled_canvas((height, width), (448, 448), 1, 12)
        assert ours == theirs, (width, height, ours, theirs)


def tower(name):
    """The tokens [n, t, w] of the layer that `match` pools, for uint8 pictures."""
    spec = json.loads((BUNDLES / name / "encoder.json").read_text())
    module = torch.jit.load(BUNDLES / name / "image.pt").float()
    layers = [layer["name"] for layer in spec["image"]["layers"]]
    at = layers.index(spec["image"]["match_layer"])
    mean, std = (torch.tensor(spec["image"][key])[:, None, None] for key in ("mean", "std"))

    def run(pictures):
        pixels = torch.from_numpy(np.moveaxis(pictures, -1, 1).copy()).float() / 255
        with torch.inference_mode():
            tokens = module((pixels - mean) / std)[1 + at]
        return tokens[:, spec["image"]["layers"][at]["prefix_tokens"]:]

    return run


def smooth(width, height, seed):
    """A coloured picture with structure at all scales, so that tiles differ."""
    random = np.random.default_rng(seed)
    total = np.zeros((height, width, 3))
    for cells in (2, 5, 13):
        small = random.integers(0, 256, (cells, cells, 3)).astype(np.uint8)
        total += np.asarray(Image.fromarray(small).resize((width, height), Image.BICUBIC)) / 3
    return total.astype(np.uint8)


def means():
    llava, internvit = tower("llava-next"), tower("internvit")
    size, grid = 56, 4
    cases = []
    for seed, (width, height) in enumerate([(150, 70), (64, 200), (230, 40), (90, 90), (1, 120)]):
        name = f"{width}x{height}.png"
        image = smooth(width, height, seed)
        path = TESTS / "data" / "tiles" / name
        if not CHECK:
            Image.fromarray(image).save(path)
        assert np.array_equal(np.asarray(Image.open(path)), image), path
        pinpoints = scaled(PINPOINTS, size)
        shown = anyres_tiles(image, pinpoints, size)
        anyres = packed(llava(shown), width, height, pinpoints, size, grid)
        tiles = internvit(dynamic_tiles(image, size, 1, 12))
        square = tiles.reshape(len(tiles), grid, grid, -1)
        shuffled = InternVLModel.pixel_shuffle(None, square, 0.5).flatten(0, 2)
        cases.append({
            "file": name, "anyres_tokens": len(anyres), "dynamic_tiles": len(tiles),
            "anyres": anyres.mean(0).tolist(), "dynamic": tiles.flatten(0, 1).mean(0).tolist(),
            "dynamic_shuffled": shuffled.mean(0).tolist()})
    return cases


def same(ours, theirs):
    if isinstance(ours, list) and ours and isinstance(ours[0], float):
        ours, theirs = np.array(ours), np.array(theirs)
        return np.linalg.norm(ours - theirs) <= 1e-5 * np.linalg.norm(ours)
    return ours == theirs


def keep(path, cases):
    """Writes the cases, or compares them with those that are there."""
    if CHECK:
        old = json.loads(path.read_text())["cases"]
        assert len(old) == len(cases), path
        for one, other in zip(old, cases):
            assert one.keys() == other.keys(), path
            for key, value in one.items():
                assert same(value, other[key]), (path, one, key)
        print(f"{path.name}: {len(cases)} cases as made afresh")
        return
    made_by = (f"make_tiles.py, transformers {transformers.__version__}, "
               f"torch {torch.__version__}, Pillow {PIL.__version__}")
    lines = ",\n".join(json.dumps(case) for case in cases)
    path.write_text(f'{{"made_by": "{made_by}", "cases": [\n{lines}\n]}}\n')


def main():
    torch.set_num_threads(1)
    check_grids()
    cases = [anyres_case(*size, PINPOINTS, 56, 4) for size in SIZES]
    cases += [anyres_case(*size, PINPOINTS, 336, 24) for size in [(1024, 1024), (1000, 333)]]
    cases += [anyres_case(*size, PINPOINTS, 384, 27) for size in [(1023, 517), (50, 1000)]]
    cases += [anyres_case(*size, OTHERS, 56, 4) for size in SIZES[::2]]
    cases += [dynamic_case(*size, 56, fewest, most)
              for size in SIZES for most, fewest in GRIDS if size[0] < 700 or most == 12]
    cases += [dynamic_case(1024, 1024, 448, 1, 12), dynamic_case(500, 375, 448, 1, 12)]
    keep(TESTS / "encoders" / "golden" / "tiles.json", cases)
    keep(TESTS / "data" / "tiles" / "means.json", means())


if __name__ == "__main__":
    main()
