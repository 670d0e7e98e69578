"""Compares the `probe` program with the reference library, from photo files and texts to
vectors: the program reads the bundle that was exported, the reference reads the checkpoint,
its own processor and its own tokenizer. Shared by full_size_parity.py and tiny_parity.py."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np
import torch
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/parity"))

from photo_files import pillow_rgb, write_photo_files
from text_corpus import corpus

TEXTS = ["a photo of a red fox", "banana", "deep purple pear on a white plate", "two green apples"]
SPELT_MARK = re.compile(r"<\|(?:[s\u017f]tart|end)oftext\|>", re.IGNORECASE)
BARS = {"float32": (0.99999, 1e-4), "bfloat16": (0.999, None)}


@dataclass
class Reference:
    """The library's public calls."""

    library: str  # with its version
    pixels: Callable[[Image.Image], torch.Tensor]  # normalised, [3, s, s]
    image: Callable[[torch.Tensor], tuple]  # -> embedding or None, {layer: tokens}
    text: Callable[[torch.Tensor], torch.Tensor] | None
    ids: Callable[[list[str]], list[list[int]]] | None  # padded to the context
    tokenizer: str = ""  # whose `ids` are


@torch.no_grad()
def reference_answers(reference: Reference, photos: list[Path]) -> dict:
    answers: dict = {"image": [], "text": None, "tokens": {}}
    for path in photos:
        pixels = reference.pixels(Image.open(path).convert("RGB"))
        embedding, tokens = reference.image(pixels[None].float())
        if embedding is not None:
            answers["image"].append(embedding[0].numpy())
        for layer, rows in tokens.items():
            answers["tokens"].setdefault(layer, []).append(rows[0].numpy())
    if reference.text:
        answers["text"] = reference.text(torch.tensor(reference.ids(TEXTS))).numpy()
    return answers


def write_items(folder: Path, photos: list[Path], with_texts: bool) -> Path:
    """A dataset of the photos, with one question that asks for TEXTS."""
    folder.mkdir()
    lines = []
    for i, path in enumerate(photos):
        shutil.copyfile(path, folder / path.name)
        lines.append(json.dumps({"id": str(i), "image": path.name, "category": "photo"}))
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n")
    if with_texts:
        question = {"question_id": "0", "item_id": "0", "type": "choice", "choices": TEXTS, "answer": 0}
        (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    return folder / "items.jsonl"


def run_program(probe: Path, *arguments) -> str:
    done = subprocess.run([str(probe), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"probe {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def embed(probe: Path, bundle: Path, items: Path, layer: str, dtype: str, texts: bool, threads: int) -> dict:
    import h5py

    out = items.parent / "vectors.h5"
    out.unlink(missing_ok=True)
    questions = ["--questions", items.parent / "questions.jsonl"] if texts else ["--no-text"]
    run_program(probe, "embed", items, "--encoder", bundle, "--layer", layer, "--dtype", dtype, "--tokens",
                "--threads", threads, "--batch-size", 1, "--quiet", *questions, "-o", out)
    with h5py.File(out) as file:
        assert file.attrs["compute_dtype"] == dtype and file.attrs["layer"] == layer
        order = [int(i) for i in file["items/id"].asstr()[:]]
        found = {"tokens": file["image/tokens"][:][np.argsort(order)], "runtime": file.attrs["runtime"]}
        if "image/embedding" in file:
            found["image"] = file["image/embedding"][:][np.argsort(order)]
        if texts:
            prompts = list(file["text/prompt"].asstr()[:])
            found["text"] = file["text/embedding"][:][[prompts.index(text) for text in TEXTS]]
    out.unlink()
    return found


def distance(ours, theirs) -> dict:
    """Over all rows: the smallest cosine, the largest error over the row's norm."""
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    ours, theirs = ours.reshape(-1, ours.shape[-1]), theirs.reshape(-1, theirs.shape[-1])
    norms = np.linalg.norm(theirs, axis=-1)
    assert norms.min() > 1e-3  # a reference that says nothing proves nothing
    cosine = (ours * theirs).sum(-1) / (norms * np.linalg.norm(ours, axis=-1))
    return {"cosine": float(cosine.min()), "error": float((np.abs(ours - theirs).max(-1) / norms).max())}


def compare_with_program(probe: Path, bundle: Path, reference: Callable[[], Reference], photos: list[Path], work: Path,
                         dtypes=("float32", "bfloat16"), threads: int = 1, tools: Path | None = None,
                         folders=(), pictures: int = 200, with_ids: bool = False,
                         verify: bool = True) -> dict:
    """One row of the table. The reference is let go before the program runs. `tools`: the
    folder with dump_pixels and dump_ids; without it, pixels and ids are not compared."""
    spec = json.loads((bundle / "encoder.json").read_text())
    start = time.monotonic()
    live = reference()
    result: dict = {"reference": live.library, "photos": len(photos), "texts": len(TEXTS) if live.text else 0}
    wanted = reference_answers(live, photos)
    if tools:
        photo_folders = [ROOT / "demo/originals", *folders]
        result["pixels"] = compare_pixels(tools / "dump_pixels", spec, live.pixels, photo_folders, pictures)
        print(f"  pixels: {result['pixels']}", flush=True)
    if tools and with_ids:
        result["ids"] = compare_ids(tools / "dump_ids", bundle, spec, live.ids, live.tokenizer, list(folders))
        print(f"  ids: {result['ids']}", flush=True)
    del live
    result["reference_seconds"] = round(time.monotonic() - start, 1)
    items = write_items(work / "items", photos, wanted["text"] is not None)
    for dtype in dtypes:
        start = time.monotonic()
        row = {}
        for number, layer in enumerate(x["name"] for x in spec["image"]["layers"]):
            first = number == 0
            found = embed(probe, bundle, items, layer, dtype, first and wanted["text"] is not None, threads)
            row[f"tokens {layer}"] = distance(found["tokens"], wanted["tokens"][layer])
            if first:
                result["runtime"] = found["runtime"]
                if wanted["image"]:
                    row["image"] = distance(found["image"], wanted["image"])
                if wanted["text"] is not None:
                    row["text"] = distance(found["text"], wanted["text"])
        result[dtype] = row
        result[f"{dtype}_seconds"] = round(time.monotonic() - start, 1)
        print(f"  {dtype}: {row}", flush=True)
    result["ok"] = within_bars(result)
    if verify:
        report = json.loads(run_program(probe, "verify", bundle, "--json", "--quiet", "--threads", threads))
        rows = report["tables"][0]["rows"]
        result["verify"] = f"{sum(row['result'] == 'ok' for row in rows)} of {len(rows)} ok"
        result["ok"] &= all(row["result"] == "ok" for row in rows)
    shutil.rmtree(items.parent)
    return result


def compare_pixels(tool: Path, spec: dict, pixels: Callable, folders: list, count: int) -> dict:
    """Image files of every kind (photo_files.py) through the program's decoder and resize,
    and through the library's own processor, back to levels of 0 to 255."""
    image = spec["image"]
    rule = [image["resize"]["rule"], image["resize"]["to"], image["size"], image["resize"]["interpolation"],
            image["crop"]["rule"], image["crop"]["rounding"]]
    mean, std = (np.array(image[x], np.float64)[:, None, None] for x in ("mean", "std"))
    counts, pictures, size = np.zeros(256, np.int64), 0, image["size"]
    with tempfile.TemporaryDirectory() as folder:
        program = subprocess.Popen([tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _, path in write_photo_files(folders, count, 4, Path(folder)):
            program.stdin.write(f"file {path}\nagain {' '.join(map(str, rule))}\n".encode())
            program.stdin.flush()
            width, height = map(int, program.stdout.readline().split())
            program.stdout.read(3 * width * height)
            ours = np.frombuffer(program.stdout.read(3 * size * size), np.uint8).reshape(size, size, 3)
            levels = (pixels(pillow_rgb(path)).numpy().astype(np.float64) * std + mean) * 255
            theirs = levels.round().astype(np.int16).transpose(1, 2, 0)
            counts += np.bincount(np.abs(ours.astype(np.int16) - theirs).ravel(), minlength=256)
            pictures += 1
        program.stdin.close()
        program.wait()
    return {"pictures": pictures, "values": int(counts.sum()), "equal": float(counts[0] / counts.sum()),
            "within_1": float(counts[:2].sum() / counts.sum()), "largest": int(np.flatnonzero(counts).max()),
            "rule": " ".join(map(str, rule))}


def compare_ids(tool: Path, bundle: Path, spec: dict, ids: Callable, library: str, folders: list) -> dict:
    """Every text of tests/parity/text_corpus.py, fitted to the context."""
    t, context = spec["text"]["tokenizer"], spec["text"]["context_length"]
    # NUL ends a text for one side or the other of SentencePiece; neither is a reference.
    texts = [text for _, text in corpus(folders) if t["type"] == "clip_bpe" or "\0" not in text]
    framed = b"".join(f"{len(raw)}\n".encode() + raw for raw in (text.encode() for text in texts))
    words = [tool, t["type"], bundle, t["file"], t["start_id"], t["end_id"], t["pad_id"], t["clean"], t["canonicalize"],
             int(t["lowercase"])]
    out = subprocess.run([str(word) for word in words], input=framed, capture_output=True, check=True).stdout.decode()
    equal, set_aside, wrong = 0, 0, []
    for text, line, theirs in zip(texts, out.splitlines(), ids(texts), strict=True):
        row = [int(word) for word in line.split()]
        if len(row) > context:
            row = row[: context - 1] + [t["end_id"]]
        row += [t["pad_id"]] * (context - len(row))
        equal += row == theirs
        if row != theirs and library.startswith("open_clip") and SPELT_MARK.search(text):
            set_aside += 1  # open_clip spells its marks <start_of_text> and <end_of_text>
        elif row != theirs:
            wrong.append(text)
    for text in wrong[:8]:
        print(f"  other ids: {text!r}", flush=True)
    return {"library": library, "texts": len(texts), "equal": equal, "set_aside": set_aside}


def within_bars(result: dict) -> bool:
    pixels, ids = result.get("pixels"), result.get("ids")
    if pixels and not (pixels["within_1"] >= 0.999 and pixels["largest"] <= 2):
        return False
    if ids and ids["equal"] + ids["set_aside"] != ids["texts"]:
        return False
    for dtype, (cosine, error) in BARS.items():
        for value in result.get(dtype, {}).values():
            if not value["cosine"] >= cosine or (error is not None and not value["error"] <= error):
                return False
    return True


def hf_pixels(kind: str, source: Path) -> Callable:
    """The Pillow image processor of transformers with the checkpoint's own settings."""
    import transformers

    processor = getattr(transformers, f"{kind}ImageProcessorPil").from_pretrained(source)
    return lambda image: torch.as_tensor(processor(image, return_tensors="np")["pixel_values"][0])


def squash_pixels(bundle: Path) -> Callable:
    """LLaVA-NeXT's whole-image view and InternVL's tile, in Pillow and NumPy."""
    image_spec = json.loads((bundle / "encoder.json").read_text())["image"]
    side = (image_spec["size"],) * 2
    mean, std = (np.array(image_spec[x], np.float32) for x in ("mean", "std"))

    def pixels(image):
        levels = np.asarray(image.resize(side, Image.Resampling.BICUBIC), np.float32) / 255
        return torch.from_numpy(((levels - mean) / std).transpose(2, 0, 1).copy())

    return pixels


def transformers_reference(source: Path, bundle: Path, model: Callable, processor: str | None, ids) -> Reference:
    import transformers

    image, text = model(source)
    pixels = hf_pixels(processor, source) if processor else squash_pixels(bundle)
    return Reference(f"transformers {transformers.__version__}", pixels, image, text, ids)


def open_clip_reference(source: Path) -> Reference:
    """A checkpoint folder with open_clip_config.json, by open_clip's own functions."""
    import open_clip
    import timm
    from open_clip.transform import PreprocessCfg, image_transform_v2

    config = json.loads((source / "open_clip_config.json").read_text())
    name = f"probe-parity-{source.parent.name}"
    (source.parent / f"{name}.json").write_text(json.dumps(config["model_cfg"]))
    open_clip.add_model_config(source.parent / f"{name}.json")
    model = open_clip.create_model(name, pretrained=None).eval()
    open_clip.load_checkpoint(model, str(source / "open_clip_model.safetensors"))
    size = config["model_cfg"]["vision_cfg"]["image_size"]
    transform = image_transform_v2(PreprocessCfg(size=size, **config["preprocess_cfg"]), is_train=False)
    tokenizer = open_clip.tokenizer.SimpleTokenizer(context_length=config["model_cfg"]["text_cfg"]["context_length"])
    trunk = getattr(model.visual, "trunk", None)
    depth = len(trunk.blocks if trunk is not None else model.visual.transformer.resblocks)
    norm = trunk.norm if trunk is not None else model.visual.ln_post

    def image(pixels):
        out = model.visual.forward_intermediates(pixels, indices=[depth - 2, depth - 1], output_fmt="NLC",
                                                 output_extra_tokens=True)
        below, last = (torch.cat(pair, 1)
                       for pair in zip(out["image_intermediates_prefix"], out["image_intermediates"]))
        return model.encode_image(pixels), {"last": last, "-2": below, "post": norm(last)}

    return Reference(f"open_clip {open_clip.__version__}, timm {timm.__version__}", transform, image, model.encode_text,
                     lambda texts: tokenizer(texts).tolist(), f"open_clip {open_clip.__version__}")

