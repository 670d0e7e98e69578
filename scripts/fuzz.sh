#!/usr/bin/env bash
# Fuzzes the readers of other people's files with libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer, and keeps what it learnt in tests/fuzz/corpus.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]    CPU seconds for each target (default: 1200, all)
#
# A finding is any signal, sanitizer report, exception other than probe::Error, broken property,
# leak, run of more than 600 s (by the clock: the machine may be busy) or 2 GiB: its input stays in
# build/fuzz/findings, and the exit is 1.
# New inputs are kept in build/fuzz/found; those that reach new code go into the corpus.
# Installs clang-14 if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '%s\n' "fuzz: $*" >&2; }

seconds=${1:-1200}
[[ $seconds =~ ^[0-9]+$ ]] || { sed -n '2,11p' "$0" >&2; exit 2; }
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(sed -n 's/^probe_fuzz_target(\([a-z_]*\) .*/\1/p' tests/fuzz/CMakeLists.txt)
fi

if ! command -v clang++-14 >/dev/null; then
  say "installing clang-14"
  root=()
  [ "$(id -u)" -eq 0 ] || root=(sudo)
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends clang-14 libclang-rt-14-dev >/dev/null
fi
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
mkdir -p build/fuzz
(
  flock 9  # two of these scripts may run side by side
  [ -f build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
  cmake --build build/fuzz --target "${targets[@]/#/fuzz_}" >&2
) 9>build/fuzz.lock

TMPDIR=$(mktemp -d -p /dev/shm probe-fuzz-XXXXXX)
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR OPENCV_LOG_LEVEL=SILENT UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/sanitizers/leaks.supp:print_suppressions=0

# Options of a target: the longest input, and what is the same for all.
options() {
  local longest=4096 leaks=1
  case $1 in
    image|xlsx|bundle) longest=16384 ;;
    # HDF5 keeps freed memory for itself, which libFuzzer takes for a leak and looks for after
    # every run; the replay under AddressSanitizer looks once, at the end.
    embedding_file) longest=32768 leaks=0 ;;
  esac
  echo "-timeout=600 -rss_limit_mb=2048 -max_len=$longest -detect_leaks=$leaks"
}

cpu_seconds() {  # of a process and its children that ended, from its start
  local fields
  read -r -a fields <"/proc/$1/stat" || return 1
  echo $(((fields[13] + fields[14] + fields[15] + fields[16]) / $(getconf CLK_TCK)))
}

# Runs until the CPU time is spent; libFuzzer then ends by itself at SIGUSR1.
fuzz() {
  local target=$1 log=build/fuzz/$1.log used pid status=0
  mkdir -p "build/fuzz/found/$target" build/fuzz/findings
  # shellcheck disable=SC2046
  build/fuzz/tests/"fuzz_$target" $(options "$target") -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$target-" \
    "build/fuzz/found/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1 &
  pid=$!
  while used=$(cpu_seconds $pid 2>/dev/null) && [ "$used" -lt "$seconds" ]; do sleep 1; done
  kill -USR1 $pid 2>/dev/null || true
  wait $pid || status=$?
  say "$target: ${used:-?} CPU seconds, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs"
  # What ended in the child process of embedding_file, as it should.
  [ $status -ne 0 ] || rm -f "build/fuzz/findings/$target"-crash-*
  [ $status -eq 0 ] || { say "$target: finding, see $log"; tail -n 40 "$log" >&2; }
  return $status
}

failed=0
for target in "${targets[@]}"; do
  fuzz "$target" || failed=1
  # Only what reaches code that nothing in the corpus reaches, the shortest first.
  # shellcheck disable=SC2046
  build/fuzz/tests/"fuzz_$target" $(options "$target") -use_counters=0 -merge=1 \
    -artifact_prefix="build/fuzz/findings/$target-merge-" \
    "tests/fuzz/corpus/$target" "build/fuzz/found/$target" >"build/fuzz/$target-merge.log" 2>&1 ||
    { say "$target: the merge failed, see build/fuzz/$target-merge.log"; failed=1; }
done
exit $failed
