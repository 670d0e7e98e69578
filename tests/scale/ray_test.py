"""scale/ray_embed.py on a real Ray cluster of this machine: a head without CPUs and two workers, one of which is
killed in mid-run. Run by scripts/test_ray.sh."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
from conftest import ONE_AT_A_TIME, PROGRAM, ROOT, content, embed_shards, processes_with, wait_for
from ray.cluster_utils import Cluster

SCRIPT = ROOT / "scale/ray_embed.py"
MEMORY = {"object_store_memory": 80 * 1024 * 1024}


def patiently(start):
    """Ray gives a node 30 s to start, which a busy machine may not keep; one that comes up later does no harm."""
    for _ in range(5):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    raise AssertionError("five nodes in a row did not start in time")


@pytest.fixture(scope="module")
def cluster():
    head = {"num_cpus": 0, "include_dashboard": False, **MEMORY}
    cluster = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    nodes = [patiently(lambda: cluster.add_node(num_cpus=1, **MEMORY)) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster, nodes
    cluster.shutdown()


def start(cluster, data, out, *options):
    return subprocess.Popen(
        [sys.executable, SCRIPT, data, "-o", out, "--address", cluster.address, "--probe", PROGRAM, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def running(shards, known=()):
    """{shard: process} of the shards that have some vectors and are being worked on."""
    found = {}
    for part in shards.glob("shard-*.h5.part"):
        index = int(part.name.split("-")[1].split(".")[0])
        target = str(part)[: -len(".part")]
        if index not in known and part.exists() and part.stat().st_size > 2 * 4 * (512 + 1280):
            found.update({index: process for process in processes_with(target, PROGRAM)})
    return found


def parent(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def test_only_what_is_missing_is_run(cluster, photos, tmp_path):
    ray_cluster, _ = cluster
    data, whole = photos
    out, shards = tmp_path / "joined.h5", tmp_path / "parts"
    embed_shards(data, shards, (0, 2), 3)
    driver = start(ray_cluster, data, out, "--shards", "3", "--folder", shards, "--virtual", "--", *ONE_AT_A_TIME)
    _, errors = driver.communicate(timeout=600)
    assert driver.returncode == 0, errors
    assert "1 of 3 shards to do" in errors
    assert "shard 1 finished on " in errors
    assert content(out) == content(whole)


def test_wrong_usage_and_hopeless_shards_end_in_words(cluster, photos, tmp_path):
    ray_cluster, _ = cluster
    data, _ = photos
    wrong = start(ray_cluster, data, tmp_path / "x.h5", "--shards", "2", "--", "--no-such-option")
    _, errors = wrong.communicate(timeout=300)
    assert wrong.returncode == 1
    assert "error: not all shards are finished" in errors
    assert "--no-such-option" in errors
    hopeless = start(ray_cluster, tmp_path / "nothing", tmp_path / "y.h5", "--shards", "1", "--retries", "1")
    _, errors = hopeless.communicate(timeout=300)
    assert hopeless.returncode == 1
    assert "shard 0 on " in errors and "nothing" in errors, errors


# The last one: it leaves the cluster a node short.
def test_a_worker_and_a_node_are_lost(cluster, photos, tmp_path):
    ray_cluster, nodes = cluster
    data, whole = photos
    out, shards = tmp_path / "joined.h5", tmp_path / "joined-shards"
    driver = start(ray_cluster, data, out, "--shards", "5", "--", *ONE_AT_A_TIME)
    # The worker process alone: its `probe` goes with it, and the shard is tried again.
    [(first, process), *_] = wait_for("a shard begun", lambda: running(shards)).items()
    os.kill(parent(process), signal.SIGKILL)
    wait_for("the end of its probe", lambda: not pathlib.Path(f"/proc/{process}").exists())
    # A whole node: raylet and all.
    wait_for("another shard begun", lambda: running(shards, known={first}))
    ray_cluster.remove_node(nodes[0], allow_graceful=False)
    _, errors = driver.communicate(timeout=600)
    assert driver.returncode == 0, errors
    assert errors.count(" finished on ") == 5, errors
    assert content(out) == content(whole)
