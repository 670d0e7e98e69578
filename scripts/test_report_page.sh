#!/usr/bin/env bash
# The report page in headless Chromium (about 400 MB, installed if there is none), driven by
# Playwright in an environment of its own (.venv-browser).
#   scripts/test_report_page.sh [BUILD_FOLDER]
# PROBE_SCREENSHOTS   a folder for pictures of the page: light, dark, narrow, print
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${1:-build/${PROBE_PRESET:-release}}" && pwd)
if ! command -v chromium chromium-browser google-chrome >/dev/null; then
  root=()
  [ "$(id -u)" -eq 0 ] || root=(sudo)
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi
venv=.venv-browser
if [ ! -x $venv/bin/pytest ]; then
  .venv/bin/python -m venv $venv
  $venv/bin/pip install -q --disable-pip-version-check -r tests/browser/requirements.txt
fi
PROBE_PROGRAM=$build/bin/probe PYTHONDONTWRITEBYTECODE=1 \
  $venv/bin/pytest -q -p no:cacheprovider tests/browser
