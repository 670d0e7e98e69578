"""TensorBoard's own projector plugin reads and serves what `probe export --to tsv` wrote."""

import io
import json

import h5py
import numpy as np
import pytest
from conftest import run_probe
from PIL import Image
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.plugins import base_plugin
from tensorboard.plugins.projector import projector_plugin
from werkzeug.test import Client


@pytest.fixture(scope="module")
def served(demo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    run_probe("export", demo[0], "--to", "tsv", "-o", folder, "-q", home=demo[1])
    provider = data_provider.MultiplexerDataProvider(plugin_event_multiplexer.EventMultiplexer(), str(folder))
    plugin = projector_plugin.ProjectorPlugin(base_plugin.TBContext(logdir=str(folder), data_provider=provider))
    apps = plugin.get_plugin_apps()

    def get(route, **query):
        response = Client(apps[route]).get(route, query_string=query)
        assert response.status_code == 200, response.data
        return response.data

    assert json.loads(get("/runs")) == ["."]
    return get


def test_config_is_understood(served, demo):
    config = json.loads(served("/info", run="."))
    entries = {entry["tensorName"]: entry for entry in config["embeddings"]}
    with h5py.File(demo[0]) as file:
        n, m = len(file["items/id"]), len(file["text/prompt"])
    assert entries["image_embedding"]["tensorShape"] == [n, 512]
    assert entries["image_mean_tokens"]["tensorShape"] == [n, 1280]
    assert entries["text_embedding"]["tensorShape"] == [m, 512]
    assert entries["image_embedding"]["sprite"]["singleImageDim"] == [64, 64]
    assert "sprite" not in entries["text_embedding"]


def test_vectors_and_metadata_are_served(served, demo):
    with h5py.File(demo[0]) as file:
        for name in ("image/embedding", "image/mean_tokens", "text/embedding"):
            data = served("/tensor", run=".", name=name.replace("/", "_"))
            stored = file[name][:]
            np.testing.assert_array_equal(np.frombuffer(data, np.float32).reshape(stored.shape), stored)
        ids = list(file["items/id"].asstr()[:])
        prompts = list(file["text/prompt"].asstr()[:])
    lines = served("/metadata", run=".", name="image_embedding").decode().splitlines()
    assert lines[0].split("\t")[0] == "id"
    assert [line.split("\t")[0] for line in lines[1:]] == ids
    assert served("/metadata", run=".", name="text_embedding").decode().splitlines() == prompts


def test_each_square_is_its_picture(served, demo):
    sheet = Image.open(io.BytesIO(served("/sprite_image", run=".", name="image_embedding"))).convert("RGB")
    with h5py.File(demo[0]) as file:
        paths = list(file["items/path"].asstr()[:])
    per_row = int(np.ceil(np.sqrt(len(paths))))
    assert sheet.size == (64 * per_row, 64 * per_row)
    for row in range(0, len(paths), 13):
        square = sheet.crop((row % per_row * 64, row // per_row * 64, row % per_row * 64 + 64, row // per_row * 64 + 64))
        photo = Image.open(paths[row]).convert("RGB")
        photo.thumbnail((64, 64), Image.Resampling.BOX)
        left, top = (64 - photo.width) // 2, (64 - photo.height) // 2
        drawn = np.asarray(square.crop((left, top, left + photo.width, top + photo.height)), int)
        assert np.abs(drawn - np.asarray(photo, int)).mean() < 6, paths[row]
