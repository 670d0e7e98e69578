"""A dataset and the file that one undisturbed run makes of it, for engines that shard it."""

import os
import pathlib
import shutil
import subprocess
import time

import h5py
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["PROBE_PROGRAM"]
ONE_AT_A_TIME = ["--batch-size", "1"]
PHOTOS = int(os.environ.get("PROBE_SCALE_PHOTOS", "48"))


def probe(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


def wait_for(what, condition, seconds=240):
    """What `condition` gives, once that is something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s")


def processes_with(*words):
    """Ids of the processes that have all these words on their command line."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_text().split("\0")
        except (OSError, UnicodeDecodeError):
            continue  # gone meanwhile
        if all(word in line for word in words):
            found.append(int(folder.name))
    return found


def content(path):
    """Everything that must be equal, whoever made the file, as bytes."""
    with h5py.File(path) as file:
        assert file.attrs["complete"] == "true"
        names = ["image/embedding", "image/mean_tokens", "text/embedding"]
        strings = ["text/prompt"] + [f"items/{name}" for name in file["items"] if name != "path"]
        return {name: file[name][:].tobytes() for name in names} | {
            name: list(file[name].asstr()[:]) for name in strings
        }


def embed_shards(data, folder, indices, count):
    """Those shards, as the engines make them."""
    folder.mkdir()
    for index in indices:
        target = folder / f"shard-{index}.h5"
        options = ["--shard", f"{index}/{count}", "-o", target, "--threads", "1", *ONE_AT_A_TIME, "-q"]
        assert probe("embed", data, *options).returncode == 0


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """(dataset, the file of an undisturbed run)"""
    folder = tmp_path_factory.mktemp("scale")
    for photo in sorted((ROOT / "demo/originals").glob("*/*.jpg"))[:PHOTOS]:
        (folder / "photos" / photo.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(photo, folder / "photos" / photo.parent.name)
    # As many threads and images at a time as in the shards: others change the last bits.
    done = probe("embed", folder / "photos", "-o", folder / "whole.h5", "--threads", "1", *ONE_AT_A_TIME, "-q")
    assert done.returncode == 0, done.stderr
    return folder / "photos", folder / "whole.h5"
