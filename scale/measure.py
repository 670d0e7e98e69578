#!/usr/bin/env python3
"""Measures what sharding costs on this machine: the numbers of docs/scale.md.

    scale/measure.py --probe build/release/bin/probe          # needs h5py, numpy; about 1.5 GB in TMPDIR
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = ("path", "category", "condition", "original_id", "attribute")


def run(*command):
    """(seconds, seconds of CPU, largest resident MB, stdout)"""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        said = errors.read()
        if process.returncode not in (0, 1) or "error" in said:
            raise SystemExit(said)
        return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read()


def nul_hash(texts):
    return hashlib.sha256("".join(text + "\0" for text in texts).encode()).hexdigest()


def write_shards(folder, template, shards, rows, d, w, dtype):
    """Shards as FORMAT.md lays them down, with random vectors, by h5py."""
    folder.mkdir()
    total = shards * rows
    ids = [f"folder-{i // 1000:06d}/image-{i:09d}.jpg" for i in range(total)]
    rng = np.random.default_rng(1)
    with h5py.File(template) as source:
        attributes = dict(source.attrs)
    text = h5py.string_dtype()
    for index in range(shards):
        with h5py.File(folder / f"s-{index}.h5", "w", libver=("earliest", "v110")) as file:
            file.attrs.update(attributes)
            file.attrs["dtype"] = np.dtype(dtype).name
            file.attrs["shard"] = json.dumps(
                {
                    "index": index, "count": shards, "total": total, "ids_sha256": nul_hash(ids),
                    "labels_sha256": "0", "prompts_sha256": nul_hash([]),
                }
            )
            mine = ids[index * rows : (index + 1) * rows]
            file.create_dataset("items/id", data=mine, dtype=text)
            for column in COLUMNS:
                values = mine if column == "path" else ["original" if column == "condition" else ""] * rows
                file.create_dataset(f"items/{column}", data=values, dtype=text)
            file.create_dataset(
                "items/content_sha256", data=[hashlib.sha256(name.encode()).hexdigest() for name in mine], dtype=text
            )
            for name, width in (("embedding", d), ("mean_tokens", w)):
                values = rng.standard_normal((rows, width), dtype=np.float32).astype(dtype)
                file.create_dataset(f"image/{name}", data=values, chunks=(256, width))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", default=shutil.which("probe") or "probe")
    parser.add_argument("--rows", type=int, default=5000, help="of a shard to join")
    probe = parser.parse_args().probe
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["HOME"] = name
        photos = sorted((ROOT / "demo/originals").glob("*/*.jpg"))
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")

        # One photo, then 17: what is left when the photos are taken off is the start.
        def embed(count):
            data = folder / f"{count}.jsonl"
            data.write_text(
                "".join(json.dumps({"id": photo.name, "image": str(photo)}) + "\n" for photo in photos[:count])
            )
            return run(
                probe, "embed", data, "--allow-outside", "-o", folder / f"{count}.h5", "--restart", "--no-text",
                "--threads", "1", "-q", "--shard", "0/1",
            )

        embed(1)  # what is read from disk is then in memory
        one, many = embed(1), embed(17)
        rate = 16 / (many[1] - one[1])
        print(f"start of a shard, demo encoder: {one[0]:.2f} s, {one[1]:.2f} s of CPU, {one[2]:.0f} MB")
        print(f"demo encoder: {rate:.1f} images a second of CPU ({16 / (many[0] - one[0]):.1f} by the clock)")
        done = run(
            probe, "embed", folder / "17.jsonl", "--allow-outside", "-o", folder / "17.h5", "--no-text", "-q",
            "--shard", "0/1",
        )
        print(f"asking for a finished shard of 17: {done[0]:.2f} s, {done[1]:.2f} s of CPU")

        # A long list: what each shard pays to read it. The photo is one and the same.
        length = 200_000
        long_list = folder / "long.jsonl"
        with open(long_list, "w") as out:
            for i in range(length):
                image = str(photos[0]) if i == 0 else f"folder-{i // 1000:06d}/image-{i:09d}.jpg"
                out.write(json.dumps({"id": f"folder/image-{i:09d}", "image": image, "category": f"class {i % 1000}"}))
                out.write("\n")
        command = [probe, "embed", long_list, "--allow-outside", "-o", folder / "long.h5", "--no-text", "-q"]
        run(*command, "--shard", f"0/{length}")
        listed = run(*command, "--shard", f"0/{length}")  # finished: the list is read, and nothing else
        print(
            f"reading a list: {1e6 * (listed[1] - done[1]) / length:.2f} s of CPU and "
            f"{1e6 * (listed[2] - done[2]) / length:.0f} MB a million items"
        )

        for dtype in ("float32", "float16"):
            parts = folder / f"parts-{dtype}"
            write_shards(parts, folder / "1.h5", 8, rows, 768, 1024, dtype)
            size = sum(path.stat().st_size for path in parts.iterdir())
            print(f"8 shards of {rows}, d 768, w 1024, {dtype}: {size / 8 / rows:.0f} bytes an item")
            for virtual in ([], ["--virtual"]):
                out = folder / "joined.h5"
                seconds, cpu, memory, _ = run(probe, "merge", parts, "-o", out, "-q", *virtual)
                words = f"merge {' '.join(virtual)}".strip()
                print(
                    f"  {words}: {seconds:.2f} s, {cpu:.2f} s of CPU, {size / 1e6 / seconds:.0f} MB/s, "
                    f"{memory:.0f} MB, {out.stat().st_size / 8 / rows:.0f} bytes an item"
                )
            seconds, cpu, _, _ = run(probe, "shards", parts, "--json")
            print(f"  probe shards: {seconds:.2f} s, {cpu:.2f} s of CPU")
            shutil.rmtree(parts)


if __name__ == "__main__":
    main()
