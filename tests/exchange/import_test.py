"""A folder as clip-retrieval writes it, its ids by the step that docs/exchange.md gives."""

import re
import subprocess
import sys

import h5py
import numpy as np
import pandas as pd
from conftest import ROOT, run_match, run_probe


def python_step():
    text = (ROOT / "docs/exchange.md").read_text()
    return re.search(r"```python\n(# ids of clip-retrieval.*?)```", text, re.DOTALL).group(1)


def test_clip_retrieval_output_is_imported(demo, tmp_path):
    with h5py.File(demo[0]) as file:
        vectors = file["image/embedding"][:]
        ids = list(file["items/id"].asstr()[:])
        categories = list(file["items/category"].asstr()[:])
        conditions = list(file["items/condition"].asstr()[:])
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    output = tmp_path / "output"
    for part, rows in enumerate(np.array_split(np.arange(len(ids)), 12)):
        for folder in ("img_emb", "metadata"):
            (output / folder).mkdir(parents=True, exist_ok=True)
        np.save(output / f"img_emb/img_emb_{part:02}.npy", vectors[rows])
        frame = pd.DataFrame({"image_path": [ids[row] for row in rows], "caption": ""})
        frame.to_parquet(output / f"metadata/metadata_{part:02}.parquet")
    subprocess.run([sys.executable, "-c", python_step()], cwd=tmp_path, check=True)
    table = pd.read_csv(tmp_path / "ids.csv", dtype=str)
    assert list(table["id"]) == ids
    table.assign(category=categories, condition=conditions).to_csv(tmp_path / "ids.csv", index=False)
    run_probe("import", output, "--ids", tmp_path / "ids.csv", "--encoder-name", "theirs", "-o",
              tmp_path / "theirs.h5", "-q", home=tmp_path)  # fmt: skip
    with h5py.File(tmp_path / "theirs.h5") as file:
        np.testing.assert_array_equal(file["image/embedding"][:], vectors.astype(np.float32))
        assert file.attrs["encoder"] == "theirs"
    found = run_match(tmp_path / "theirs.h5", "--of", "embedding", home=tmp_path)
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    originals = [row for row, name in enumerate(conditions) if name == "original"]
    assert len(found) == len(originals)
    for query in originals:
        cosines = [(-(unit[query] @ unit[row]), ids[row]) for row in originals if row != query]
        best = [name for _, name in sorted(cosines)[:5]]
        ours = [name for name, _ in found[ids[query]]]
        assert ours == best or np.allclose([c for _, c in found[ids[query]]], [-c for c, _ in sorted(cosines)[:5]], atol=1e-6)
