#!/usr/bin/env bash
# The exporter against open_clip and timm, in an environment of its own (5.5 GB), kept in
# PROBE_OPEN_CLIP_VENV (default .venv-open-clip): makes the golden files of the quick tests
# afresh, compares them with the committed ones, and runs every exporter test there, also
# those that need open_clip. With --update the committed files are replaced.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export_dir=$root/encoders/export
venv=${PROBE_OPEN_CLIP_VENV:-$root/.venv-open-clip}

if ! "$venv/bin/python" -c 'import open_clip, h5py' 2>/dev/null; then
  free_gb=$(df --output=avail -BG "$root" | tail -1 | tr -dc 0-9)
  if [ "$free_gb" -lt 12 ]; then
    echo "parity_export: 12 GB of free disk are required for $venv, got $free_gb" >&2
    exit 1
  fi
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet -r "$export_dir/requirements-open-clip.txt"
  "$venv/bin/pip" install --quiet --no-deps -e "$export_dir"
fi

cd "$export_dir"
if [ "${1:-}" = --update ]; then
  "$venv/bin/python" -W ignore tests/make_open_clip_goldens.py tests/golden
else
  fresh=$(mktemp -d)
  trap 'rm -rf "$fresh"' EXIT
  "$venv/bin/python" -W ignore tests/make_open_clip_goldens.py "$fresh"
  "$venv/bin/python" tests/compare_goldens.py tests/golden "$fresh"
fi
"$venv/bin/python" -W ignore -m pytest tests -m 'slow or not slow'
