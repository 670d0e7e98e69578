"""Writes one bundle: golden answers from the reference first, then the towers, then a
check of the written files against the reference. The folder appears only if all is well."""

import gc
import hashlib
import json
import os
import re
import shutil
import tempfile
from importlib import resources
from pathlib import Path

import numpy as np
import torch

from probe_export import __version__
from probe_export.checkpoint import sha256_of
from probe_export.errors import ExportError
from probe_export.picture import fit, golden_picture, normalize, pixels_sha256
from probe_export.plan import Plan
from probe_export.tokenizers import GOLDEN_TEXTS
from probe_export.towers import build_tower, empty_tower, load_tower, save_tower, trace_tower

MIN_COSINE = 0.9999


def clean_name(text: str) -> str:
    name = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-.")
    return name or "encoder"


def memory_line(plan: Plan, dtype: str) -> str:
    gib = plan.parameters * 4 / 2**30
    stored = plan.parameters * (2 if dtype == "float16" else 4) / 1e9
    return (f"{plan.architecture}: {plan.parameters / 1e6:.1f} M parameters; the export needs about "
            f"{2.2 * gib + 0.6:.1f} GiB of memory and writes {stored:.2f} GB")


def release(plan: Plan) -> None:
    """Frees a large tower now; for a small one the collector's walk costs more."""
    if plan.parameters > 20e6:
        gc.collect()


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    scale = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / scale) if scale > 0 else float(np.array_equal(a, b))


def _floats(values) -> list[float]:
    return [float(f"{x:.8g}") for x in np.asarray(values, dtype=np.float32).ravel()]


def check_shapes(plan: Plan) -> None:
    """Every tensor known, none missing, all of the shape the config calls for; from the
    headers of the weight files alone."""
    if plan.tensors is None:
        return
    plan.tensors.headers_only = True
    try:
        for spec, weights in ((plan.image_spec, plan.image_weights), (plan.text_spec, plan.text_weights)):
            if spec is None:
                continue
            given = {name: tuple(tensor.shape) for name, tensor in weights().items()}
            wanted = {name: tuple(tensor.shape) for name, tensor in empty_tower(spec).state_dict().items()}
            for name in sorted(wanted.keys() | given.keys()):
                if wanted.get(name) != given.get(name):
                    raise ExportError(f"{plan.checkpoint}: {name} of shape {wanted.get(name)} is required by the "
                                      f"config, got {given.get(name)}")
    finally:
        plan.tensors.headers_only = False


def make_golden(plan: Plan, folder: Path) -> dict:
    """golden.png and the reference's answers to it."""
    fields = plan.preprocess
    image = golden_picture(fields["resize"]["to"], fields["size"])
    image.save(folder / "golden.png", optimize=True)
    reference = plan.reference()
    pixels = reference.pixels(image)
    ours = fit(image, fields)
    if pixels.shape != ours.shape or not np.array_equal(pixels, ours):
        off = "shape" if pixels.shape != ours.shape else f"{np.mean(pixels != ours):.2%} of the levels"
        raise ExportError(f"{plan.checkpoint}: the model's own processor gives other pixels than the rule that "
                          f"encoder.json would state ({off} differ); refused")
    embedding, tokens = reference.encode_image(torch.from_numpy(normalize(pixels, fields)[None]))
    prefix = int(plan.image_spec.prefix)
    golden = {
        "image": "golden.png",
        "pixels_sha256": pixels_sha256(pixels),
        "image_embedding": _floats(embedding[0]),
        "tokens_mean": {layer.name: _floats(rows[0, prefix:].mean(0))
                        for layer, rows in zip(plan.image_spec.layers, tokens)},
    }
    if plan.text_spec:
        ids = plan.tokenizer.ids(list(GOLDEN_TEXTS))
        golden["texts"] = list(GOLDEN_TEXTS)
        golden["ids"] = [[int(i) for i in row] for row in ids]
        golden["text_embeddings"] = [_floats(row) for row in reference.encode_text(torch.tensor(ids))]
    golden["min_cosine"] = MIN_COSINE
    values = [golden["image_embedding"], *golden["tokens_mean"].values(), *golden.get("text_embeddings", [])]
    if not all(np.isfinite(v).all() for v in values):
        raise ExportError(f"{plan.checkpoint}: the reference model gives values that are not finite")
    return golden


def write_tower(spec, weights, path: Path, dtype: str) -> None:
    traced = trace_tower(build_tower(spec, weights()))
    if dtype == "float16":
        for name, tensor in traced.state_dict().items():
            if tensor.is_floating_point() and float(tensor.abs().max()) > 65504:
                raise ExportError(f"{path.name}: {name} does not fit float16; use --dtype float32")
        traced.half()
    save_tower(traced, str(path))


def check_towers(plan: Plan, folder: Path, golden: dict) -> float:
    """Smallest cosine of the written towers to the reference's answers."""
    fields = plan.preprocess
    from PIL import Image

    with Image.open(folder / "golden.png") as image:
        pixels = normalize(fit(image.convert("RGB"), fields), fields)
    results = {}
    with torch.no_grad():
        embedding, *tokens = load_tower(str(folder / "image.pt"))(torch.from_numpy(pixels[None]))
        prefix = int(plan.image_spec.prefix)
        if plan.image_spec.embedding:
            results["image embedding"] = cosine(embedding[0].numpy(), np.array(golden["image_embedding"]))
        for layer, rows in zip(plan.image_spec.layers, tokens):
            mean = rows[0, prefix:].mean(0).numpy()
            results[f"tokens {layer.name}"] = cosine(mean, np.array(golden["tokens_mean"][layer.name]))
        if plan.text_spec:
            rows = load_tower(str(folder / "text.pt"))(torch.tensor(golden["ids"]))
            for row, wanted in zip(rows, golden["text_embeddings"]):
                value = cosine(row.numpy(), np.array(wanted))
                results["text embedding"] = min(value, results.get("text embedding", 1.0))
    worst = min(results, key=results.get)
    if not results[worst] >= MIN_COSINE:
        raise ExportError(f"{plan.checkpoint}: the exported tower differs from its reference "
                          f"({worst}: cosine {results[worst]:.6f}, {MIN_COSINE} required); no bundle was written")
    return results[worst]


def make_spec(plan: Plan, name: str, dtype: str, licence: str, source: str | None, templates: list[str]) -> dict:
    tower = plan.image_spec
    prefix = int(tower.prefix)
    image = {
        "file": "image.pt",
        **plan.preprocess,
        "patch": tower.patch,
        "layers": [{"name": layer.name, "tokens": tower.tokens, "width": tower.block.width, "prefix_tokens": prefix,
                    "post_norm": layer.post_norm} for layer in tower.layers],
        "match_layer": plan.match_layer,
    }
    text = None
    if plan.text_spec:
        text = {"file": "text.pt", "context_length": plan.text_spec.context, "tokenizer": plan.tokenizer.spec}
    return {
        "format": "probe-encoder",
        "format_version": 1,
        "name": name,
        "family": plan.family,
        "architecture": plan.architecture,
        "source": {
            "checkpoint": source or plan.checkpoint,
            "revision": plan.revision,
            "weights_sha256": plan.weights_sha256(),
            "exporter": f"probe_export {__version__}",
            "torch": torch.__version__,
        },
        "licence": licence,
        "stored_dtype": dtype,
        "embedding_dim": tower.embedding,
        "image": image,
        "text": text,
        "logits": {"scale_log": plan.scale_log, "bias": plan.bias, "probability": plan.probability},
        "templates": templates,
    }


def write_bundle(plan: Plan, target: Path, *, name: str, dtype: str = "float32", licence: str | None = None,
                 source: str | None = None, templates: list[str] | None = None, say=lambda line: None) -> float:
    """Writes the bundle folder `target`, which must not exist. Returns the smallest
    cosine between the written towers and the reference."""
    if os.path.lexists(target):
        raise ExportError(f"{target}: a folder that does not exist yet is required")
    if not target.parent.is_dir():
        raise ExportError(f"{target.parent}: the folder that is to hold the bundle does not exist")
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        check_shapes(plan)
        say("golden answers from the reference model")
        golden = make_golden(plan, part)
        (part / "golden.json").write_text(json.dumps(golden) + "\n")
        release(plan)
        say("image tower")
        write_tower(plan.image_spec, plan.image_weights, part / "image.pt", dtype)
        release(plan)
        licences = dict(plan.licence_files)
        if plan.text_spec:
            say("text tower")
            write_tower(plan.text_spec, plan.text_weights, part / "text.pt", dtype)
            release(plan)
            (part / plan.tokenizer.spec["file"]).write_bytes(plan.tokenizer.content)
            if plan.tokenizer.spec["type"] == "clip_bpe":
                licences["LICENSE.clip-tokenizer"] = (
                    resources.files("probe_export").joinpath("LICENSE.openai-clip").read_bytes())
        for file_name, content in licences.items():
            (part / file_name).write_bytes(content)
        say("check against the reference")
        worst = check_towers(plan, part, golden)

        stated = licence or plan.licence or "not stated by the checkpoint"
        spec = make_spec(plan, name, dtype, stated, source, templates or ["{}"])
        spec["files"] = {
            path.name: {"sha256": sha256_of(path), "bytes": path.stat().st_size} for path in sorted(part.iterdir())
        }
        spec["golden"] = "golden.json"
        content = json.dumps(spec, indent=1, ensure_ascii=False) + "\n"
        (part / "encoder.json").write_text(content, encoding="utf-8")
        for path in part.iterdir():
            path.chmod(0o644)
            with open(path, "rb") as file:
                os.fsync(file.fileno())
        part.chmod(0o755)
        part.rename(target)
        say(f"bundle {hashlib.sha256(content.encode()).hexdigest()[:16]}")
        return worst
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
