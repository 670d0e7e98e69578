"""A few demo photos embedded once by the built program."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_probe(*arguments, home):
    environment = dict(os.environ, HOME=str(home))
    environment.pop("XDG_CACHE_HOME", None)
    return subprocess.run(
        [os.environ["PROBE_PROGRAM"], *map(str, arguments)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="session")
def embedded(tmp_path_factory):
    """(embedding file, its folder): eight photos of two classes in sub-folders."""
    folder = tmp_path_factory.mktemp("probe")
    for category in ("kiwi", "banana"):
        (folder / "photos" / category).mkdir(parents=True)
        for photo in sorted((ROOT / "demo/originals" / category).iterdir())[:4]:
            (folder / "photos" / category / photo.name).write_bytes(photo.read_bytes())
    run_probe("embed", folder / "photos", "-o", folder / "out.h5", "--tokens", "-q", home=folder)
    return folder / "out.h5", folder
