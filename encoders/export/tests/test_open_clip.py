"""open_clip checkpoints through the command; runs where open_clip is installed
(scripts/parity_export.sh)."""

import copy
import hashlib
import json
import pickle

import numpy as np
import pytest
import torch
from PIL import Image

open_clip = pytest.importorskip("open_clip", reason="open_clip is not installed here: scripts/parity_export.sh runs these")

import tiny_open_clip
from probe_export.cli import main
from probe_export.families.open_clip_model import load_model, read_json
from probe_export.towers import load_tower
from test_families import assert_close, ids_of

BUILDERS = {"eva01": (tiny_open_clip.eva01, {}), "eva02": (tiny_open_clip.eva02, {}),
            "eva02_e": (tiny_open_clip.eva02_e, {}), "clip": (tiny_open_clip.clip, {}),
            "clip-quick": (tiny_open_clip.clip, {"quick": True})}


@pytest.fixture(params=BUILDERS)
def case(request, made):
    builder, kwargs = BUILDERS[request.param]
    source, bundle = made(builder, **kwargs)
    config = read_json(source / "open_clip_config.json")["model_cfg"]
    model = load_model(copy.deepcopy(config), source / "open_clip_model.safetensors")
    return request.param, bundle, json.loads((bundle / "encoder.json").read_text()), model


@pytest.mark.parametrize("dtype, cosine, relative", [("float32", 0.99999, 1e-4), ("bfloat16", 0.999, None)])
def test_towers_equal_open_clip(case, dtype, cosine, relative):
    name, bundle, spec, model = case
    kind = getattr(torch, dtype)
    tower, text = (load_tower(str(bundle / f"{x}.pt")).to(kind) for x in ("image", "text"))
    for count in (1, 3, 8):
        pixels = torch.randn(count, 3, 56, 56, generator=torch.Generator().manual_seed(count))
        ids = ids_of(spec, count)
        with torch.no_grad():
            embedding, *tokens = tower(pixels.to(kind))
            assert_close(embedding, model.encode_image(pixels), cosine, relative)
            assert_close(text(ids), model.encode_text(ids), cosine, relative)
            out = model.visual.forward_intermediates(pixels, indices=[1, 2], output_fmt="NLC", output_extra_tokens=True)
        whole = [torch.cat(pair, 1) for pair in zip(out["image_intermediates_prefix"], out["image_intermediates"])]
        found = dict(zip([x["name"] for x in spec["image"]["layers"]], tokens))
        assert_close(found["-2"], whole[0], cosine, relative)
        assert_close(found["last"], whole[1], cosine, relative)


def test_golden_pixels_and_ids_are_open_clips(case):
    name, bundle, spec, model = case
    golden = json.loads((bundle / "golden.json").read_text())
    from open_clip.transform import PreprocessCfg, image_transform_v2

    steps = image_transform_v2(PreprocessCfg(size=56), is_train=False).transforms
    image = Image.open(bundle / "golden.png")
    for step in steps[:3]:  # resize, crop, to RGB
        image = step(image)
    assert golden["pixels_sha256"] == hashlib.sha256(np.asarray(image).tobytes()).hexdigest()
    assert spec["image"]["crop"] == {"rule": "center", "rounding": "half_even"}
    assert golden["ids"] == open_clip.tokenize(golden["texts"]).tolist()
    assert spec["text"]["tokenizer"]["pad_id"] == 0
    assert spec["family"] == ("clip" if name.startswith("clip") else "eva")


def test_refusals(fails, tmp_path, made):
    b = tmp_path / "bundle"
    assert "open_clip has no architecture 'ViT-X'" in fails("open_clip:ViT-X/openai", "-o", b)
    assert "open_clip knows these tags of EVA01-g-14: laion400m_s11b_b41k" in fails("open_clip:EVA01-g-14/x", "-o", b)
    assert "trained with quick GELU" in fails("open_clip:ViT-B-32/openai", "-o", b)
    assert "of timm's trunks only EVA is supported, got 'vit_so400m_patch14_siglip_384'" in fails(
        f"open_clip:ViT-SO400M-14-SigLIP-384/{made(tiny_open_clip.eva01)[0]}/open_clip_model.safetensors", "-o", b)
    assert "the weights are not in the cache and cannot be fetched" in fails(
        "open_clip:EVA01-g-14/laion400m_s11b_b41k", "-o", b)
    assert not b.exists()


def test_lone_checkpoint_file(tmp_path, made, monkeypatch):
    source, bundle = made(tiny_open_clip.clip)
    config = read_json(source / "open_clip_config.json")["model_cfg"]
    (tmp_path / "tiny.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path)
    from safetensors.torch import load_file

    state = load_file(source / "open_clip_model.safetensors")
    torch.save({"state_dict": {f"module.{k}": v for k, v in state.items()}}, tmp_path / "epoch.pt")
    assert main([f"open_clip:tiny/{tmp_path / 'epoch.pt'}", "-o", str(tmp_path / "bundle"), "--quiet"]) == 0
    a, b = (json.loads((f / "golden.json").read_text()) for f in (bundle, tmp_path / "bundle"))
    assert b["image_embedding"] == pytest.approx(a["image_embedding"], abs=1e-5)


def test_pickle_with_code_is_never_run(fails, tmp_path):
    proof = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return open, (str(proof), "w")

    (tmp_path / "evil.pt").write_bytes(pickle.dumps({"logit_scale": Evil()}))
    line = fails(f"open_clip:ViT-B-32/{tmp_path / 'evil.pt'}", "-o", tmp_path / "bundle")
    assert "only tensors are read from pickled checkpoints" in line and not proof.exists()
