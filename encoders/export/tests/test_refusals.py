"""What the exporter must not export: exit 1, one line that says what was required and
what came, and no folder left behind."""

import json
import os
import pickle
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

import tiny_models
from probe_export.cli import main


@pytest.fixture
def copy(made, tmp_path):
    """copy(builder) -> a private copy of a good checkpoint folder, to be damaged."""

    def make(builder, **kwargs):
        return shutil.copytree(made(builder, **kwargs)[0], tmp_path / "source")

    return make


def edit(path, **changes):
    values = json.loads(path.read_text())
    for dotted, value in changes.items():
        part = values
        *parents, last = dotted.split("__")
        for parent in parents:
            part = part[parent]
        if value is None:
            part.pop(last)
        else:
            part[last] = value
    path.write_text(json.dumps(values))


def edit_tensors(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def check(fails, source, tmp_path, *parts):
    line = fails(source, "-o", tmp_path / "bundle")
    for part in parts:
        assert part in line
    assert not (tmp_path / "bundle").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".bundle")] == []


def test_unknown_model_type(copy, fails, tmp_path):
    source = copy(tiny_models.clip)
    edit(source / "config.json", model_type="blip")
    check(fails, source, tmp_path, "model_type 'blip'; supported are clip, siglip,")


def test_naflex_has_no_fixed_size(copy, fails, tmp_path):
    source = copy(tiny_models.siglip)
    edit(source / "config.json", model_type="siglip2")
    check(fails, source, tmp_path, "SigLIP 2 NaFlex (model_type siglip2) takes images of any shape")


def test_unknown_activation(copy, fails, tmp_path):
    source = copy(tiny_models.clip)
    edit(source / "config.json", vision_config__hidden_act="relu")
    check(fails, source, tmp_path, "hidden_act of quick_gelu, gelu, gelu_pytorch_tanh is required, got 'relu'")


def test_tensor_missing(copy, fails, tmp_path):
    source = copy(tiny_models.dinov2)
    edit_tensors(source, lambda t: t.pop("encoder.layer.1.norm2.bias"))
    # transformers would fill it with random values
    check(fails, source, tmp_path, "tensor encoder.layer.1.norm2.bias is required and missing")


def test_tensor_unknown(copy, fails, tmp_path):
    source = copy(tiny_models.internvit)

    def add(tensors):
        tensors["vision_model.embeddings.register_tokens"] = torch.zeros(4, 32)

    edit_tensors(source, add)
    check(fails, source, tmp_path, "this tower has tensors that the exporter does not know "
          "(vision_model.embeddings.register_tokens)")


def test_tensor_beside_the_towers(copy, fails, tmp_path):
    source = copy(tiny_models.clip)

    def add(tensors):
        tensors["adapter.weight"] = torch.zeros(2, 2)

    edit_tensors(source, add)
    check(fails, source, tmp_path, "tensors logit_scale, text_projection.weight, visual_projection.weight "
          "beside the towers is required, got ['adapter.weight']")


def test_shape_that_the_config_does_not_call_for(copy, fails, tmp_path):
    source = copy(tiny_models.siglip)
    edit(source / "config.json", vision_config__intermediate_size=135)
    check(fails, source, tmp_path, "blocks.0.mlp.down.weight of shape (36, 135) is required by the config, got (36, 134)")


@pytest.mark.parametrize("setting, value, words", [
    ("resample", 0, "resample 2 (bilinear) or 3 (bicubic) is required, got 0"),
    ("do_center_crop", False, "do_center_crop with shortest_edge is required, got False"),
    ("crop_size", {"height": 42, "width": 42}, "the tower's size 56 is required, got 42"),
    ("size", {"longest_edge": 56}, "size with shortest_edge or equal height and width is required"),
    ("do_normalize", False, "do_normalize true is required, got False"),
    ("rescale_factor", 1.0, "rescale_factor 1/255 is required, got 1.0"),
    ("do_sharpen", True, "no other setting is required, got ['do_sharpen']"),
])
def test_preprocessing_that_the_bundle_cannot_state(copy, fails, tmp_path, setting, value, words):
    source = copy(tiny_models.clip)
    edit(source / "preprocessor_config.json", **{setting: value})
    check(fails, source, tmp_path, "preprocessor_config.json: ", words)


@pytest.mark.parametrize("builder, file", [
    (tiny_models.clip, "preprocessor_config.json"), (tiny_models.siglip, "spiece.model"),
    (tiny_models.siglip2, "tokenizer.model"), (tiny_models.clip, "model.safetensors"),
    (tiny_models.clip, "config.json"),
])
def test_file_missing(copy, fails, tmp_path, builder, file):
    source = copy(builder)
    (source / file).unlink()
    wanted = "spiece.model" if file == "tokenizer.model" else file
    check(fails, source, tmp_path, f"{source}: {wanted}", "is required and is not in this folder")


def test_merges_cut_short(copy, fails, tmp_path):
    source = copy(tiny_models.clip)
    lines = (source / "merges.txt").read_text().splitlines()
    (source / "merges.txt").write_text("\n".join(lines[:1000]))
    check(fails, source, tmp_path, "48894 merges of two parts are required, got 999")


def test_vocabulary_in_another_order(copy, fails, tmp_path):
    source = copy(tiny_models.clip)
    vocabulary = json.loads((source / "vocab.json").read_text())
    vocabulary["!"], vocabulary['"'] = vocabulary['"'], vocabulary["!"]
    (source / "vocab.json").write_text(json.dumps(vocabulary))
    check(fails, source, tmp_path, "the vocabulary does not follow from the merges in CLIP's order")


def test_spiece_that_is_no_model(copy, fails, tmp_path):
    source = copy(tiny_models.siglip)
    (source / "spiece.model").write_bytes(b"not a model")
    check(fails, source, tmp_path, "spiece.model: a SentencePiece model is required")


def test_pickle_with_code_is_never_run(copy, fails, tmp_path):
    source = copy(tiny_models.clip)
    (source / "model.safetensors").unlink()
    proof = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {proof}",)

    with open(source / "pytorch_model.bin", "wb") as file:
        pickle.dump({"logit_scale": Evil()}, file)
    check(fails, source, tmp_path, "pytorch_model.bin: only tensors are read from pickled checkpoints (weights_only)")
    assert not proof.exists()


def test_pickle_of_tensors_is_read(copy, made, tmp_path):
    source = copy(tiny_models.clip)
    torch.save(load_file(source / "model.safetensors"), source / "pytorch_model.bin")
    (source / "model.safetensors").unlink()
    assert main([str(source), "-o", str(tmp_path / "bundle"), "--quiet"]) == 0
    a, b = (json.loads((f / "golden.json").read_text()) for f in (made(tiny_models.clip)[1], tmp_path / "bundle"))
    assert a["ids"] == b["ids"] and a["pixels_sha256"] == b["pixels_sha256"]
    assert b["image_embedding"] == pytest.approx(a["image_embedding"], abs=1e-5)


def test_lfs_pointer(copy, fails, tmp_path):
    source = copy(tiny_models.siglip)
    (source / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    check(fails, source, tmp_path, "model.safetensors: this is a Git LFS pointer, not the weights; run `git lfs pull`")


def test_index_that_leaves_the_folder(copy, fails, tmp_path):
    source = copy(tiny_models.llava)
    values = json.loads((source / "model.safetensors.index.json").read_text())
    for name in values["weight_map"]:
        values["weight_map"][name] = "../model.safetensors"
    (source / "model.safetensors.index.json").write_text(json.dumps(values))
    check(fails, source, tmp_path, "the index names a file outside the folder: '../model.safetensors'")


def test_llava_without_tower_weights(copy, fails, tmp_path):
    source = copy(tiny_models.llava)
    values = json.loads((source / "model.safetensors.index.json").read_text())
    values["weight_map"] = {k: v for k, v in values["weight_map"].items() if "vision" not in k}
    (source / "model.safetensors.index.json").write_text(json.dumps(values))
    check(fails, source, tmp_path, "one vision tower is required among the weights, got 0",
          "then export the base tower")


def test_llava_that_pads(copy, fails, tmp_path):
    source = copy(tiny_models.llava)
    edit(source / "config.json", image_aspect_ratio="pad")
    check(fails, source, tmp_path, "image_aspect_ratio anyres (LLaVA-NeXT) is required, got 'pad'")


def test_llava_with_an_unknown_tower(copy, fails, tmp_path):
    source = copy(tiny_models.llava)
    edit(source / "config.json", vision_config=None, mm_vision_tower="someone/tower")
    check(fails, source, tmp_path, "mm_vision_tower of openai/clip-vit-large-patch14-336", "got 'someone/tower'")


@pytest.mark.parametrize("layers, words", [
    ("-9", "--layers -9: last, post or a number from -1 to -3 is required"),
    ("top", "--layers top: last, post or a number from -1 to -3 is required"),
    ("0", "--layers 0: last, post or a number from -1 to -3 is required"),
])
def test_layers_that_do_not_exist(made, fails, tmp_path, layers, words):
    source = made(tiny_models.clip)[0]
    assert words in fails(source, "-o", tmp_path / "bundle", f"--layers={layers}")


def test_internvit_has_no_final_norm(made, fails, tmp_path):
    source = made(tiny_models.internvit)[0]
    assert "--layers post: this tower has no final norm" in fails(source, "-o", tmp_path / "b", "--layers=post")


def test_output_that_exists_is_left_alone(made, fails, tmp_path):
    target = tmp_path / "bundle"
    target.mkdir()
    (target / "mine").write_text("kept")
    line = fails(made(tiny_models.clip)[0], "-o", target)
    assert "a folder that does not exist yet is required" in line
    assert [p.name for p in target.iterdir()] == ["mine"]


def test_values_beyond_float16(copy, fails, tmp_path):
    source = copy(tiny_models.internvit)

    def grow(tensors):
        tensors["vision_model.encoder.layers.0.mlp.fc1.bias"][0] = -70000.0

    edit_tensors(source, grow)
    line = fails(source, "-o", tmp_path / "bundle", "--dtype", "float16")
    assert "does not fit float16; use --dtype float32" in line
    assert list(tmp_path.iterdir()) == [source]


def test_a_tower_that_differs_from_its_reference_is_not_written(made, fails, tmp_path, monkeypatch):
    """The last line of defence: a mapping error of ours."""
    from probe_export.families import clip_siglip

    right = clip_siglip.image_weights

    def swapped(*arguments):
        w = right(*arguments)
        w["blocks.0.norm1.weight"], w["blocks.0.norm2.weight"] = w["blocks.0.norm2.weight"], w["blocks.0.norm1.weight"]
        return w

    monkeypatch.setattr(clip_siglip, "image_weights", swapped)
    line = fails(made(tiny_models.clip)[0], "-o", tmp_path / "bundle")
    assert "the exported tower differs from its reference" in line and "no bundle was written" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments, words", [
    ([], "the following arguments are required: MODEL, -o/--output"),
    (["x", "-o", "y", "--dtype", "int8"], "invalid choice: 'int8'"),
    (["x", "-o", "y", "--template", "a photo"], "{} for the name is required"),
    (["x", "-o", "y", "--frobnicate"], "unrecognized arguments: --frobnicate"),
])
def test_usage_errors_exit_2(capsys, arguments, words):
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


def test_names_that_are_no_model(fails, tmp_path):
    line = fails("./nowhere", "-o", tmp_path / "bundle")
    assert "./nowhere: neither a folder that exists, nor a hub id (owner/name[@revision])" in line
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"x")
    assert "a folder with config.json and weights is required, got a file" in fails(file, "-o", tmp_path / "b")


def test_open_clip_absent(fails, tmp_path):
    try:
        import open_clip  # noqa: F401
    except ImportError:
        line = fails("open_clip:EVA01-g-14/laion400m_s11b_b41k", "-o", tmp_path / "bundle")
        assert "open_clip models need open_clip and torchvision, which are not installed" in line
    else:
        pytest.skip("open_clip is installed in this environment")
