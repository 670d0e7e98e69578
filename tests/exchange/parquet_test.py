"""Parquet of probe-parquet, read by pandas and pyarrow; Embedding Atlas's own loader."""

import csv
import json
import subprocess
import sys
import pathlib

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import run_probe

COMMAND = pathlib.Path(sys.executable).parent / "probe-parquet"


def test_pandas_reads_every_value(demo, parquet):
    frame = pd.read_parquet(parquet)
    with h5py.File(demo[0]) as file:
        for name in file["items"]:
            assert list(frame[name]) == list(file["items"][name].asstr()[:]), name
        for name in ("embedding", "mean_tokens"):
            stored = file["image"][name][:]
            np.testing.assert_array_equal(np.stack(frame[name]), stored)
            assert np.stack(frame[name]).dtype == np.float32


def test_it_is_streamed_in_whole_chunks_with_its_provenance(demo, parquet):
    file = pq.ParquetFile(parquet)
    with h5py.File(demo[0]) as theirs:
        chunk = max(theirs[f"image/{name}"].chunks[0] for name in ("embedding", "mean_tokens"))
        attributes = {f"probe.{name}": str(value) for name, value in theirs.attrs.items()}
        n = len(theirs["items/id"])
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert sum(groups) == n and len(groups) > 1
    assert all(rows % chunk == 0 for rows in groups[:-1])
    metadata = {name.decode(): value.decode() for name, value in file.schema_arrow.metadata.items()}
    assert attributes.items() <= metadata.items()
    assert file.schema_arrow.field("embedding").type == pa.list_(pa.float32(), 512)


def test_float16_and_imported_files(demo, tmp_path):
    np.save(tmp_path / "v.npy", np.eye(5, 4, dtype=np.float16) + 1)
    (tmp_path / "ids.txt").write_text("a\nb\nc\nd\ne\n")
    run_probe("import", tmp_path / "v.npy", "--ids", tmp_path / "ids.txt", "--store", "float16", "-o",
              tmp_path / "i.h5", "-q", home=tmp_path)  # fmt: skip
    subprocess.run([COMMAND, tmp_path / "i.h5", "-o", tmp_path / "i.parquet"], check=True)
    frame = pd.read_parquet(tmp_path / "i.parquet")
    assert "mean_tokens" not in frame
    np.testing.assert_array_equal(np.stack(frame["embedding"]), np.eye(5, 4) + 1)
    metadata = pq.read_schema(tmp_path / "i.parquet").metadata
    assert metadata[b"probe.preprocessing"] == b"imported, preprocessing unknown"


def test_mistakes_leave_nothing_behind(demo, tmp_path):
    for source, message in ((tmp_path / "none.h5", "error: "), (__file__, "error: ")):
        result = subprocess.run([COMMAND, source, "-o", tmp_path / "p"], capture_output=True, text=True)
        assert result.returncode == 1 and result.stderr.startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_embedding_atlas_loads_both(demo, parquet, tmp_path):
    utils = pytest.importorskip("embedding_atlas.utils", reason="embedding-atlas is not installed")
    run_probe("export", demo[0], "--to", "atlas", "-o", tmp_path, "-q", home=demo[1])
    frame = utils.load_pandas_data(str(tmp_path / "atlas.csv"))
    with open(tmp_path / "atlas.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(frame["id"]) == [row["id"] for row in rows]
    assert frame["x"].dtype == np.float64 and frame["y"].dtype == np.float64
    np.testing.assert_array_equal(frame["x"], [float(row["x"]) for row in rows])
    vectors = utils.load_pandas_data(str(parquet))["embedding"]
    assert len(vectors) == len(rows) and len(vectors[0]) == 512


def test_json_lines_are_read_by_pandas(demo, tmp_path):
    run_probe("export", demo[0], "--items", "jsonl", "-o", tmp_path, "-q", home=demo[1])
    frame = pd.read_json(tmp_path / "items.jsonl", lines=True, dtype=False)
    expected = [json.loads(line)["id"] for line in open(tmp_path / "items.jsonl")]
    assert list(frame["id"]) == expected and len(expected) == len(np.load(tmp_path / "image_embedding.npy"))
