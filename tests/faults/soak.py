#!/usr/bin/env python3
"""Embeds many small generated images and prints the memory of the process as it goes.

    tests/faults/soak.py PROBE [IMAGES] [FOLDER]        (100,000 images; FOLDER is made and removed)

Sizes, shapes and modes vary and a share of the files cannot be read, as in BUGCASES 25. Memory rises
until the queue of decoded batches was full once; the run fails if at the end it is more than 5 % and
1 KiB an image (what is known of each: id, path, hash) above that at half of the images, or if `match`
over the result fails. Needs h5py, numpy and Pillow.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUNDLE = ROOT / "tests/data/bundles/clip"
BAD_EVERY = 50


def make_images(folder, count):
    rng = np.random.default_rng(25)
    for i in range(count):
        path = folder / f"class-{i % 100:02}" / f"{i:06}.png"
        path.parent.mkdir(exist_ok=True)
        if i % BAD_EVERY == 7:
            path.write_bytes(b"\x89PNG\r\n\x1a\n cut off")
            continue
        height, width = rng.integers(8, 48, 2)
        pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
        Image.fromarray(pixels if i % 3 else pixels[..., 0]).save(path, compress_level=0)


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return None


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    work = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp(prefix="probe-soak-"))
    photos, out = work / "photos", work / "soak.h5"
    photos.mkdir(parents=True)
    try:
        make_images(photos, count)
        environment = dict(os.environ, HOME=str(work))
        start = time.monotonic()
        process = subprocess.Popen(
            [program, "embed", photos, "--encoder", BUNDLE, "--no-text", "-o", out, "-q"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        part, curve = pathlib.Path(f"{out}.part"), []
        while process.poll() is None:
            try:
                curve.append((part.stat().st_size, resident_mib(process.pid)))
            except (FileNotFoundError, ProcessLookupError):
                pass
            time.sleep(1)
        seconds = time.monotonic() - start
        bad = len(range(7, count, BAD_EVERY))
        assert process.returncode == 1, process.returncode  # some items failed
        with h5py.File(out) as file:
            assert file["image/embedding"].shape[0] == count - bad
        curve = [(size, mib) for size, mib in curve if mib is not None and size > 0]
        largest = curve[-1][0]
        print(f"{count - bad} images embedded, {bad} listed as bad, {seconds:.0f} s")
        print("share done  resident MiB")
        for tenth in range(1, 11):
            size, mib = next(point for point in curve if point[0] >= largest * tenth / 10)
            print(f"{100 * size / largest:9.0f}%  {mib:12.1f}")
        half = next(mib for size, mib in curve if size >= largest / 2)
        late = curve[-1][1]
        assert late <= half * 1.05 + count / 2 / 1024, f"memory grew from {half:.1f} to {late:.1f} MiB"
        matched = subprocess.run(
            ["/usr/bin/env", "time", "-f", "%M", program, "match", out, "--mode", "o2o", "-q"]
            if shutil.which("time")
            else [program, "match", out, "--mode", "o2o", "-q"],
            env=environment, capture_output=True, text=True,
        )
        assert matched.returncode == 0, matched.stderr
        print(matched.stdout.splitlines()[3])
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
