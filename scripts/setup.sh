#!/usr/bin/env bash
# Installs everything `probe` needs on Debian 12 or Ubuntu 22.04 and later, and builds it.
# Safe to run again: what is there already is left alone.
#
#   scripts/setup.sh             packages, .venv with LibTorch, the program
#   scripts/setup.sh --no-build  without building anything
#   scripts/setup.sh --tests     also the tests, and the Python packages they use
#
# PROBE_TORCH_INDEX   where to look for the CPU wheel if no configured source has it
# PROBE_PRESET        CMake preset to build (default: release)
set -euo pipefail
cd "$(dirname "$0")/.."

build=yes tests=no
for option in "$@"; do
  case $option in
    --no-build) build=no ;;
    --tests) tests=yes ;;
    *) sed -n '2,10p' "$0" >&2; exit 2 ;;
  esac
done
say() { printf '%s\n' "setup: $*" >&2; }

torch_version=2.13.0
packages=(g++ cmake ninja-build ccache pkg-config python3-venv
  libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev libopencv-dev
  libfaiss-dev libopenblas-dev libhdf5-dev libeigen3-dev libcli11-dev nlohmann-json3-dev
  libfmt-dev libsentencepiece-dev libicu-dev libssl-dev zlib1g-dev libjpeg-dev libgtest-dev
  liblbfgs-dev libzip-dev libpugixml-dev libbenchmark-dev)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${#missing[@]} packages: ${missing[*]}"
  root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "needs root to install packages, and there is no sudo"; exit 1; }
    root=(sudo)
  fi
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# A Python that a wheel of this LibTorch exists for: 3.10 to 3.14.
find_python() {
  local candidate
  for candidate in python3 python3.11 python3.12 python3.13 python3.10 /usr/bin/python3; do
    if command -v "$candidate" >/dev/null &&
       "$candidate" -c 'import sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  say "needs Python 3.10 to 3.14, found none"
  exit 1
}
if [ ! -x .venv/bin/python ]; then
  say "making .venv"
  "$(find_python)" -m venv .venv
fi
pip=(.venv/bin/python -m pip install -q --disable-pip-version-check)

has_torch() {
  .venv/bin/python -c "import torch, sys; sys.exit(torch.__version__ != '$torch_version+cpu')" 2>/dev/null
}
if ! has_torch; then
  say "installing LibTorch $torch_version (CPU)"
  # "+cpu" never matches a CUDA build: it is either this wheel or none.
  if ! "${pip[@]}" "torch==$torch_version+cpu" 2>/dev/null; then
    index=${PROBE_TORCH_INDEX:-https://download.pytorch.org/whl/cpu}
    say "no configured source has it; asking $index"
    "${pip[@]}" "torch==$torch_version+cpu" --extra-index-url "$index" || {
      say "no source has torch==$torch_version+cpu; set PROBE_TORCH_INDEX to one that has"
      exit 1
    }
  fi
  has_torch || { say "the installed torch is not $torch_version+cpu"; exit 1; }
fi
if [ $tests = yes ]; then
  "${pip[@]}" -r scripts/requirements.txt
fi

if [ $build = yes ]; then
  preset=${PROBE_PRESET:-release}
  # Paths relative to the clone, so that clones in other folders share the cache.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  say "building ($preset)"
  log=$(mktemp)
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  rm -f "$log"
  target=(--target probe)
  [ $tests = yes ] && target=()
  cmake --build "build/$preset" "${target[@]}" >&2
  say "done: build/$preset/bin/probe"
fi
