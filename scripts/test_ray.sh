#!/usr/bin/env bash
# scale/ray_embed.py on a Ray cluster of this machine, in an environment of its own (.venv-ray,
# about 250 MB).
#   scripts/test_ray.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${1:-build/${PROBE_PRESET:-release}}" && pwd)
venv=${PROBE_RAY_VENV:-$PWD/.venv-ray}
if ! "$venv/bin/python" -c 'import ray, pytest, h5py' 2>/dev/null; then
  .venv/bin/python -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r scale/requirements.txt pytest h5py numpy
fi
PROBE_PROGRAM=$build/bin/probe PYTHONDONTWRITEBYTECODE=1 RAY_USAGE_STATS_ENABLED=0 \
  "$venv/bin/python" -m pytest -q -p no:cacheprovider tests/scale/ray_test.py
