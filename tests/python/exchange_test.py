"""Formats of other tools that need no more than numpy, Pillow's absence included: what the
program exports is read back, and what numpy saves is imported."""

import csv
import json
import struct
import zlib

import h5py
import numpy as np
import pytest
from conftest import ROOT, run_probe


def tables_of(result):
    return {table["name"]: table["rows"] for table in json.loads(result.stdout)["tables"]}


def png_pixels(data):
    """RGB pixels of an 8-bit PNG without interlacing, by the specification's five filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        chunks[name] = chunks.get(name, b"") + data[at + 8 : at + 8 + length]
        at += 12 + length
    width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, color, interlace) == (8, 2, 0)
    raw = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    pixels = np.zeros((height, 3 * width), np.uint8)
    for y in range(height):
        above = pixels[y - 1].astype(int) if y else np.zeros(3 * width, int)
        row, kind = raw[y, 1:].astype(int), raw[y, 0]
        for x in range(3 * width):
            left = int(pixels[y, x - 3]) if x >= 3 else 0
            corner = above[x - 3] if x >= 3 else 0
            guess = left + above[x] - corner
            near = min((abs(guess - v), order, v) for order, v in enumerate((left, above[x], corner)))[2]
            add = (0, left, above[x], (left + above[x]) // 2, near)[kind]
            pixels[y, x] = (row[x] + add) & 255
    return pixels.reshape(height, width, 3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_of_numpy_are_imported(embedded, tmp_path, dtype):
    path, folder = embedded
    with h5py.File(path) as file:
        vectors = file["image/embedding"][:].astype(dtype)
        ids = list(file["items/id"].asstr()[:])
        categories = list(file["items/category"].asstr()[:])
    np.save(tmp_path / "v.npy", vectors)
    with open(tmp_path / "ids.csv", "w", newline="") as file:
        csv.writer(file).writerows([("id", "category"), *zip(ids, categories)])
    run_probe("import", tmp_path / "v.npy", "--ids", tmp_path / "ids.csv", "-o", tmp_path / "i.h5",
              "-q", home=folder)  # fmt: skip
    with h5py.File(tmp_path / "i.h5") as file:
        np.testing.assert_array_equal(file["image/embedding"][:], vectors.astype(np.float32))
        assert list(file["items/category"].asstr()[:]) == categories


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.asfortranarray(np.ones((8, 3), np.float32)), "expected C order, got Fortran order"),
        (np.array([[object()]] * 8), "got pickled Python objects"),
        (np.ones((8, 3), ">f4"), 'got ">f4"'),
        (np.ones(8), "expected two dimensions [items, width], got [8]"),
        (np.ones((8, 3), np.complex64), 'got "<c8"'),
        (np.ones(8, [("x", "<f4")]), "got an array of structures"),
    ],
)
def test_other_arrays_of_numpy_are_refused(tmp_path, array, message):
    np.save(tmp_path / "v.npy", array, allow_pickle=True)
    (tmp_path / "ids.txt").write_text("".join(f"{i}\n" for i in range(8)))
    with pytest.raises(Exception) as error:
        run_probe("import", tmp_path / "v.npy", "--ids", tmp_path / "ids.txt", "-o",
                  tmp_path / "i.h5", home=tmp_path)  # fmt: skip
    assert message in error.value.stderr and error.value.returncode == 1


def test_npy_and_json_lines_go_round(embedded, tmp_path):
    path, folder = embedded
    run_probe("export", path, "--items", "jsonl", "-o", tmp_path / "out", "-q", home=folder)
    items = [json.loads(line) for line in open(tmp_path / "out/items.jsonl")]
    with h5py.File(path) as file:
        assert [item["id"] for item in items] == list(file["items/id"].asstr()[:])
        assert items[3]["row"] == 3
    run_probe("import", tmp_path / "out/image_mean_tokens.npy", "--ids", tmp_path / "out/items.jsonl",
              "--as", "mean-tokens", "-o", tmp_path / "back.h5", "-q", home=folder)  # fmt: skip
    arguments = ("--neighbors", "--json", "-q", "--k", "3")
    there = tables_of(run_probe("match", path, *arguments, home=folder))
    back = tables_of(run_probe("match", tmp_path / "back.h5", *arguments, home=folder))
    assert there == back
    with h5py.File(path) as first, h5py.File(tmp_path / "back.h5") as second:
        for name in first["items"]:
            np.testing.assert_array_equal(first["items"][name][:], second["items"][name][:])


def test_projector_files(embedded, tmp_path):
    path, folder = embedded
    run_probe("export", path, "--to", "tsv", "-o", tmp_path, "-q", home=folder)
    with h5py.File(path) as file:
        for name in ("embedding", "mean_tokens"):
            read = np.loadtxt(tmp_path / f"image_{name}.tsv", delimiter="\t", dtype=np.float32)
            np.testing.assert_array_equal(read, file[f"image/{name}"][:])
        texts = np.loadtxt(tmp_path / "text_embedding.tsv", delimiter="\t", dtype=np.float32)
        np.testing.assert_array_equal(texts, file["text/embedding"][:])
        prompts = list(file["text/prompt"].asstr()[:])
        ids = list(file["items/id"].asstr()[:])
    assert (tmp_path / "prompts.tsv").read_text() == "".join(f"{prompt}\n" for prompt in prompts)
    lines = (tmp_path / "metadata.tsv").read_text().splitlines()
    assert lines[0].split("\t")[:2] == ["id", "category"]
    assert [line.split("\t")[0] for line in lines[1:]] == ids
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert config.count("embeddings {") == 3 and config.count("single_image_dim: 64") == 4
    sheet = png_pixels((tmp_path / "sprite.png").read_bytes())
    assert sheet.shape == (192, 192, 3)  # eight squares: three in a row
    assert (sheet[128:, 128:] == 255).all()  # there is no ninth
    for row in range(8):
        square = sheet[row // 3 * 64 :][:64, row % 3 * 64 :][:, :64]
        assert square.std() > 10  # a photo
    green = sheet.astype(int)[..., 1] - sheet.astype(int)[..., 2]
    assert green[:64, :64].mean() > 0


def test_projector_without_pictures(embedded, tmp_path):
    path, folder = embedded
    moved = tmp_path / "moved.h5"
    moved.write_bytes(path.read_bytes())
    with h5py.File(moved, "r+") as file:
        file["items/path"][:] = ["none.jpg"] * 8
    result = run_probe("export", moved, "--to", "tsv", "-o", tmp_path / "a", "-q", home=folder)
    assert "warning: no sprite.png: 8 of 8 pictures could not be read" in result.stderr
    assert not (tmp_path / "a/sprite.png").exists()
    assert "sprite" not in (tmp_path / "a/projector_config.pbtxt").read_text()
    result = run_probe("export", moved, "--to", "tsv", "-o", tmp_path / "b", "-q", "--images",
                       folder / "photos", home=folder)  # fmt: skip
    assert result.stderr == ""
    assert (tmp_path / "b/sprite.png").exists()
    run_probe("export", moved, "--to", "tsv", "-o", tmp_path / "c", "-q", "--no-sprite", home=folder)
    assert not (tmp_path / "c/sprite.png").exists()


def test_fiftyone_files(embedded, tmp_path):
    path, folder = embedded
    run_probe("export", path, "--to", "fiftyone", "-o", tmp_path, "-q", home=folder)
    labels = json.loads((tmp_path / "labels.json").read_text())
    data = json.loads((tmp_path / "data.json").read_text())
    assert labels["classes"] is None and list(labels["labels"]) == sorted(data)
    with h5py.File(path) as file:
        for row, name in enumerate(sorted(labels["labels"])):
            label = labels["labels"][name]
            assert label["label"] == file["items/category"].asstr()[row]
            assert label["attributes"]["item_id"] == file["items/id"].asstr()[row]
            assert (folder / "photos" / label["attributes"]["item_id"]).samefile(data[name])
        np.testing.assert_array_equal(np.load(tmp_path / "image_embedding.npy"), file["image/embedding"][:])


def test_atlas_projection_is_numpys(embedded, tmp_path):
    path, folder = embedded
    run_probe("export", path, "--to", "atlas", "-o", tmp_path, "-q", home=folder)
    with open(tmp_path / "atlas.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with h5py.File(path) as file:
        vectors = file["image/embedding"][:].astype(np.float64)
        assert [row["id"] for row in rows] == list(file["items/id"].asstr()[:])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors -= vectors.mean(axis=0)
    left, scale, _ = np.linalg.svd(vectors, full_matrices=False)
    for place, name in enumerate("xy"):
        ours, theirs = np.array([float(row[name]) for row in rows]), left[:, place] * scale[place]
        np.testing.assert_allclose(ours * np.sign(ours[0]), theirs * np.sign(theirs[0]), atol=1e-5)


def test_parquet_names_the_step_that_writes_it(embedded, tmp_path):
    path, folder = embedded
    with pytest.raises(Exception) as error:
        run_probe("export", path, "--to", "parquet", "-o", tmp_path / "p", home=folder)
    assert error.value.returncode == 2
    assert f"probe-parquet {path} -o FILE.parquet" in error.value.stderr
    assert not (tmp_path / "p").exists()
