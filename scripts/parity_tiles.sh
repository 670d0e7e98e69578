#!/usr/bin/env bash
# Makes the golden files of the tile schemes afresh with transformers, in the exporter's own
# environment (.venv-export), and compares them with those in the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv-export
if [ ! -x $venv/bin/python ]; then
  .venv/bin/python -m venv $venv
  site=$($venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/libtorch.pth"
fi
$venv/bin/pip install -q --disable-pip-version-check -r encoders/export/requirements.txt
cd tests/parity
../../$venv/bin/python make_tiles.py --check
