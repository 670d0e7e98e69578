"""What the world does to a running `probe`, and what must be left afterwards."""

import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))
from gallery import write_vectors  # noqa: E402

PROGRAM = os.environ["PROBE_PROGRAM"]
KILLS = int(os.environ.get("PROBE_KILLS", "6"))


def environment(home):
    cleaned = dict(os.environ, HOME=str(home))
    cleaned.pop("XDG_CACHE_HOME", None)
    return cleaned


def probe(*arguments, home, **options):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], env=environment(home), capture_output=True, text=True, **options
    )


def vectors(path):
    """Every vector set and the ids, as bytes."""
    with h5py.File(path) as file:
        assert file.attrs["complete"] == "true"
        return {name: file[name][:].tobytes() for name in ("image/embedding", "image/mean_tokens")} | {
            "ids": list(file["items/id"].asstr()[:])
        }


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """60 demo photos, and the file that an undisturbed run makes of them."""
    folder = tmp_path_factory.mktemp("faults")
    for photo in sorted((ROOT / "demo/originals").glob("*/*.jpg"))[:60]:
        (folder / "photos" / photo.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(photo, folder / "photos" / photo.parent.name)
    done = probe("embed", folder / "photos", "-o", folder / "whole.h5", "-q", home=folder)
    assert done.returncode == 0, done.stderr
    return folder / "photos", folder / "whole.h5"


def found(errors):
    """Vectors that a resumed run says it found."""
    lines = [line for line in errors.splitlines() if line.startswith("resuming: ")]
    return int(lines[0].split()[1]) if lines else 0


def test_killed_at_random_moments(photos, tmp_path):
    """kill -9, SIGTERM and Ctrl-C in turn: nothing found is lost, nothing half-written has the final
    name, and what is finished in the end is what an undisturbed run writes."""
    data, whole = photos
    expected = vectors(whole)
    rng = random.Random(8)
    out = tmp_path / "x.h5"
    kills, finished, safe = 0, 0, 0
    while kills < KILLS or finished == 0:
        with open(tmp_path / "errors", "w+") as errors:
            process = subprocess.Popen(
                [PROGRAM, "embed", data, "-o", out],
                env=environment(tmp_path), stdout=subprocess.DEVNULL, stderr=errors,
            )
            kind = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[kills % 3]
            try:
                process.wait(rng.uniform(0.05, 6) if kills < KILLS else 300)
            except subprocess.TimeoutExpired:
                process.send_signal(kind)
                process.wait()
                kills += 1
            errors.seek(0)
            said = errors.read()
        if "embedding with" in said or "resuming" in said:
            assert found(said) >= safe, said  # what was once safe stays safe
            safe = max(safe, found(said))
        if out.exists():
            assert vectors(out) == expected
            finished += 1
            safe = 0
            out.unlink()
            (tmp_path / "x.h5.part").unlink(missing_ok=True)
        else:
            assert process.returncode != 0
    print(f"{kills} kills, {finished} finished files")


def in_small_filesystem(size, script, folder):
    """Runs the script with a file system of that size on `folder`, in a mount namespace of its own."""
    command = f"mount -t tmpfs -o size={size} tmpfs '{folder}' && {script}"
    flags = "-m" if os.geteuid() == 0 else "-rm"
    return subprocess.run(
        ["unshare", flags, "bash", "-c", command], env=environment(folder.parent), capture_output=True, text=True
    )


def test_Bugcase38_disk_full(photos, tmp_path):
    data, whole = photos
    small = tmp_path / "small"
    small.mkdir()
    if in_small_filesystem("1m", "true", small).returncode != 0:
        pytest.skip("no mount namespace may be made here")
    result = in_small_filesystem(
        "200k",
        f"'{PROGRAM}' embed '{data}' -o '{small}/x.h5' -q; echo code $?; ls '{small}'; "
        f"mount -o remount,size=8m '{small}'; '{PROGRAM}' embed '{data}' -o '{small}/x.h5'; echo code $?; "
        f"cp '{small}/x.h5' '{tmp_path}/copy.h5'",
        small,
    )
    assert result.stdout.split("\n")[:2] == ["code 1", "x.h5.part"], result
    assert "x.h5.part: cannot write: No space left on device (" in result.stderr
    assert "rows are safely written)" in result.stderr
    assert found(result.stderr) > 0
    assert vectors(tmp_path / "copy.h5") == vectors(whole)
    # A table: an earlier whole file of that name stays as it was.
    result = in_small_filesystem(
        "400k",
        f"'{PROGRAM}' zeroshot '{ROOT}/demo/animals' --encoder demo --tables '{small}/t' -q >/dev/null; "
        f"sha256sum < '{small}/t/result.json'; head -c 399999 /dev/zero > '{small}/fill' 2>/dev/null; "
        f"'{PROGRAM}' zeroshot '{ROOT}/demo/animals' --encoder demo --tables '{small}/t' -q >/dev/null; echo code $?; "
        f"sha256sum < '{small}/t/result.json'",
        small,
    )
    before, code, after = result.stdout.strip().split("\n")
    assert code == "code 1", result
    assert before == after
    assert "cannot write: No space left on device" in result.stderr


def test_file_size_limit(photos, tmp_path):
    """A quota that ends a write is an error with a message, not a signal that kills."""
    data, whole = photos

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    out = tmp_path / "x.h5"
    stopped = probe("embed", data, "-o", out, "-q", home=tmp_path, preexec_fn=limit)
    assert stopped.returncode == 1
    assert "x.h5.part: cannot write: File too large (" in stopped.stderr, stopped.stderr
    assert not out.exists()
    assert probe("embed", data, "-o", out, "-q", home=tmp_path).returncode == 0
    assert vectors(out) == vectors(whole)


def test_read_only_target(photos, tmp_path):
    data, _ = photos
    small = tmp_path / "small"
    small.mkdir()
    if in_small_filesystem("1m", "true", small).returncode != 0:
        pytest.skip("no mount namespace may be made here")
    result = in_small_filesystem(
        "1m", f"mount -o remount,ro '{small}'; '{PROGRAM}' embed '{data}' -o '{small}/x.h5' -q; echo code $?", small
    )
    assert result.stdout == "code 1\n", result
    assert "Read-only file system" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_Bugcase56_exit_codes(tmp_path):
    """0 all done, 1 some or all items failed, 2 wrong usage (ruling 3)."""
    good = next((ROOT / "demo/originals/kiwi").iterdir())

    def folder(name, *, link=False, photo=False):
        path = tmp_path / name / "kiwi"
        path.mkdir(parents=True)
        if link:
            (path / "page.png").symlink_to("nowhere.png")
        if photo:
            shutil.copy(good, path)
        return tmp_path / name

    def code(*arguments):
        return probe(*arguments, home=tmp_path).returncode

    out = tmp_path / "x.h5"
    assert code("embed", folder("dangling", link=True), "-o", out, "-q") == 1
    assert not out.exists()
    partial = probe("embed", folder("both", link=True, photo=True), "-o", out, "-q", home=tmp_path)
    assert partial.returncode == 1
    assert "kiwi/page.png" in partial.stderr
    with h5py.File(out) as file:
        assert file["image/embedding"].shape[0] == 1
    (tmp_path / "empty").mkdir()
    assert code("embed", tmp_path / "empty", "-o", tmp_path / "y.h5", "-q") == 1
    assert code() == 2
    assert code("embed", "--no-such-option") == 2
    assert code("embed", folder("fine", photo=True), "-o", tmp_path / "missing/folder/x.h5", "-q") == 1
    assert code("embed", tmp_path / "fine", "-o", tmp_path / "z.h5", "-q") == 0


def test_Bugcase56_a_reader_that_goes_away(photos, tmp_path):
    """`probe ... | head -1`: no signal's trace, no stack trace."""
    _, whole = photos
    process = subprocess.Popen(
        [PROGRAM, "match", whole, "--mode", "o2o", "--json", "-q"],
        env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait() in (0, 1)
    assert len(errors.strip().splitlines()) <= 1, errors


def test_Bugcase31_a_damaged_cache_is_computed_again(photos, tmp_path):
    """The cache holds vectors keyed by content and bundle: cut or foreign bytes in it change nothing."""
    data, _ = photos

    def hits():
        done = probe("match", data, "--mode", "o2o", "--json", "-q", home=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout[done.stdout.index('"tables"') :]

    first = hits()
    logs = [path for path in (tmp_path / ".cache/probe").rglob("*") if path.is_file()]
    assert logs
    for spoil in (
        lambda content: content[:-20],
        lambda content: content[: len(content) // 2] + b"\0" * 100,
        lambda content: b"",
    ):
        for path in logs:
            path.write_bytes(spoil(path.read_bytes()))
        assert hits() == first


def test_changed_photo_is_noticed(photos, tmp_path):
    """A photo that changes between two runs is embedded again, never mixed."""
    data, _ = photos
    copy = tmp_path / "photos"
    shutil.copytree(data, copy)
    out = tmp_path / "x.h5"
    process = subprocess.Popen(
        [PROGRAM, "embed", copy, "-o", out, "-q"], env=environment(tmp_path), stderr=subprocess.DEVNULL
    )
    part = tmp_path / "x.h5.part"
    while process.poll() is None and (not part.exists() or part.stat().st_size < 120_000):
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert part.exists()
    first, other = sorted(copy.glob("*/*.jpg"))[:2]
    shutil.copy(other, first)
    assert probe("embed", copy, "-o", out, "-q", home=tmp_path).returncode == 0
    with h5py.File(out) as file:
        np.testing.assert_array_equal(file["image/embedding"][0], file["image/embedding"][1])


def test_a_gallery_larger_than_memory(tmp_path):
    """A control group of 400 MiB, as Slurm makes them: a file of 1.1 GB gives the tables that it gives without."""
    group = pathlib.Path(f"/sys/fs/cgroup/memory/probe-test-{os.getpid()}")
    if KILLS < 100:
        pytest.skip("takes a gigabyte of disk: in the fault tier")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group of version 1 can be made here: {error}")
    try:
        (group / "memory.limit_in_bytes").write_text(str(400 << 20))
        write_vectors(tmp_path / "large.h5", 240_000, 300)
        words = ["match", tmp_path / "large.h5", "--of", "embedding", "--mode", "a2o", "--json", "-q"]
        free = probe(*words, home=tmp_path)
        assert free.returncode == 0, free.stderr
        limited = probe(*words, home=tmp_path, preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
        assert limited.returncode == 0, limited.stderr
        whole, blocks = json.loads(free.stdout), json.loads(limited.stdout)
        assert blocks["tables"] == whole["tables"]
        assert not any("rows at a time" in note for note in whole["notes"])
        assert any("rows at a time" in note for note in blocks["notes"])
        most = int((group / "memory.max_usage_in_bytes").read_text())
        assert most <= 400 << 20
    finally:
        group.rmdir()
