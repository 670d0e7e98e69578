"""The demo, embedded once by the built program, and written as Parquet once."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_probe(*arguments, home):
    environment = dict(os.environ, HOME=str(home))
    environment.pop("XDG_CACHE_HOME", None)
    result = subprocess.run(
        [os.environ["PROBE_PROGRAM"], *map(str, arguments)], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def run_match(path, *arguments, home):
    """query id -> [(neighbour id, cosine), ...], best first: what `probe match` prints."""
    result = run_probe("match", path, "--neighbors", "--json", "-q", "--k", "5", *arguments, home=home)
    tables = {table["name"]: table["rows"] for table in json.loads(result)["tables"]}
    found = {}
    for row in tables["match_o2o_neighbors"]:
        found.setdefault(row["query"], []).append((row["rank"], row["neighbor"], row["cosine"]))
    return {query: [(name, cosine) for _, name, cosine in sorted(rows)] for query, rows in found.items()}


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """(embedding file of the whole demo, its folder)"""
    folder = tmp_path_factory.mktemp("demo")
    run_probe("embed", ROOT / "demo", "-o", folder / "demo.h5", "-q", home=folder)
    return folder / "demo.h5", folder


@pytest.fixture(scope="session")
def parquet(demo):
    path, folder = demo
    command = pathlib.Path(sys.executable).parent / "probe-parquet"  # as pip installed it
    result = subprocess.run(
        [command, path, "-o", folder / "demo.parquet", "--rows", "100"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return folder / "demo.parquet"
