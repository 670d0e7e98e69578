#!/usr/bin/env bash
# Compares probe's resize, crop and token ids with Pillow, openai/CLIP's tokenizer (with
# ftfy) and SentencePiece through Hugging Face, everything made afresh.
#   scripts/parity_preprocess_tokenizers.sh BUILD PHOTOS... [-- NAMES...] [-- MODEL...]
# BUILD: a configured build folder. PHOTOS: folders with at least 200 photos. NAMES: folders
# with category name files (see tests/parity/text_corpus.py). MODEL: SentencePiece models;
# one of up to 32,000 pieces is trained in any case. Uses .venv-parity (made on the first
# run; PROBE_PARITY_VENV names another). Exits 1 if a bar is missed. The counts go to
# BUILD/parity/pixels.json and ids.json.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 2 ] || { sed -n '2,10p' "$0" >&2; exit 2; }
build=$1
shift
part=0
photos=() names=() models="-"
for word in "$@"; do
  if [ "$word" = -- ]; then part=$((part + 1)); continue; fi
  case $part in
    0) photos+=("$word") ;;
    1) names+=("$word") ;;
    *) models="$word,$models" ;;
  esac
done

venv=${PROBE_PARITY_VENV:-$root/.venv-parity}
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet -r "$root/tests/parity/requirements.txt"
  # Only its simple_tokenizer.py is used; its other needs would bring torch.
  "$venv/bin/pip" install --quiet --no-deps openai-clip==1.0.1
fi

cmake --build "$build" --target dump_pixels dump_ids -- -j2
tools=$build/tests
results=$build/parity
mkdir -p "$results"
failed=0
"$venv/bin/python" "$root/tests/parity/compare_pixels.py" "$tools/dump_pixels" \
  "${photos[@]}" --time --json "$results/pixels.json" || failed=1
"$venv/bin/python" "$root/tests/parity/compare_ids.py" "$tools/dump_ids" \
  "$root/tests/data/clip_bpe/merges.txt.gz" "$models" "${names[@]}" \
  --json "$results/ids.json" || failed=1
exit $failed
