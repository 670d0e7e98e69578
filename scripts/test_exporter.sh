#!/usr/bin/env bash
# The exporter's own tests against transformers and timm's goldens, in an environment of
# their own (.venv-export) that borrows LibTorch from .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${PROBE_EXPORT_VENV:-$PWD/.venv-export}
if ! "$venv/bin/python" -c 'import pytest, h5py' 2>/dev/null; then
  .venv/bin/python -m venv "$venv"
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/libtorch.pth"
  "$venv/bin/pip" install -q --disable-pip-version-check -r encoders/export/requirements.txt pytest
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps -e encoders/export
fi
cd encoders/export
"$venv/bin/python" -m pytest -q -p no:cacheprovider -W ignore tests -m 'slow or not slow'
