#!/usr/bin/env bash
# notebooks/umap.ipynb, in an environment of its own (.venv-umap: umap-learn compiles itself
# with numba, about 450 MB) that borrows the other packages from .venv.
#   scripts/test_umap_notebook.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${1:-build/${PROBE_PRESET:-release}}" && pwd)
venv=.venv-umap
if ! $venv/bin/python -c 'import umap' 2>/dev/null; then
  .venv/bin/python -m venv $venv
  site=$($venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/shared.pth"
  $venv/bin/pip install -q --disable-pip-version-check umap-learn==0.5.12
fi
PROBE_PROGRAM=$build/bin/probe PYTHONDONTWRITEBYTECODE=1 \
  $venv/bin/python -m pytest -q -p no:cacheprovider tests/python/notebooks_test.py -k umap
