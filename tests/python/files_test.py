"""Our files, read by h5py and numpy alone; h5py's files, read by the program."""

import csv
import hashlib
import json
import pathlib
import subprocess

import h5py
import numpy as np
import pytest
from conftest import ROOT, run_probe
from PIL import Image


def cosine(a, b):
    return np.sum(a * b, -1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def test_h5py_reads_the_embedding_file(embedded):
    path, folder = embedded
    with h5py.File(path) as file:
        assert file.attrs["format"] == "probe-embeddings"
        assert file.attrs["schema_version"] == "1"
        assert file.attrs["complete"] == "true"
        assert json.loads(file.attrs["preprocessing"])["size"] == 224
        bundle = ROOT / "encoders/demo/bundle/encoder.json"
        assert file.attrs["bundle_sha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()
        ids = file["items/id"].asstr()[:]
        assert list(ids[:2]) == ["banana/banana-01.jpg", "banana/banana-02.jpg"]
        assert set(file["items/category"].asstr()[:]) == {"banana", "kiwi"}
        first = (folder / "photos" / ids[0]).read_bytes()
        assert file["items/content_sha256"].asstr()[0] == hashlib.sha256(first).hexdigest()
        assert file["image/embedding"].shape == (8, 512)
        assert file["image/embedding"].dtype == np.float32
        tokens = file["image/tokens"][:]
        assert tokens.shape == (8, 49, 1280)
        # The mean is the mean of the tokens that stand beside it.
        np.testing.assert_allclose(tokens.mean(1), file["image/mean_tokens"][:], rtol=1e-5, atol=1e-6)


def test_fast_decode_is_pillows_draft_and_says_so(embedded, tmp_path):
    """Pillow's draft mode asks libjpeg for the same reduced sizes. 1400 pixels come at 700, 350 would be under twice
    the tower's 224; 400 stay as they are."""
    _, folder = embedded
    photos = sorted((folder / "photos").glob("*/*.jpg"))[:4]
    for name in ("large", "draft"):
        (tmp_path / name).mkdir()
    for photo in photos:
        with Image.open(photo) as image:
            for side in (1400, 400):
                target = tmp_path / "large" / f"{photo.stem}-{side}.jpg"
                image.convert("RGB").resize((side, side), Image.BICUBIC).save(target, quality=92)
                with Image.open(target) as again:
                    if side == 1400:
                        again.draft("RGB", (700, 700))
                    again.convert("RGB").save(tmp_path / "draft" / f"{target.stem}.png")
    files = {}
    for name, data, more in (("exact", "large", []), ("fast", "large", ["--fast-decode"]), ("draft", "draft", [])):
        files[name] = tmp_path / f"{name}.h5"
        run_probe("embed", tmp_path / data, "-o", files[name], "--no-text", "-q", *more, home=folder)
    sets = {}
    for name, path in files.items():
        with h5py.File(path) as file:
            assert (name == "fast") == ("decode" in json.loads(file.attrs["preprocessing"]))
            order = np.argsort([pathlib.Path(name).stem for name in file["items/id"].asstr()[:]])
            sets[name] = {part: file[f"image/{part}"][:][order] for part in ("embedding", "mean_tokens")}
    for part in ("embedding", "mean_tokens"):
        np.testing.assert_array_equal(sets["fast"][part], sets["draft"][part])
        assert cosine(sets["fast"][part], sets["exact"][part]).min() > 0.99
        same = [np.array_equal(a, b) for a, b in zip(sets["fast"][part], sets["exact"][part], strict=True)]
        assert same == [False, True] * 4  # "-1400", "-400"
    with pytest.raises(subprocess.CalledProcessError) as error:
        run_probe("merge", files["fast"], files["exact"], "-o", tmp_path / "y.h5", home=folder)
    assert "exact.h5: was made in another way than" in error.value.stderr
    assert "preprocessing" in error.value.stderr


def test_float16_is_float16_for_h5py(embedded, tmp_path):
    _, folder = embedded
    run_probe(
        "embed", folder / "photos", "-o", tmp_path / "half.h5", "--store", "float16", "-q", home=folder
    )
    with h5py.File(tmp_path / "half.h5") as half, h5py.File(folder / "out.h5") as full:
        assert half["image/embedding"].dtype == np.float16
        np.testing.assert_array_equal(
            half["image/embedding"][:], full["image/embedding"][:].astype(np.float16)
        )


def test_numpy_reads_the_export(embedded, tmp_path):
    path, folder = embedded
    run_probe("export", path, "-o", tmp_path, "-q", home=folder)
    with h5py.File(path) as file:
        np.testing.assert_array_equal(
            np.load(tmp_path / "image_embedding.npy"), file["image/embedding"][:]
        )
        np.testing.assert_array_equal(np.load(tmp_path / "image_tokens.npy"), file["image/tokens"][:])
    run_probe("export", path, "--to", "csv", "--normalize", "-o", tmp_path, "-q", home=folder)
    with open(tmp_path / "image_embedding.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["id", "v0"]
    values = np.array([row[1:] for row in rows[1:]], dtype=np.float32)
    np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1, atol=1e-6)


def test_match_equals_numpy(embedded):
    path, folder = embedded
    result = run_probe("match", path, "--neighbors", "--json", "-q", "--k", "3", home=folder)
    tables = {table["name"]: table["rows"] for table in json.loads(result.stdout)["tables"]}
    with h5py.File(path) as file:
        vectors = file["image/mean_tokens"][:].astype(np.float64)
        ids = list(file["items/id"].asstr()[:])
        categories = file["items/category"].asstr()[:]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :3]
    got = {(row["query"], row["rank"]): row for row in tables["match_o2o_neighbors"]}
    for query in range(8):
        for rank in range(3):
            row = got[ids[query], rank + 1]
            assert row["neighbor"] == ids[order[query, rank]]
            assert abs(row["cosine"] - scores[query, order[query, rank]]) < 1e-5
    right = categories[order] == categories[:, None]
    score = tables["match_o2o"][0]
    assert score["hit"]["correct"] == right.any(1).sum()
    assert abs(score["mean_fraction"] - right.mean()) < 1e-9
    first = np.where(right.any(1), 1 / (right.argmax(1) + 1), 0)
    assert abs(score["mrr"] - first.mean()) < 1e-9


def test_the_program_reads_what_h5py_writes(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((6, 16)).astype(np.float16)
    vectors[1] = vectors[0] * 2  # the same direction: item 0's nearest
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        for name in ("encoder", "architecture", "bundle_sha256", "preprocessing", "layer"):
            file.attrs[name] = "unknown"
        for name in ("pooling", "compute_dtype", "runtime", "command_line"):
            file.attrs[name] = "unknown"
        file.attrs.update({"format": "probe-embeddings", "schema_version": "1", "versions": "{}"})
        file["image/mean_tokens"] = vectors
        text = h5py.string_dtype()
        columns = {"id": "abcdef", "category": "xxyyzz"}
        for name in ("id", "path", "category", "original_id", "attribute", "content_sha256"):
            values = list(columns.get(name, " " * 6))
            file.create_dataset(f"items/{name}", data=[v.strip() for v in values], dtype=text)
        file.create_dataset("items/condition", data=["original"] * 6, dtype=text)
    result = run_probe(
        "match", tmp_path / "theirs.h5", "--json", "-q", "--neighbors", "--k", "1", home=tmp_path
    )
    tables = {table["name"]: table["rows"] for table in json.loads(result.stdout)["tables"]}
    assert tables["match_o2o_neighbors"][0]["neighbor"] == "b"
    assert abs(tables["match_o2o_neighbors"][0]["cosine"] - 1) < 1e-6


def test_zero_shot_equals_numpy(embedded, tmp_path):
    _, folder = embedded
    names = ["kiwi", "banana", "plum", "tomato"]
    with open(tmp_path / "q.jsonl", "w") as file:
        for category in ("kiwi", "banana"):
            for photo in sorted((folder / "photos" / category).iterdir()):
                item = f"{category}/{photo.name}"
                question = {"question_id": item, "item_id": item, "type": "choice"}
                file.write(json.dumps(question | {"choices": names, "answer": names.index(category)}) + "\n")
    run_probe(
        "embed", folder / "photos", "--questions", tmp_path / "q.jsonl", "-o", tmp_path / "q.h5", "-q", home=folder
    )
    result = run_probe(
        "zeroshot", tmp_path / "q.h5", "--questions", tmp_path / "q.jsonl", "--json", "-q", home=folder
    )
    with h5py.File(tmp_path / "q.h5") as file:
        images, texts = file["image/embedding"][:], file["text/embedding"][:]
        prompts = list(file["text/prompt"].asstr()[:])
        categories = file["items/category"].asstr()[:]
    rows = [prompts.index(f"a photo of a {name}.") for name in names]
    picked = cosine(images[:, None], texts[rows][None]).argmax(1)
    correct = sum(names[p] == c for p, c in zip(picked, categories))
    tables = {table["name"]: table["rows"] for table in json.loads(result.stdout)["tables"]}
    assert tables["choice_by_condition"][0]["accuracy"]["correct"] == correct
    assert tables["choice_by_condition"][0]["accuracy"]["total"] == 8


def test_h5py_reads_shards_and_both_kinds_of_joined_files(embedded, tmp_path):
    """h5py follows the names of a virtual file by itself; hashes and ranges are computed here anew."""
    path, folder = embedded
    for index in range(3):
        run_probe(
            "embed", folder / "photos", "--shard", f"{index}/3", "-o", tmp_path / f"s-{index}.h5", "--tokens", "-q",
            home=folder,
        )
    run_probe("merge", tmp_path / "s-*.h5", "-o", tmp_path / "real.h5", "-q", home=folder)
    run_probe("merge", tmp_path / "s-*.h5", "-o", tmp_path / "virtual.h5", "--virtual", "-q", home=folder)
    with h5py.File(path) as whole:
        ids = list(whole["items/id"].asstr())
        for index in range(3):
            with h5py.File(tmp_path / f"s-{index}.h5") as shard:
                first, last = index * 8 // 3, (index + 1) * 8 // 3
                assert list(shard["items/id"].asstr()) == ids[first:last]
                assert ("text" in shard) == (index == 0)
                about = json.loads(shard.attrs["shard"])
                assert (about["index"], about["count"], about["total"]) == (index, 3, 8)
                listed = "".join(name + "\0" for name in ids).encode()
                assert about["ids_sha256"] == hashlib.sha256(listed).hexdigest()
        for name in ("real.h5", "virtual.h5"):
            with h5py.File(tmp_path / name) as joined:
                assert json.loads(joined.attrs["merged_from"])["files"] == 3
                assert "shard" not in joined.attrs
                for rows in ("image/embedding", "image/mean_tokens", "image/tokens", "text/embedding"):
                    assert joined[rows].dtype == whole[rows].dtype
                    np.testing.assert_array_equal(joined[rows][:], whole[rows][:])
                for column in whole["items"]:
                    assert list(joined["items"][column].asstr()) == list(whole["items"][column].asstr())
                assert joined["image/embedding"].is_virtual == (name == "virtual.h5")
