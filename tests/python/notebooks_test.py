"""Every notebook runs from its first cell to its last on fresh files."""

import pathlib

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: pathlib.Path, embedded, monkeypatch):
    embedding_file, folder = embedded
    monkeypatch.setenv("PROBE_EMBEDDINGS", str(embedding_file))
    monkeypatch.setenv("HOME", str(folder))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs), "no figure was drawn"
    assert all(output.output_type != "error" for output in outputs)
