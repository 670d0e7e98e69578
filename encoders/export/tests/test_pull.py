"""`probe encoders pull` with the real exporter: from a folder, and from a hub that this
test serves on the loopback interface, through huggingface_hub's own download and cache.
Runs where the program is built (PROBE_PROGRAM, or build/release/bin/probe)."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tiny_models

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("PROBE_PROGRAM", ROOT / "build/release/bin/probe"))
REVISION = "0123456789abcdef0123456789abcdef01234567"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built"),
]


@pytest.fixture
def pull(tmp_path):
    """pull(*arguments, **environment) -> finished process; bundles go to tmp_path/encoders."""

    def run(*arguments, **environment):
        added = {"HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf"), "PROBE_PYTHON": sys.executable,
                 "PYTHONPATH": str(ROOT / "encoders/export"), **environment}
        command = [PROGRAM, "encoders", "pull", *arguments, "--encoder-dir", tmp_path / "encoders"]
        return subprocess.run([str(word) for word in command], env={**os.environ, **added}, capture_output=True,
                              text=True)

    return run


@pytest.fixture
def hub(tmp_path):
    """A hub that serves the files of `folder` as owner/tiny: start(folder) -> its address."""
    servers = []

    def start(folder):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self, body=True):
                path = folder / self.path.rsplit("/", 1)[-1]
                known = self.path.startswith("/owner/tiny/resolve/") and path.is_file()
                content = path.read_bytes() if known else b""
                self.send_response(200 if known else 404)
                if known:
                    self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
                else:
                    self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("X-Repo-Commit", REVISION)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if body:
                    self.wfile.write(content)

            def do_HEAD(self):
                self.do_GET(body=False)

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()


def left(tmp_path):
    folder = tmp_path / "encoders"
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def test_from_the_hub_into_cache_and_bundle(pull, hub, made, tmp_path):
    address = hub(made(tiny_models.clip)[0])
    done = pull("owner/tiny", HF_ENDPOINT=address)
    assert done.returncode == 0, done.stderr
    assert left(tmp_path) == ["tiny"] and "exported and verified" in done.stdout
    source = json.loads((tmp_path / "encoders/tiny/encoder.json").read_text())["source"]
    assert source["checkpoint"] == "owner/tiny" and source["revision"] == REVISION
    assert (tmp_path / f"hf/hub/models--owner--tiny/snapshots/{REVISION}/model.safetensors").exists()
    lines = done.stderr.splitlines()
    cost = [i for i, line in enumerate(lines) if "owner/tiny: downloading model.safetensors, " in line]
    assert len(cost) == 1 and "GiB of memory if these weights are float32" in lines[cost[0]]
    needs = [i for i, line in enumerate(lines) if "the export needs about" in line and "parameters" in line]
    assert cost[0] < needs[0] < len(lines)


def test_offline_is_one_line(pull, tmp_path):
    done = pull("siglip", HF_HUB_OFFLINE="1")
    assert done.returncode == 1 and done.stdout == "" and left(tmp_path) == []
    assert done.stderr.splitlines() == [
        "error: google/siglip-so400m-patch14-384: config.json is not in the Hugging Face cache and the hub cannot be "
        "reached; on a machine with internet run `hf download google/siglip-so400m-patch14-384 --local-dir FOLDER`, "
        "bring FOLDER here and pass its path as MODEL: `probe-export FOLDER -o BUNDLE`"]


def test_hub_that_does_not_answer_is_one_line(pull, tmp_path):
    done = pull("owner/tiny", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 1 and left(tmp_path) == []
    assert len(done.stderr.splitlines()) == 1 and "the hub cannot be reached" in done.stderr


def test_from_a_folder(pull, made, tmp_path):
    done = pull(made(tiny_models.llava, kind="clip")[0], "--as", "llava-next", "--layers=-2")
    assert done.returncode == 0, done.stderr
    layers = json.loads((tmp_path / "encoders/llava-next/encoder.json").read_text())["image"]["layers"]
    assert [layer["name"] for layer in layers] == ["-2"]


def test_refused_checkpoint_leaves_nothing(pull, made, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "config.json").write_text('{"model_type": "blip"}')
    done = pull(source)
    assert done.returncode == 1 and left(tmp_path) == []
    assert done.stderr.startswith("error: ") and len(done.stderr.splitlines()) == 1
    assert "model_type 'blip'; supported are clip, siglip" in done.stderr
