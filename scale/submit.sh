#!/usr/bin/env bash
# Submits the missing shards of a dataset as a Slurm job array, and a job that joins them when
# all have ended well. Run it again after failures: only what is missing is submitted.
#   scale/submit.sh [-s "SBATCH OPTIONS"] DATA FOLDER N OUTPUT.h5 [EMBED OPTIONS]
#   scale/submit.sh -s "--cpus-per-task=8 --time=4:00:00" photos/ shards 64 photos.h5 --encoder siglip
# DATA, FOLDER, the encoder and the program (PROBE, default: probe) must be seen under the same
# names by every node. Prints the job ids: the array's, if there is one, and the join's.
set -euo pipefail
sbatch_options=
if [ "${1:-}" = -s ]; then
  sbatch_options=$2
  shift 2
fi
if [ $# -lt 4 ] || [[ $1 == -* ]]; then
  sed -n '2,7p' "$0" >&2
  exit 2
fi
data=$(realpath "$1") folder=$2 shards=$3 output=$(realpath "$4")
shift 4
here=$(dirname "$(realpath "$0")")
export PROBE=${PROBE:-probe}
mkdir -p "$folder"
folder=$(realpath "$folder")

# Exit code 1 only says that some are missing.
missing=$("$PROBE" shards "$folder" --count "$shards" --missing) || [ $? -eq 1 ]
after=()
if [ -n "$missing" ]; then
  # shellcheck disable=SC2086  # several options
  array=$(sbatch --parsable --array="$missing" --output="$folder/%x-%A_%a.log" $sbatch_options \
    "$here/embed.sbatch" "$data" "$folder" "$shards" "$@")
  array=${array%%;*}
  echo "$array"
  after=(--dependency="afterok:$array" --kill-on-invalid-dep=yes)
fi
sbatch --parsable --job-name=probe-merge --output="$folder/%x-%A.log" "${after[@]}" \
  --wrap="$(printf '%q merge %q -o %q' "$PROBE" "$folder" "$output")"
