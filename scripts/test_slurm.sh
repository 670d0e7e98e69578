#!/usr/bin/env bash
# scale/submit.sh on a Slurm of this machine: Debian's packages, with a configuration, state and
# keys of the test's own, started and stopped by it. Needs root.
#   scripts/test_slurm.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${1:-build/${PROBE_PRESET:-release}}" && pwd)
for program in slurmctld slurmd munged sbatch; do
  if ! PATH=$PATH:/usr/sbin command -v $program >/dev/null; then
    apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge
    break
  fi
done
PROBE_PROGRAM=$build/bin/probe PYTHONDONTWRITEBYTECODE=1 \
  .venv/bin/python -m pytest -q -rs -p no:cacheprovider tests/scale/slurm_test.py
