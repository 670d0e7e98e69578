#!/usr/bin/env bash
# Exchange formats read back by the tools they are for, in an environment of its own
# (.venv-exchange: pandas, pyarrow, LanceDB, TensorBoard; about 700 MB).
#   scripts/test_exchange.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${1:-build/${PROBE_PRESET:-release}}" && pwd)
venv=.venv-exchange
stamp=$venv/installed
if ! cmp -s tests/exchange/requirements.txt "$stamp"; then
  .venv/bin/python -m venv $venv
  pip=($venv/bin/python -m pip install -q --disable-pip-version-check)
  "${pip[@]}" -r tests/exchange/requirements.txt
  # Its loader alone: the whole of it needs torch.
  "${pip[@]}" --no-deps embedding-atlas==0.26.0
  "${pip[@]}" inquirer==3.4.1 narwhals
  cp tests/exchange/requirements.txt "$stamp"
fi
# As a user installs it; from a copy, as setuptools leaves files beside what it builds.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r python "$copy/"
$venv/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation \
  --force-reinstall --no-deps "$copy/python"
export PROBE_PROGRAM=$build/bin/probe PYTHONDONTWRITEBYTECODE=1
$venv/bin/python -m pytest -q -p no:cacheprovider tests/exchange --ignore tests/exchange/open_clip_test.py

open_clip=${PROBE_OPEN_CLIP_VENV:-.venv-open-clip}
if "$open_clip/bin/python" -c 'import open_clip, h5py' 2>/dev/null; then
  "$open_clip/bin/python" -m pytest -q -p no:cacheprovider tests/exchange/open_clip_test.py
else
  echo "test_exchange: open_clip is not in $open_clip (scripts/parity_export.sh makes it): its test was not run" >&2
fi
