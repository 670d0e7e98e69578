#!/usr/bin/env bash
# Sets up `probe` and runs the main job on the demo encoder and the demo photos.
#   scripts/demo.sh [OUTPUT_FOLDER]     default: demo-out
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-demo-out}
case $out in -*) sed -n '2,3p' "$0" >&2; exit 2 ;; esac
scripts/setup.sh
probe=build/${PROBE_PRESET:-release}/bin/probe
mkdir -p "$out"

step() { printf '\n== %s\n' "$*"; }
step "probe embed: every photo and name, once"
"$probe" embed demo --encoder demo -o "$out/demo.h5"
step "probe zeroshot: multiple choice on originals and their recoloured twins"
"$probe" zeroshot "$out/demo.h5" --questions demo/questions.jsonl --tables "$out/zeroshot"
step "probe classify: every name the set has; probe linear: what the vectors hold"
"$probe" classify "$out/demo.h5" --tables "$out/classify"
"$probe" linear "$out/demo.h5" --train-fraction 0.5 --tables "$out/linear"
step "probe match: original to original, modified to original"
"$probe" match "$out/demo.h5" --mode both --tables "$out/match"
"$probe" match "$out/demo.h5" --mode both --neighbors --json --quiet >"$out/neighbors.json"
step "probe compare: the encoder beside MLLM responses made up for show, and published scores"
"$probe" compare "$out/demo.h5" --questions demo/questions.jsonl \
  --responses demo/sample_responses.jsonl --models demo/sample_models.csv --asked-only \
  --open-prompt "Fru. Nam.=demo/sample_responses_fruit.jsonl" \
  --published demo/nemo_table2.csv --tables "$out/compare"
step "probe export: vectors for other tools"
"$probe" export "$out/demo.h5" -o "$out/vectors"
step "probe report: all of it on one page, with pictures"
"$probe" report "$out/report.html" "$out"/{zeroshot,classify,linear,compare}/result.json "$out/neighbors.json" \
  --images demo --title "What the demo encoder knows" --quiet
printf '\nAll of it is in %s; the page to open is %s\n' "$out" "$(realpath "$out/report.html")"
