#!/usr/bin/env bash
# Measures every speed claim, peers in the same run, and prints one table.
#   benches/run.sh            all of it (about half an hour on an idle machine)
#   benches/run.sh --small    seconds: that everything runs, not how fast
# Other options go to benches/run.py (--encoders b32 clip, --update docs/performance.md).
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/${PROBE_PRESET:-release}
cmake --build "$build" --target probe search_bench preprocess_bench store_bench peak_bench encoder_bench >&2
python=.venv/bin/python
if [[ " $* " != *" --small "* ]]; then
  venv=build/bench-venv
  if [ ! -x $venv/bin/python ]; then
    .venv/bin/python -m venv $venv
    # LibTorch's wheel is that of .venv.
    readlink -f .venv/lib/python3*/site-packages > "$(echo $venv/lib/python3*/site-packages)/project.pth"
  fi
  $venv/bin/pip install -q --disable-pip-version-check -r encoders/export/requirements.txt -r benches/requirements.txt >&2
  python=$venv/bin/python
fi
exec "$python" benches/run.py --build "$build" "$@"
