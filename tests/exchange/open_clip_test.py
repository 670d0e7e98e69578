"""Features of open_clip's own model and tokenizer (random weights: none are here), saved by
np.save and imported: `probe match` and `probe zeroshot` give what torch gives."""

import json

import h5py
import numpy as np
import pytest
from conftest import ROOT, run_match, run_probe
from PIL import Image

open_clip = pytest.importorskip("open_clip", reason="open_clip is not installed here: scripts/parity_export.sh makes .venv-open-clip")
torch = pytest.importorskip("torch")

NAMES = ["kiwi", "banana", "plum"]


def test_open_clip_features_are_imported(tmp_path):
    torch.manual_seed(0)
    vision = open_clip.CLIPVisionCfg(image_size=56, layers=2, width=64, head_width=32, patch_size=14)
    text = open_clip.CLIPTextCfg(width=64, heads=2, layers=2)
    model = open_clip.CLIP(embed_dim=32, vision_cfg=vision, text_cfg=text).eval()
    pixels = open_clip.image_transform(56, is_train=False)
    items = [json.loads(line) for line in open(ROOT / "demo/items.jsonl")]
    items = [item for item in items if item["category"] in NAMES and item["condition"] == "original"]
    prompts = [f"a photo of a {name}." for name in NAMES]
    with torch.no_grad():
        batch = torch.stack([pixels(Image.open(ROOT / "demo" / item["image"])) for item in items])
        images = model.encode_image(batch, normalize=True)
        texts = model.encode_text(open_clip.get_tokenizer("ViT-B-32")(prompts), normalize=True)
    np.save(tmp_path / "images.npy", images.half().numpy())
    np.save(tmp_path / "texts.npy", texts.half().numpy())
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    (tmp_path / "prompts.txt").write_text("\n".join(prompts))
    run_probe("import", tmp_path / "images.npy", "--ids", tmp_path / "items.jsonl", "--text-vectors",
              tmp_path / "texts.npy", "--prompts", tmp_path / "prompts.txt", "--encoder-name",
              "open_clip, random weights", "-o", tmp_path / "theirs.h5", "-q", home=tmp_path)  # fmt: skip
    with h5py.File(tmp_path / "theirs.h5") as file:
        np.testing.assert_array_equal(file["image/embedding"][:], images.half().float().numpy())

    images, texts = images.half().double(), texts.half().double()
    images, texts = (rows / rows.norm(dim=1, keepdim=True) for rows in (images, texts))
    cosines = images @ images.T
    found = run_match(tmp_path / "theirs.h5", "--of", "embedding", home=tmp_path)
    assert len(found) == len(items) > 20
    for row, item in enumerate(items):
        others = cosines[row].clone()
        others[row] = -2
        best = others.topk(5)
        np.testing.assert_allclose([c for _, c in found[item["id"]]], best.values, atol=1e-6)
        ours = [name for name, _ in found[item["id"]]]
        assert ours == [items[i]["id"] for i in best.indices] or best.values.diff().abs().min() < 1e-6

    questions = [{"question_id": item["id"], "item_id": item["id"], "type": "choice", "choices": NAMES,
                  "answer": NAMES.index(item["category"])} for item in items]  # fmt: skip
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    result = run_probe("zeroshot", tmp_path / "theirs.h5", "--questions", tmp_path / "q.jsonl", "--template",
                       "a photo of a {}.", "--json", "-q", home=tmp_path)  # fmt: skip
    tables = {table["name"]: table["rows"] for table in json.loads(result)["tables"]}
    picked = (images @ texts.T).argmax(1)
    correct = sum(NAMES[p] == item["category"] for p, item in zip(picked, items))
    assert tables["choice_by_condition"][0]["accuracy"]["correct"] == correct
