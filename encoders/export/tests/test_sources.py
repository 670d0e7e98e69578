"""The hub cache without a network, and what the command says before it loads."""

import json
import shutil

import pytest

import tiny_models
from probe_export.cli import main

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty Hugging Face cache and no network."""
    from huggingface_hub import constants

    folder = tmp_path / "hub"
    folder.mkdir()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return folder


def fill(cache, repo, source):
    """As huggingface_hub leaves a downloaded repository."""
    folder = cache / f"models--{repo.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs/main").write_text(REVISION)
    shutil.copytree(source, folder / "snapshots" / REVISION)
    return folder / "snapshots" / REVISION


def test_offline_says_what_is_missing_and_how_to_bring_it(cache, fails, tmp_path):
    line = fails("openai/clip-vit-large-patch14-336", "-o", tmp_path / "bundle")
    assert "openai/clip-vit-large-patch14-336: config.json is not in the Hugging Face cache" in line
    assert "run `hf download openai/clip-vit-large-patch14-336 --local-dir FOLDER`" in line
    assert "bring FOLDER here and pass its path as MODEL" in line


def test_short_names_stand_for_the_papers_encoders(cache, fails, tmp_path):
    assert "google/siglip-so400m-patch14-384: config.json is not" in fails("siglip", "-o", tmp_path / "bundle")
    assert "laion/CLIP-ViT-H-14-laion2B-s32B-b79K: config.json" in fails("clip-h", "-o", tmp_path / "bundle")


def test_export_from_a_filled_cache(cache, made, tmp_path):
    fill(cache, "owner/tiny-clip", made(tiny_models.clip)[0])
    assert main(["owner/tiny-clip", "-o", str(tmp_path / "bundle"), "--quiet"]) == 0
    source = json.loads((tmp_path / "bundle/encoder.json").read_text())["source"]
    assert source["checkpoint"] == "owner/tiny-clip" and source["revision"] == REVISION


def test_cache_without_the_weights(cache, made, fails, tmp_path):
    snapshot = fill(cache, "owner/tiny-clip", made(tiny_models.clip)[0])
    (snapshot / "model.safetensors").unlink()
    line = fails("owner/tiny-clip", "-o", tmp_path / "bundle")
    assert "model.safetensors" in line and "hf download owner/tiny-clip" in line


def test_memory_is_said_before_anything_is_loaded(made, tmp_path, capsys):
    source = made(tiny_models.llava, kind="clip")[0]
    assert main([str(source), "-o", str(tmp_path / "bundle"), "--dry-run"]) == 0
    line = capsys.readouterr().err
    assert "parameters; the export needs about" in line and "GiB of memory and writes" in line
    assert list(tmp_path.iterdir()) == []


def test_name_licence_source_and_template_are_written(made, tmp_path, capsys):
    source = made(tiny_models.llava, kind="clip")[0]
    assert main([str(source), "-o", str(tmp_path / "My Bundle"), "--licence", "Apache-2.0", "--source", "hub/x",
                 "--template", "a photo of a {}.", "--template", "{}"]) == 0
    spec = json.loads((tmp_path / "My Bundle/encoder.json").read_text())
    assert spec["name"] == "my-bundle" and spec["licence"] == "Apache-2.0"
    assert spec["source"]["checkpoint"] == "hub/x" and spec["templates"] == ["a photo of a {}.", "{}"]
    assert "cosine to the reference" in capsys.readouterr().out


def test_tokenizer_json_alone_gives_the_same_merges(made, tmp_path):
    source, bundle = made(tiny_models.clip)
    copy = shutil.copytree(source, tmp_path / "source")
    lines = (copy / "merges.txt").read_text().splitlines()[1:]
    vocabulary = json.loads((copy / "vocab.json").read_text())
    model = {"type": "BPE", "vocab": vocabulary, "merges": [line.split(" ") for line in lines]}
    (copy / "tokenizer.json").write_text(json.dumps({"model": model}))
    (copy / "merges.txt").unlink()
    (copy / "vocab.json").unlink()
    assert main([str(copy), "-o", str(tmp_path / "bundle"), "--quiet"]) == 0
    assert (tmp_path / "bundle/merges.txt.gz").read_bytes() == (bundle / "merges.txt.gz").read_bytes()


def test_processor_inside_processor_config(made, tmp_path):
    """Where transformers 5 saves it."""
    source, bundle = made(tiny_models.siglip)
    copy = shutil.copytree(source, tmp_path / "source")
    values = json.loads((copy / "preprocessor_config.json").read_text())
    (copy / "processor_config.json").write_text(json.dumps({"image_processor": values}))
    (copy / "preprocessor_config.json").unlink()
    assert main([str(copy), "-o", str(tmp_path / "bundle"), "--quiet"]) == 0
    a, b = (json.loads((f / "encoder.json").read_text()) for f in (bundle, tmp_path / "bundle"))
    assert a["image"] == b["image"]


def test_old_processor_files_with_bare_numbers(made, tmp_path):
    """As openai/clip-vit-large-patch14-336 has it: size and crop_size are numbers."""
    source, bundle = made(tiny_models.clip)
    copy = shutil.copytree(source, tmp_path / "source")
    (copy / "preprocessor_config.json").write_text(json.dumps({
        "crop_size": 56, "do_center_crop": True, "do_normalize": True, "do_resize": True,
        "feature_extractor_type": "CLIPFeatureExtractor", "resample": 3, "size": 56,
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}))
    assert main([str(copy), "-o", str(tmp_path / "bundle"), "--quiet"]) == 0
    a, b = (json.loads((f / "encoder.json").read_text()) for f in (bundle, tmp_path / "bundle"))
    assert a["image"] == b["image"]
