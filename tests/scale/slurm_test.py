"""scale/submit.sh on a Slurm of our own: slurmctld, slurmd and munged of Debian, with a configuration that is thrown
away. Run by scripts/test_slurm.sh."""

import contextlib
import getpass
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess

import pytest
from conftest import ONE_AT_A_TIME, PROGRAM, ROOT, content, embed_shards, processes_with, wait_for

CONFIGURATION = """
ClusterName=probetest
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,batch_sched_delay=0
ReturnToService=2
KillWait=2
JobRequeue=1
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """Runs Slurm; gives a function that runs one of its commands."""
    if os.geteuid() != 0:
        pytest.skip("slurmd runs as root only")
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir(mode=0o700)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    host = socket.gethostname().split(".")[0]
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=host, user=getpass.getuser(), folder=folder, controller_port=free_port(), node_port=free_port()
        )
    )
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    environment = dict(os.environ, SLURM_CONF=str(configuration), PROBE=PROGRAM)

    def run(*command):
        return subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)

    with contextlib.ExitStack() as stack:

        def start(*command):
            log = open(folder / f"{pathlib.Path(command[0]).name}.out", "w")
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)

        start(
            shutil.which("munged", path="/usr/sbin:/usr/bin"), "--foreground", "--force", "--num-threads=2",
            f"--key-file={key}", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
            f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed",
        )
        wait_for("munged", (folder / "munge.socket").exists)
        start("/usr/sbin/slurmctld", "-D", "-f", str(configuration))
        start("/usr/sbin/slurmd", "-D", "-f", str(configuration), "-N", host)
        try:
            wait_for("an idle node", lambda: "idle" in run("sinfo", "-h", "-o", "%T").stdout)
        except AssertionError:
            print(*[log.read_text()[-3000:] for log in folder.glob("*.log")], sep="\n")
            raise
        yield run
        run("scancel", "--user", getpass.getuser())
        wait_for("an empty queue", lambda: not run("squeue", "-h").stdout)


def states(slurm, job):
    """Of the array's tasks: {index: state}."""
    lines = slurm("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%K %T").stdout.split("\n")
    return dict(line.split() for line in lines if line)


def test_a_requeued_task_and_a_killed_one(slurm, photos, tmp_path):
    """An array of four, one task requeued in mid-run, one whose program is killed; joined by the dependent job."""
    data, whole = photos
    shards, out = tmp_path / "shards", tmp_path / "joined.h5"
    submitted = slurm(ROOT / "scale/submit.sh", data, shards, 4, out, *ONE_AT_A_TIME)
    assert submitted.returncode == 0, submitted.stderr
    array, merge = submitted.stdout.split()

    def begun(index):
        part = shards / f"shard-{index}.h5.part"
        return part.exists() and part.stat().st_size > 3 * 4 * (512 + 1280)

    wait_for("vectors of shard 0", lambda: begun(0))
    assert slurm("scontrol", "requeue", f"{array}_0").returncode == 0
    wait_for("vectors of shard 1 or 2", lambda: begun(1) or begun(2))
    victim = 1 if begun(1) else 2
    [process] = processes_with(f"{shards}/shard-{victim}.h5", PROGRAM)
    os.kill(process, signal.SIGKILL)
    wait_for("the join", out.exists)
    wait_for("the join's end", lambda: states(slurm, merge).get("N/A") == "COMPLETED")
    assert set(states(slurm, array).values()) == {"COMPLETED"}
    assert content(out) == content(whole)
    assert "Restarts=1" in slurm("scontrol", "show", "job", f"{array}_0").stdout
    logs = {log.stem.rsplit("_", 1)[-1]: log.read_text() for log in shards.glob("probe-embed-*.log")}
    assert "resuming: " in logs["0"], logs["0"]
    assert "resuming: " in logs[str(victim)], logs[str(victim)]


def test_only_what_is_missing_is_submitted(slurm, photos, tmp_path):
    data, whole = photos
    shards, out = tmp_path / "shards", tmp_path / "joined.h5"
    embed_shards(data, shards, (0, 2), 4)
    stamps = [(shards / f"shard-{index}.h5").stat().st_mtime_ns for index in (0, 2)]
    submitted = slurm(ROOT / "scale/submit.sh", "-s", "--time=10", data, shards, 4, out, *ONE_AT_A_TIME)
    assert submitted.returncode == 0, submitted.stderr
    array, _ = submitted.stdout.split()
    assert set(states(slurm, array)) == {"1", "3"}
    wait_for("the join", out.exists)
    assert content(out) == content(whole)
    assert stamps == [(shards / f"shard-{index}.h5").stat().st_mtime_ns for index in (0, 2)]
    # All are there: only the join is submitted.
    out.unlink()
    again = slurm(ROOT / "scale/submit.sh", data, shards, 4, out)
    assert len(again.stdout.split()) == 1
    wait_for("the join", out.exists)
    assert content(out) == content(whole)


def test_submit_explains_itself(slurm):
    wrong = slurm(ROOT / "scale/submit.sh", "data")
    assert wrong.returncode == 2
    assert "Submits the missing shards" in wrong.stderr
