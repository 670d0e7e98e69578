#!/usr/bin/env python3
"""Embeds a dataset in shards on a Ray cluster, and joins them.

Each Ray task runs `probe embed --shard i/N`. Data, encoder, program and folder must be seen under
the same names by every node (a shared file system). Run it again after any failure: shards that are
finished are not redone, and those that were begun go on where they stopped.

    pip install -r scale/requirements.txt
    scale/ray_embed.py photos/ -o photos.h5 --shards 64 --encoder siglip --cpus 4
    scale/ray_embed.py items.jsonl -o items.h5 --shards 8 --address auto -- --store float16
"""

import argparse
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import ray

USAGE = 2  # exit code of `probe`: no retry will help
LOCKED = "another process has it open"
LOCK_SECONDS = 120  # how long a lost node's lock may outlive it
REPORT_SECONDS = 15


class ShardFailed(Exception):
    """Worth another try, maybe on another node."""


class WrongUsage(Exception):
    """`probe` refuses the options."""


def die_with_parent():
    """A lost worker's `probe` must not hold the part file against the retry."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_shard(command):
    """(exit code, what it wrote to stderr)"""
    # Ray sets OMP_NUM_THREADS in its workers, which changes the last bits of floats; --threads says how many.
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment,
        preexec_fn=die_with_parent,
    )
    return done.returncode, done.stderr


@ray.remote
def embed_shard(index, command):
    """Returns (shard, node, seconds) once the shard is finished."""
    began = time.monotonic()
    patience = began + LOCK_SECONDS
    # A shard with bad images is finished with exit code 1; asked again, `probe` finds it finished.
    tries = 2
    while tries > 0:
        code, errors = run_shard(command)
        if code == 0:
            return index, socket.gethostname(), time.monotonic() - began
        if code == USAGE:
            raise WrongUsage(errors.strip())
        if LOCKED in errors and time.monotonic() < patience:
            time.sleep(2)
            continue
        tries -= 1
    lines = [line for line in errors.strip().splitlines() if line.startswith("error")] or [f"exit code {code}"]
    raise ShardFailed(f"shard {index} on {socket.gethostname()}: {lines[-1]}")


def survey(probe, folder, shards):
    """What `probe shards` knows."""
    done = subprocess.run(
        [probe, "shards", folder, "--count", str(shards), "--json", "-q"], capture_output=True, text=True
    )
    if not done.stdout:
        sys.exit(done.stderr.strip())
    tables = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
    return tables["shards"]["rows"][0], tables["files"]["rows"]


def shards_to_do(probe, folder, shards):
    done = subprocess.run(
        [probe, "shards", folder, "--count", str(shards), "--missing"], capture_output=True, text=True
    )
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(done.stderr.strip())
    indices = []
    for part in filter(None, done.stdout.strip().split(",")):
        first, _, last = part.partition("-")
        indices += range(int(first), int(last or first) + 1)
    return indices


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="dataset, as `probe embed` takes it")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="joined file to write")
    parser.add_argument("--shards", type=int, required=True, metavar="N", help="parts to cut the dataset into")
    parser.add_argument("--folder", type=pathlib.Path, help="of the shards (default: OUTPUT without .h5, -shards)")
    parser.add_argument("--encoder", default="demo", help="name of a bundle, or its folder")
    parser.add_argument("--cpus", type=int, default=1, help="CPUs (and threads) of a task")
    parser.add_argument("--retries", type=int, default=5, help="of a shard, after a failure or a lost worker or node")
    parser.add_argument("--address", help="of a running cluster (auto: the one of this machine); default: a local one")
    parser.add_argument("--virtual", action="store_true", help="join without copying (probe merge --virtual)")
    parser.add_argument("--probe", default=shutil.which("probe") or "probe", help="the program")
    parser.usage = parser.format_usage().removeprefix("usage: ").rstrip() + " [-- EMBED OPTION...]"
    own = sys.argv[1:]
    more = own[own.index("--") + 1 :] if "--" in own else []
    options = parser.parse_args(own[: own.index("--")] if "--" in own else own)
    options.options = more  # of `probe embed`
    return options


def follow(tasks, report):
    """Waits for all; the failures, in words. Cancels the rest at the first wrong usage."""
    failures, pending, reported = [], list(tasks), time.monotonic()
    while pending:
        done, pending = ray.wait(pending, timeout=1)
        for task in done:
            try:
                index, node, seconds = ray.get(task)
                print(f"shard {index} finished on {node} after {seconds:.1f} s; {len(pending)} to go", file=sys.stderr)
            except ray.exceptions.RayTaskError as error:
                failures.append(str(error.cause or error))
                if isinstance(error.cause, WrongUsage):
                    for other in pending:
                        ray.cancel(other)
                    return failures
            except ray.exceptions.RayError as error:
                failures.append(f"shard {tasks[task]}: {type(error).__name__}: {str(error).splitlines()[0]}")
        if time.monotonic() - reported > REPORT_SECONDS:
            report()
            reported = time.monotonic()
    return failures


def main():
    options = arguments()
    folder = options.folder or options.output.with_name(options.output.stem + "-shards")
    folder.mkdir(parents=True, exist_ok=True)
    to_do = shards_to_do(options.probe, folder, options.shards)
    print(f"{len(to_do)} of {options.shards} shards to do in {folder}", file=sys.stderr)

    def report():
        counts, files = survey(options.probe, folder, options.shards)
        begun = sum(row["vectors"] for row in files if row["state"] in ("running", "unfinished"))
        print(
            f"{counts['finished']} of {counts['shards']} shards finished, {counts['vectors'] + begun} vectors",
            file=sys.stderr,
        )

    if to_do:
        ray.init(address=options.address, log_to_driver=False, logging_level="warning")
        remote = embed_shard.options(
            num_cpus=options.cpus, max_retries=options.retries, retry_exceptions=[ShardFailed]
        )
        tasks = {}
        for index in to_do:
            command = [options.probe, "embed", os.path.abspath(options.data), "--encoder", options.encoder]
            command += ["--shard", f"{index}/{options.shards}", "-o", os.path.abspath(folder / f"shard-{index}.h5")]
            command += ["--threads", str(options.cpus), "--quiet", *options.options]
            tasks[remote.remote(index, command)] = index
        failures = follow(tasks, report)
        ray.shutdown()
        if failures:
            sys.exit("\n".join(["error: not all shards are finished", *failures]))
    merge = [options.probe, "merge", folder, "-o", options.output, *(["--virtual"] if options.virtual else [])]
    sys.exit(subprocess.run(merge).returncode)


if __name__ == "__main__":
    main()
