#!/usr/bin/env bash
# Everything that shows how close probe is to its references (issue 4's table): makes the
# golden files afresh and compares them with the committed ones; pixels and ids against
# Pillow and the reference tokenizers; tiny models of every family through the built program
# against transformers, open_clip and timm. Exits 1 if a bar is missed or a golden differs.
#   scripts/parity.sh [--full-size] [--update] [FOLDER...]
# FOLDER: more photos and category names (tests/parity/text_corpus.py says which files).
# --full-size: also the paper's four encoders with random weights (10 GiB of memory, 12 GB of
# disk for a while). --update: writes docs/parity.md from the results, which stay in
# build/PRESET/parity. Environments: .venv-parity, .venv-export, .venv-open-clip, made on
# the first run; PROBE_EXPORT_VENV, PROBE_OPEN_CLIP_VENV and PROBE_PARITY_VENV name others.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
full=no update=no folders=()
for word in "$@"; do
  case $word in
    --full-size) full=yes ;;
    --update) update=yes ;;
    -*) sed -n '2,13p' "$0" >&2; exit 2 ;;
    *) folders+=("$(realpath "$word")") ;;
  esac
done
build=build/${PROBE_PRESET:-release}
results=$root/$build/parity
mkdir -p "$results"
export PROBE_PARITY_VENV=${PROBE_PARITY_VENV:-$root/.venv-parity}
export PROBE_EXPORT_VENV=${PROBE_EXPORT_VENV:-$root/.venv-export}
export PROBE_OPEN_CLIP_VENV=${PROBE_OPEN_CLIP_VENV:-$root/.venv-open-clip}
export PYTHONPATH=$root/encoders/export
failed=0
step() {
  local start=$SECONDS name=$1
  shift
  echo "== $name"
  if "$@"; then echo "== $name: good, $((SECONDS - start)) s"; else
    failed=1
    echo "== $name: FAILED, $((SECONDS - start)) s"
  fi
}

cmake --build "$build" --target probe dump_pixels dump_ids -- -j2
step "pixels and ids" scripts/parity_preprocess_tokenizers.sh "$build" demo/originals \
  "${folders[@]}" -- "${folders[@]}"
step "goldens and exporter, open_clip" scripts/parity_export.sh
step "exporter, transformers" scripts/test_exporter.sh

tiny=(encoders/export/tiny_parity.py --probe "$build/bin/probe" --tools "$build/tests"
  --json "$results/tiny.jsonl" --folders "${folders[@]}")
rm -f "$results/tiny.jsonl"
step "tiny models, transformers" "$PROBE_EXPORT_VENV/bin/python" -W ignore "${tiny[@]}"
step "tiny models, open_clip" "$PROBE_OPEN_CLIP_VENV/bin/python" -W ignore "${tiny[@]}" \
  --only eva01 eva02 eva02-e open_clip-clip open_clip-clip-quickgelu
if [ $full = yes ]; then
  rm -f "$results/full.jsonl"
  for model in clip siglip clip-h eva; do
    venv=$PROBE_EXPORT_VENV
    [ $model = eva ] && venv=$PROBE_OPEN_CLIP_VENV
    step "full size, $model" "$venv/bin/python" -W ignore encoders/export/full_size_parity.py $model \
      --probe "$build/bin/probe" --tools "$build/tests" --json "$results/full.jsonl" --folders "${folders[@]}"
  done
fi

"$PROBE_PARITY_VENV/bin/python" tests/parity/write_table.py "$results" >"$results/parity.md"
if [ $update = yes ]; then
  cp "$results/parity.md" docs/parity.md
fi
echo "parity: $([ $failed = 0 ] && echo good || echo FAILED), $results/parity.md, $SECONDS s"
exit $failed
