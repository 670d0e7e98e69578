"""Tiny models of every family, random weights, through the `probe` program and through
their reference library: photos and texts to embeddings and tokens in float32 and bfloat16.

    python tiny_parity.py --probe PROGRAM [--only NAME ...] [--json FILE]

The open_clip families need open_clip (README.md) and are left out, with a line, where it
is not installed. Exit 1 below issue 4's bars.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import torch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "tests")]

import full_size_parity
import program_parity
import references
import tiny_models
from probe_export.bundle import write_bundle
from probe_export.families import make_plan


@dataclass
class Family:
    build: Callable  # folder -> None
    model: Callable | None = None  # of tests/references.py; None: open_clip
    processor: str | None = None  # of transformers; None: the whole-image squash
    options: dict = field(default_factory=dict)
    note: str = ""
    tokenizer: str = ""  # compared on all texts; "": its ids are compared in tests/parity


def open_clip_families() -> dict:
    import tiny_open_clip

    return {
        "eva01": Family(tiny_open_clip.eva01, tokenizer="open_clip"),
        "eva02": Family(tiny_open_clip.eva02),
        "eva02-e": Family(tiny_open_clip.eva02_e),
        # Wider texts: 8 channels in bfloat16 scatter about 0.999, open_clip's own arithmetic too.
        "open_clip-clip": Family(tiny_open_clip.clip, options={"text_width": 32}),
        "open_clip-clip-quickgelu": Family(tiny_open_clip.clip, options={"quick": True, "text_width": 32}),
    }


PUBLISHED = "the published arithmetic in PyTorch (its own code is not run)"
FAMILIES = {
    "clip": Family(tiny_models.clip, references.clip, "CLIP"),
    "clip-h": Family(tiny_models.clip, references.clip, "CLIP", {"act": "gelu", "width": 40, "seed": 2}),
    "siglip": Family(tiny_models.siglip, references.siglip, "Siglip"),
    "siglip2": Family(tiny_models.siglip2, references.siglip, "Siglip", tokenizer="sentencepiece"),
    "llava-next-clip": Family(tiny_models.llava, lambda f: references.llava(f, "clip"), None, {"kind": "clip"}),
    "llava-next-siglip": Family(tiny_models.llava, lambda f: references.llava(f, "siglip"), None, {"kind": "siglip"}),
    "internvit-300m": Family(tiny_models.internvit, references.internvit, note=PUBLISHED),
    "internvit-6b": Family(tiny_models.internvit, references.internvit, None, {"six": True}, PUBLISHED),
    "dinov2": Family(tiny_models.dinov2, references.dinov2, "Bit"),
    "dinov2-g": Family(tiny_models.dinov2, references.dinov2, "Bit", {"swiglu": True}),
}


def measure(name: str, family: Family, options: argparse.Namespace, work: Path) -> dict:
    source, bundle = work / "checkpoint", work / "bundle"
    source.mkdir()
    family.build(source, **family.options)
    plan = make_plan(str(source), None)
    write_bundle(plan, bundle, name=name, licence="random weights", source=f"random weights, tiny_parity.py {name}")

    def reference() -> program_parity.Reference:
        if family.model is None:
            return program_parity.open_clip_reference(source)
        ids = plan.tokenizer.ids if plan.tokenizer else None
        live = program_parity.transformers_reference(source, bundle, family.model, family.processor, ids)
        live.library = family.note or live.library
        live.tokenizer = f"{family.tokenizer} {importlib.metadata.version(family.tokenizer)}" if family.tokenizer else ""
        return live

    return {"name": name, "size": "tiny", "architecture": plan.architecture, "parameters": plan.parameters,
            **program_parity.compare_with_program(options.probe, bundle, reference,
                                                  full_size_parity.odd_photos(options.images), work,
                                                  tools=options.tools, folders=options.folders, pictures=40,
                                                  with_ids=bool(family.tokenizer))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", type=Path, required=True, help="the built program")
    parser.add_argument("--tools", type=Path, help="folder with dump_pixels and dump_ids: compares those as well")
    parser.add_argument("--folders", nargs="*", default=[], help="more photos and names, besides those of demo/")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some families")
    parser.add_argument("--json", type=Path, help="append one line of JSON a family")
    parser.add_argument("--images", type=int, default=8, help="photos of demo/ (default: 8)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch._C._jit_set_profiling_mode(False)
    families = dict(FAMILIES)
    if importlib.util.find_spec("open_clip"):
        families |= open_clip_families()
    else:
        print("tiny_parity: open_clip is not installed here; its families are left out", file=sys.stderr)
    good = True
    for name in options.only or families:
        if name not in families:
            parser.error(f"--only {name}: one of {', '.join(families)} is required")
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as work:
            result = measure(name, families[name], options, Path(work))
        good &= result["ok"]
        if options.json:
            with open(options.json, "a") as file:
                file.write(json.dumps(result) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
