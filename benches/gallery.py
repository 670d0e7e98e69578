"""`probe match` on a gallery of a million rows: time, memory and recall of every kind of index.

    .venv/bin/python benches/gallery.py [--rows 1000000] [--queries 1000] [--index exact ivf ivfpq hnsw]

The vectors lie around the centres of made-up categories, in 32 directions and a little in all: recall is that of such
data, not of any encoder's embeddings. hnsw takes about 2 ms of CPU time a row to build and is left out unless it is
named. The first run of a file reads it from disk.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
from probe_embeddings.file import ATTRIBUTES, COLUMNS  # noqa: E402

CATEGORIES = 1000


def write_vectors(path: Path, items: int, queries: int, width: int = 1152) -> None:
    """An embedding file (FORMAT.md) whose last `queries` items are modified ones."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((CATEGORIES, width), dtype=np.float32)
    directions = rng.standard_normal((32, width), dtype=np.float32)
    category = rng.integers(0, CATEGORIES, items)
    with h5py.File(path, "w") as file:
        rows = file.create_dataset("image/embedding", (items, width), "<f4", chunks=(128, width))
        for start in range(0, items, 8192):
            some = category[start : start + 8192]
            inside = rng.standard_normal((len(some), 32), dtype=np.float32) @ directions
            noise = rng.standard_normal((len(some), width), dtype=np.float32)
            rows[start : start + len(some)] = centres[some] + 0.3 * inside + 0.3 * noise
        modified = np.arange(items) >= items - queries
        known = {"id": [f"i{i}" for i in range(items)], "category": [f"c{c}" for c in category],
                 "condition": np.where(modified, "color", "original").tolist()}
        for name in COLUMNS:
            file["items/" + name] = np.array(known.get(name, [""] * items), dtype=object)
        for name in ATTRIBUTES:
            file.attrs[name] = "made up"
        file.attrs.update(format="probe-embeddings", schema_version="1", complete="true", dtype="float32",
                          tiles='{"scheme":"unknown"}', versions='{"probe":"test"}')


def run(probe: Path, path: Path, index: str) -> tuple[float, float, dict]:
    """Seconds, peak MiB of the program (without its first child), and its tables by name."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = subprocess.Popen([probe, "match", path, "--of", "embedding", "--mode", "a2o", "--index", index,
                                    "--json", "-q"], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status != 0:
            sys.exit(f"probe match --index {index}: status {status}")
        out.seek(0)
        return seconds, usage.ru_maxrss / 1024, {table["name"]: table["rows"] for table in json.load(out)["tables"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--width", type=int, default=1152)
    parser.add_argument("--index", nargs="*", default=["exact", "ivf", "ivfpq"])
    options = parser.parse_args()
    print(f"{options.queries} queries, {options.rows} rows x {options.width}, load average {os.getloadavg()[0]:.1f}\n")
    print("| index | seconds | peak MiB | hit@5 | recall@5 |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="probe-gallery-", dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        path = Path(folder) / "gallery.h5"
        write_vectors(path, options.rows + options.queries, options.queries, options.width)
        for index in options.index:
            seconds, memory, tables = run(options.build / "bin/probe", path, index)
            hit = tables["match_a2o"][0]["hit"]
            recall = tables.get("match_a2o_recall", [{}])[0].get("recall")
            found = f"{recall['correct']}/{recall['total']}" if recall else ""
            print(f"| {index} | {seconds:.1f} | {memory:.0f} | {hit['correct']}/{hit['total']} | {found} |", flush=True)


if __name__ == "__main__":
    main()
