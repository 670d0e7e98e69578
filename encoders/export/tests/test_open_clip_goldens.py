"""The EVA and open_clip CLIP towers against what open_clip 3.3.0 and timm 1.0.31 said.
Made by make_open_clip_goldens.py; scripts/parity_export.sh makes them afresh."""

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from probe_export.blocks import BlockSpec
from probe_export.towers import ImageTowerSpec, Layer, build_tower, load_tower, save_tower, trace_tower
from test_families import assert_close

FOLDER = Path(__file__).parent / "golden"


def load(name):
    with safe_open(FOLDER / f"{name}.safetensors", framework="pt") as file:
        spec = json.loads(file.metadata()["spec"])
        tensors = {k: file.get_tensor(k).float() for k in file.keys()}
    spec["block"] = BlockSpec(**spec["block"])
    spec["layers"] = tuple(Layer(**layer) for layer in spec["layers"])
    weights = {k.removeprefix("weights."): v for k, v in tensors.items() if k.startswith("weights.")}
    return ImageTowerSpec(**spec), weights, tensors


@pytest.mark.parametrize("name", ["eva01", "eva02", "eva02_e", "clip"])
@pytest.mark.parametrize("dtype, cosine, relative", [("float32", 0.99999, 1e-4), ("bfloat16", 0.999, None)])
def test_tower_equals_open_clip(name, dtype, cosine, relative, tmp_path):
    spec, weights, wanted = load(name)
    save_tower(trace_tower(build_tower(spec, weights)), str(tmp_path / "image.pt"))
    tower = load_tower(str(tmp_path / "image.pt")).to(getattr(torch, dtype))
    for count in (1, 3):
        with torch.no_grad():
            embedding, *tokens = tower(wanted["pixels"][:count].to(getattr(torch, dtype)))
        assert_close(embedding, wanted["embedding"][:count], cosine, relative)
        for layer, rows in zip(spec.layers, tokens):
            if layer.name in wanted:
                assert_close(rows, wanted[layer.name][:count], cosine, relative)
    assert {layer.name for layer in spec.layers} >= {"last", "-2"}


def test_the_goldens_cover_what_sets_eva_apart():
    eva01, eva02, eva02_e = (load(n)[0].block for n in ("eva01", "eva02", "eva02_e"))
    assert eva01.rotary_grid == 0 and not eva01.gated
    assert eva02.rotary_grid == 4 and eva02.rotary_reference == 3
    assert eva02.gated and eva02.attention_norm and eva02.mlp_norm
    assert eva02_e.norm_after


def test_rotary_positions_matter():
    """A golden that any positions would pass proves nothing."""
    spec, weights, wanted = load("eva02")
    weights["blocks.0.attention.cos"] = torch.ones_like(weights.get("blocks.0.attention.cos", torch.ones(17, 16)))
    weights["blocks.0.attention.sin"] = torch.zeros_like(weights["blocks.0.attention.cos"])
    tower = build_tower(spec, weights)
    embedding = tower(wanted["pixels"])[0]
    with pytest.raises(AssertionError):
        assert_close(embedding, wanted["embedding"], 0.99999, 1e-4)
