#!/usr/bin/env bash
# Sets up `probe` and runs the main job on the demo encoder and the demo photos.
#   scripts/demo.sh [OUTPUT_FOLDER] [--shards N]     default: demo-out, one run
# With --shards the photos are embedded in N parts and joined, and the numbers must be those of one run.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  sed -n '2,4p' "$0" >&2
  exit 2
}
out=demo-out shards=
while [ $# -gt 0 ]; do
  case $1 in
    --shards) shards=${2:-} && [[ $shards =~ ^[1-9][0-9]*$ ]] || usage; shift ;;
    -*) usage ;;
    *) out=$1 ;;
  esac
  shift
done
scripts/setup.sh
probe=build/${PROBE_PRESET:-release}/bin/probe
mkdir -p "$out"

step() { printf '\n== %s\n' "$*"; }
step "probe embed: every photo and name, once"
"$probe" embed demo --encoder demo -o "$out/demo.h5"
if [ -n "$shards" ]; then
  step "probe embed --shard: the same in $shards parts, which are joined"
  mv "$out/demo.h5" "$out/one-run.h5"
  mkdir -p "$out/shards"
  for ((i = 0; i < shards; ++i)); do
    "$probe" embed demo --encoder demo --shard "$i/$shards" -o "$out/shards/$shards-$i.h5" --quiet
  done
  "$probe" shards "$out/shards/$shards-*.h5"
  "$probe" merge "$out/shards/$shards-*.h5" -o "$out/demo.h5"
fi
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
if [ -n "$shards" ]; then
  step "the same numbers as of one run?"
  # Tables hold every number that was shown; nothing in them names the file.
  "$probe" zeroshot "$out/one-run.h5" --questions demo/questions.jsonl --tables "$out/one-run/zeroshot" --quiet >/dev/null
  "$probe" classify "$out/one-run.h5" --tables "$out/one-run/classify" --quiet >/dev/null
  "$probe" linear "$out/one-run.h5" --train-fraction 0.5 --tables "$out/one-run/linear" --quiet >/dev/null
  "$probe" match "$out/one-run.h5" --mode both --tables "$out/one-run/match" --quiet >/dev/null
  count=0
  for table in "$out"/one-run/*/*.csv; do
    other=$out/${table#"$out/one-run/"}
    if ! cmp "$table" "$other"; then
      echo "error: $other differs from one run's" >&2
      exit 1
    fi
    count=$((count + 1))
  done
  echo "yes: $count tables of zeroshot, classify, linear and match are equal, byte for byte"
fi
step "probe export: vectors for other tools"
"$probe" export "$out/demo.h5" -o "$out/vectors"
step "probe report: all of it on one page, with pictures"
"$probe" report "$out/report.html" "$out"/{zeroshot,classify,linear,compare}/result.json "$out/neighbors.json" \
  --images demo --title "What the demo encoder knows" --quiet
printf '\nAll of it is in %s; the page to open is %s\n' "$out" "$(realpath "$out/report.html")"
