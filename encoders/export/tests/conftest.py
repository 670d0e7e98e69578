import contextlib
import io
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
torch.set_num_threads(2)
torch._C._jit_set_profiling_mode(False)  # a test runs each shape once: no time to specialise


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """made(builder, *args) -> (checkpoint folder, bundle folder), exported once."""
    from probe_export.cli import main

    done = {}

    def make(builder, options=(), **kwargs):
        # By module too: tiny_models and tiny_open_clip both have a `clip`.
        key = (builder.__module__, builder.__name__, tuple(options), tuple(sorted(kwargs.items())))
        if key not in done:
            root = tmp_path_factory.mktemp(builder.__name__)
            source = root / "source"
            source.mkdir()
            builder(source, **kwargs)
            with contextlib.redirect_stdout(io.StringIO()):
                assert main([str(source), "-o", str(root / "bundle"), "--quiet", *options]) == 0
            done[key] = (source, root / "bundle")
        return done[key]

    return make


@pytest.fixture
def fails(capsys):
    """fails(arguments) -> the one line on stderr of an export that must fail with 1."""
    from probe_export.cli import main

    def run(*arguments):
        assert main([*map(str, arguments), "--quiet"]) == 1
        captured = capsys.readouterr()
        lines = captured.err.strip().splitlines()
        assert captured.out == "" and len(lines) == 1 and lines[0].startswith("probe-export: ")
        return lines[0]

    return run
