#!/usr/bin/env bash
# Sets up and runs the tests.
#   scripts/test.sh          the quick tier (what CI runs)
#   scripts/test.sh --all    every tier: quick, slow, fault, scale, parity, browser, bench
set -euo pipefail
cd "$(dirname "$0")/.."

labels='^quick$'
case ${1:-} in
  '') ;;
  --all) labels='.' ;;
  *) sed -n '2,4p' "$0" >&2; exit 2 ;;
esac
scripts/setup.sh --tests
ctest --test-dir "build/${PROBE_PRESET:-release}" -L "$labels" -j "$(nproc)" --output-on-failure
