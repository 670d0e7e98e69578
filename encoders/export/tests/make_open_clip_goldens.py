"""Writes what open_clip and timm say about the tiny models of tiny_open_clip.py: weights
in the exporter's names, inputs and outputs, one safetensors file a model. The quick tests
compare with these files and so need neither open_clip nor torchvision.

    python make_open_clip_goldens.py FOLDER        (see scripts/parity_export.sh)
"""

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tiny_open_clip
from probe_export.families import make_plan
from probe_export.families.open_clip_model import load_model, read_json

MODELS = {"eva01": tiny_open_clip.eva01, "eva02": tiny_open_clip.eva02, "eva02_e": tiny_open_clip.eva02_e,
          "clip": tiny_open_clip.clip}


@torch.no_grad()
def golden(builder, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = builder(Path(folder))
        plan = make_plan(str(source), None)
        weights = plan.image_weights()
        config = read_json(source / "open_clip_config.json")["model_cfg"]
        model = load_model(config, source / "open_clip_model.safetensors")
    assert all(torch.equal(w, w.half().float()) for k, w in weights.items())
    pixels = torch.randn(3, 3, 56, 56, generator=torch.Generator().manual_seed(9)).half().float()
    # open_clip's own call for intermediate tokens, not the exporter's hooks
    out = model.visual.forward_intermediates(pixels, indices=[1, 2], output_fmt="NLC", output_extra_tokens=True)
    tokens = [torch.cat([prefix, patches], 1) for prefix, patches in
              zip(out["image_intermediates_prefix"], out["image_intermediates"])]
    tensors = {f"weights.{k}": v.half() for k, v in weights.items()} | {
        "pixels": pixels.half(), "embedding": model.encode_image(pixels), "-2": tokens[0], "last": tokens[1]}
    spec = asdict(plan.image_spec)
    save_file({k: v.contiguous().clone() for k, v in tensors.items()}, path, metadata={"spec": json.dumps(spec)})


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, builder in MODELS.items():
        golden(builder, folder / f"{name}.safetensors")
        print(f"{name}: {(folder / f'{name}.safetensors').stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
