"""Every family, from a checkpoint on disk through the command to the TorchScript bundle."""

import gzip
import hashlib
import json

import numpy as np
import pytest
import torch
from PIL import Image

import references
import tiny_models
from probe_export.towers import load_tower

FAMILIES = {
    "clip": (tiny_models.clip, {}, references.clip),
    "clip-h": (tiny_models.clip, {"act": "gelu", "width": 40, "seed": 2}, references.clip),
    "clip-old-eos": (tiny_models.clip, {"old_eos": True}, references.clip),
    "siglip": (tiny_models.siglip, {}, references.siglip),
    "siglip2": (tiny_models.siglip2, {}, references.siglip),
    "llava-clip": (tiny_models.llava, {"kind": "clip"}, lambda f: references.llava(f, "clip")),
    "llava-siglip": (tiny_models.llava, {"kind": "siglip"}, lambda f: references.llava(f, "siglip")),
    "internvit": (tiny_models.internvit, {}, references.internvit),
    "internvit-alone": (tiny_models.internvit, {"inside": False}, references.internvit),
    "internvit-6b": (tiny_models.internvit, {"six": True}, references.internvit),
    "dinov2": (tiny_models.dinov2, {}, references.dinov2),
    "dinov2-g": (tiny_models.dinov2, {"swiglu": True}, references.dinov2),
}
LAYERS = {
    "clip": ["last", "-2", "post"], "siglip": ["last", "-1", "-2"], "llava": ["-2", "last"],
    "internvit": ["last", "-2"], "dinov2": ["last", "post", "-2"],
}


@pytest.fixture(params=FAMILIES)
def case(request, made):
    builder, kwargs, reference = FAMILIES[request.param]
    source, bundle = made(builder, **kwargs)
    return request.param, source, bundle, json.loads((bundle / "encoder.json").read_text()), reference


def assert_close(ours, theirs, cosine, relative):
    """relative: largest absolute error over the norm of the vector it stands in."""
    ours, theirs = ours.double().flatten(0, -2), theirs.double().flatten(0, -2)
    assert ours.shape == theirs.shape
    norms = theirs.norm(dim=-1)
    assert norms.min() > 1e-3  # a reference that says nothing proves nothing
    assert torch.nn.functional.cosine_similarity(ours, theirs, dim=-1).min() >= cosine
    if relative is not None:
        assert ((ours - theirs).abs().amax(-1) / norms).max() <= relative


def ids_of(spec, count):
    """Valid rows: start, words, end, padding."""
    t, c = spec["text"]["tokenizer"], spec["text"]["context_length"]
    top = 49000 if t["type"] == "clip_bpe" else 300
    generator = torch.Generator().manual_seed(count)
    rows = torch.full((count, c), t["pad_id"])
    for row in rows:
        words = int(torch.randint(1, c - 2, (1,), generator=generator))
        body = torch.randint(3, top, (words,), generator=generator).tolist()
        start = [t["start_id"]] if t["start_id"] >= 0 else []
        row[: len(start) + words + 1] = torch.tensor(start + body + [t["end_id"]])
    return rows


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_towers_equal_the_reference_at_other_batch_sizes(case, dtype):
    name, source, bundle, spec, make_reference = case
    image_reference, text_reference = make_reference(source)
    cosine, relative = (0.99999, 1e-4) if dtype == "float32" else (0.999, None)
    kind = getattr(torch, dtype)
    tower = load_tower(str(bundle / "image.pt")).to(kind)
    for count in (1, 3, 8):
        pixels = references.images(spec["image"]["size"], count)
        with torch.no_grad():
            embedding, *tokens = tower(pixels.to(kind))
            wanted, wanted_tokens = image_reference(pixels)
        assert embedding.dtype == kind
        assert embedding.shape == (count, spec["embedding_dim"])
        if spec["embedding_dim"]:
            assert_close(embedding, wanted, cosine, relative)
        assert len(tokens) == len(spec["image"]["layers"])
        for layer, rows in zip(spec["image"]["layers"], tokens):
            assert rows.shape == (count, layer["tokens"], layer["width"])
            assert_close(rows, wanted_tokens[layer["name"]], cosine, relative)
        if spec["text"]:
            text = load_tower(str(bundle / "text.pt")).to(kind)
            ids = ids_of(spec, count)
            with torch.no_grad():
                assert_close(text(ids), text_reference(ids), cosine, relative)


def test_no_device_is_baked_in(case):
    """On the meta device, which holds no values: a tensor made on the CPU inside the
    trace would meet one of another device."""
    _, _, bundle, spec, _ = case
    size = spec["image"]["size"]
    tower = torch.jit.load(str(bundle / "image.pt"), map_location="meta")
    embedding, *tokens = tower(torch.empty(2, 3, size, size, device="meta"))
    assert all(x.is_meta for x in (embedding, *tokens))
    if spec["text"]:
        text = torch.jit.load(str(bundle / "text.pt"), map_location="meta")
        ids = torch.zeros(2, spec["text"]["context_length"], dtype=torch.int64, device="meta")
        assert text(ids).is_meta


def test_one_tower_a_file_with_fused_attention(case):
    _, _, bundle, spec, _ = case
    for file in ["image.pt"] + (["text.pt"] if spec["text"] else []):
        tower = torch.jit.load(str(bundle / file))
        graph = str(tower.inlined_graph)
        assert "aten::scaled_dot_product_attention" in graph and "aten::softmax" not in graph
        assert "aten::embedding" in graph if file == "text.pt" else "aten::_convolution" in graph
        assert ("aten::embedding" in graph) == (file == "text.pt")
        stored = sum(p.numel() * 4 for p in tower.state_dict().values())
        assert (bundle / file).stat().st_size < 1.1 * stored + 250_000


def test_spec_names_every_file_with_its_hash(case):
    _, _, bundle, spec, _ = case
    present = {p.name for p in bundle.iterdir()} - {"encoder.json"}
    assert set(spec["files"]) == present
    for name, entry in spec["files"].items():
        content = (bundle / name).read_bytes()
        assert entry == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert spec["licence"] == "cc0-1.0"
    assert (spec["text"] is None) == ("text.pt" not in present)


def test_layers_and_prefix_are_marked(case):
    name, _, _, spec, _ = case
    layers = spec["image"]["layers"]
    family = name.split("-")[0]
    assert [x["name"] for x in layers] == LAYERS["siglip" if family == "siglip2" else family]
    siglip = "siglip" in name
    side = spec["image"]["size"] // 14
    for layer in layers:
        assert layer["prefix_tokens"] == (0 if siglip else 1)
        assert layer["tokens"] == side * side + (0 if siglip else 1)
        normed = layer["name"] == "post" or (layer["name"] == "last" and name in ("siglip", "siglip2"))
        assert layer["post_norm"] == normed
    assert spec["image"]["match_layer"] == ("-2" if name.startswith("llava") else "last")
    assert spec["embedding_dim"] == (0 if name.startswith(("llava", "internvit")) else
                                     16 if name.startswith("clip") else 36 if siglip else 32)


def test_golden_pixels_are_those_of_the_models_own_processor(case):
    name, source, bundle, spec, _ = case
    golden = json.loads((bundle / "golden.json").read_text())
    image = Image.open(bundle / "golden.png")
    assert image.width != image.height and image.mode == "RGB"
    if name.startswith(("llava", "internvit")):
        pixels = np.asarray(image.resize((spec["image"]["size"],) * 2, Image.Resampling.BICUBIC))
    else:
        import transformers

        kind = {"clip": "CLIP", "sigl": "Siglip", "dino": "Bit"}[name[:4]] + "ImageProcessorPil"
        processor = getattr(transformers, kind).from_pretrained(source)
        out = processor(image, do_rescale=False, do_normalize=False, return_tensors="np")["pixel_values"][0]
        pixels = out.astype(np.uint8).transpose(1, 2, 0)
        values = json.loads((source / "preprocessor_config.json").read_text())
        assert spec["image"]["mean"] == values["image_mean"] and spec["image"]["std"] == values["image_std"]
    assert golden["pixels_sha256"] == hashlib.sha256(pixels.tobytes()).hexdigest()


def test_golden_texts_are_those_of_the_models_own_tokenizer(made):
    from transformers import CLIPTokenizer, SiglipTokenizer

    for builder, kind, options in ((tiny_models.clip, CLIPTokenizer, {}),
                                   (tiny_models.siglip, SiglipTokenizer, {"max_length": 64})):
        source, bundle = made(builder)
        golden = json.loads((bundle / "golden.json").read_text())
        tokenizer = kind.from_pretrained(source)
        ids = tokenizer(golden["texts"], padding="max_length", truncation=True, **{"max_length": 77, **options})
        assert golden["ids"] == ids["input_ids"]
    assert golden["ids"][0][-1] == tokenizer.eos_token_id  # SigLIP pads with the end mark


def test_clip_ids_are_the_published_ones(made):
    """Ids as openai/CLIP's README and tokenizer give them."""
    _, bundle = made(tiny_models.clip)
    golden = json.loads((bundle / "golden.json").read_text())
    row = golden["ids"][golden["texts"].index("a photo of a red fox")]
    assert row[:8] == [49406, 320, 1125, 539, 320, 736, 3240, 49407] and set(row[8:]) == {49407}
    lines = gzip.decompress((bundle / "merges.txt.gz").read_bytes()).decode().splitlines()
    assert lines[:3] == ["#version: 0.2", "i n", "t h"] and len(lines) == 48895


def test_logits_of_clip_and_siglip(made):
    for builder, scale, bias, rule in ((tiny_models.clip, 100.0, None, "softmax"),
                                       (tiny_models.siglip, 112.33, -16.5, "sigmoid")):
        logits = json.loads((made(builder)[1] / "encoder.json").read_text())["logits"]
        assert np.exp(logits["scale_log"]) == pytest.approx(scale, rel=1e-6)
        assert logits["bias"] == bias and logits["probability"] == rule


def test_float16_storage_halves_the_file_and_keeps_the_answers(made):
    _, whole = made(tiny_models.clip)
    source, half = made(tiny_models.clip, ["--dtype", "float16"])
    assert json.loads((half / "encoder.json").read_text())["stored_dtype"] == "float16"
    assert (half / "text.pt").stat().st_size < 0.6 * (whole / "text.pt").stat().st_size
    stored = torch.jit.load(str(half / "image.pt"))
    assert {p.dtype for p in stored.parameters()} == {torch.float16}
    pixels = references.images(56, 3)
    with torch.no_grad():
        wanted, _ = references.clip(source)[0](pixels)
        assert_close(load_tower(str(half / "image.pt"))(pixels)[0], wanted, 0.9999, None)


def test_layer_choice(made):
    source, bundle = made(tiny_models.clip, ["--layers=-3,post"])
    spec = json.loads((bundle / "encoder.json").read_text())
    assert [x["name"] for x in spec["image"]["layers"]] == ["-3", "post"]
    assert spec["image"]["match_layer"] == "-3"
    from transformers import CLIPModel

    pixels = references.images(56, 2)
    with torch.no_grad():
        _, first, _ = load_tower(str(bundle / "image.pt"))(pixels)
        states = CLIPModel.from_pretrained(source).vision_model(pixel_values=pixels, output_hidden_states=True)
    assert_close(first, states.hidden_states[-3], 0.99999, 1e-4)


def test_llavas_own_layout_names_its_tower_and_drops_siglips_last_block(made, monkeypatch):
    from probe_export.families import clip_siglip

    named = dict(clip_siglip.NAMED_TOWERS)
    named["google/siglip-so400m-patch14-384"] = tiny_models.vision_config("siglip", 4)
    monkeypatch.setattr(clip_siglip, "NAMED_TOWERS", named)
    source, bundle = made(tiny_models.llava, kind="siglip", style="original", depth=3)
    spec = json.loads((bundle / "encoder.json").read_text())
    assert spec["image"]["match_layer"] == "last"  # whatever mm_vision_select_layer says
    assert spec["image"]["layers"][0] == {"name": "last", "tokens": 9, "width": 36, "prefix_tokens": 0,
                                          "post_norm": False}
    pixels = references.images(52, 2)
    with torch.no_grad():
        wanted = references.llava(source, "siglip")[0](pixels)[1]["last"]
        assert_close(load_tower(str(bundle / "image.pt"))(pixels)[1], wanted, 0.99999, 1e-4)


def test_llava_reads_only_the_shard_with_the_tower(tmp_path):
    from probe_export.cli import main

    source = tmp_path / "source"
    source.mkdir()
    tiny_models.llava(source)
    (source / "model-00001-of-00002.safetensors").unlink()
    assert main([str(source), "-o", str(tmp_path / "bundle"), "--quiet"]) == 0
    spec = json.loads((tmp_path / "bundle/encoder.json").read_text())
    content = (source / "model-00002-of-00002.safetensors").read_bytes()
    assert spec["source"]["weights_sha256"] == hashlib.sha256(content).hexdigest()


def test_dinov2_positions_are_fitted_to_the_crop(made):
    """A 5 x 5 position grid used at 4 x 4: transformers interpolates on the fly."""
    source, bundle = made(tiny_models.dinov2)
    tower = torch.jit.load(str(bundle / "image.pt"))
    assert dict(tower.named_parameters())["position"].shape == (1, 17, 32)
    assert json.loads((bundle / "encoder.json").read_text())["image"]["resize"]["to"] == 64


@pytest.mark.slow
def test_equal_exports_are_equal_byte_for_byte(made, tmp_path):
    """In two fresh processes, as a user runs it."""
    import subprocess
    import sys

    source, _ = made(tiny_models.llava, kind="clip")
    for name in ("a", "b"):
        subprocess.run([sys.executable, "-m", "probe_export", source, "-o", tmp_path / name, "--name", "x", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "a/encoder.json").read_bytes() == (tmp_path / "b/encoder.json").read_bytes()
