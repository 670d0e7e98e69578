#!/usr/bin/env bash
# Runs tests under the sanitizers of GCC.
#
#   scripts/sanitize.sh asan   AddressSanitizer and UndefinedBehaviorSanitizer: all quick tests
#   scripts/sanitize.sh tsan   ThreadSanitizer: the pipeline (loader, encoder, resume) and search
#
# Any report fails the test in which it appears. Suppressions are for third parties alone, each
# explained in tests/sanitizers. Further arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/sanitizers/leaks.supp:print_suppressions=0
# What third parties do to memory inside their own code is not looked at: they were built without.
export TSAN_OPTIONS=suppressions=$PWD/tests/sanitizers/threads.supp:ignore_noninstrumented_modules=1
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

kind=${1:-}
shift || true
case $kind in
  asan) preset=asan-ubsan targets=(all) select=(-L '^quick$') ;;
  tsan)
    preset=tsan
    # GNU OpenMP's barriers are unseen (tests/sanitizers/threads.supp), also around loops of ours:
    # one thread there, so that the loader's and the encoder's threads are what is judged.
    export OMP_NUM_THREADS=1
    targets=(probe index_test pipeline_test resume_test main_job_test determinism_test store_test)
    select=(-R '^(FlatIndex|ByteScanWith|Bugcase2[89]|Bugcase3[1-5]|Pipeline|Resume|MainJob|Determinism|FeatureLog|TryApart)') ;;
  *) sed -n '2,8p' "$0" >&2; exit 2 ;;
esac
scripts/setup.sh --tests --no-build
cmake --preset $preset >/dev/null
cmake --build build/$preset -j "${PROBE_JOBS:-$(nproc)}" --target "${targets[@]}" >&2
# The sanitizers stand between dlopen and its caller, whose own search path is then not looked at.
export LD_LIBRARY_PATH=$PWD/build/$preset/lib/probe
ctest --test-dir build/$preset "${select[@]}" --output-on-failure "$@"
