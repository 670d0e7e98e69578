"""Every notebook runs from its first cell to its last on fresh files."""

import json
import os
import pathlib

import nbformat
import pytest
from conftest import ROOT, run_probe
from nbclient import NotebookClient

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SAMPLES = [ROOT / "tests/data/report" / f"{name}.json" for name in ("zeroshot", "compare", "match")]


def has_intervals(table):
    cells = [cell for row in table["rows"] for cell in row.values() if isinstance(cell, dict)]
    return any(cell.get("percent") is not None and "low" in cell for cell in cells)


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["embeddings", "figures", "umap"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: pathlib.Path, embedded, monkeypatch):
    embedding_file, folder = embedded
    monkeypatch.setenv("PROBE_EMBEDDINGS", str(embedding_file))
    run_probe("match", embedding_file, "--tables", folder / "match", "-q", home=folder)  # a result with its CSV
    results = [*SAMPLES, folder / "match/result.json"]
    monkeypatch.setenv("PROBE_RESULTS", os.pathsep.join(map(str, results)))
    monkeypatch.setenv("HOME", str(folder))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert all(output.output_type != "error" for output in outputs)
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    if path.stem == "figures":  # every figure with marks, and one for each table with accuracies and intervals
        read = [json.loads(result.read_text()) for result in results]
        figures = sum(bool(figure["marks"]) for result in read for figure in result["figures"])
        tables = sum(has_intervals(table) for result in read for table in result["tables"])
        assert figures > 8 and tables > 3
        assert pictures == figures + tables
    else:
        assert pictures == {"embeddings": 2, "umap": 1}[path.stem]
