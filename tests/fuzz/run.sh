#!/bin/sh
# Runs the fuzzers for a while: tests/fuzz/run.sh BUILD [SECONDS_EACH] [NAME...]
# What they find is written to BUILD/fuzz-finds, one file that reproduces it each, and the exit status
# is 1. The corpus in BUILD/fuzz-corpus grows from run to run.
set -eu
build=$1
seconds=${2:-25}
[ $# -ge 2 ] && shift 2 || shift 1
[ $# -ge 1 ] || set -- decode query options safetensors tokenizer request
programs=$build/tests/fuzz
mkdir -p "$build/fuzz-finds"
# The codec and tensor libraries keep memory until the end on purpose.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
"$programs/fuzz_seeds" "$build/fuzz-seeds"
for name in "$@"; do
  mkdir -p "$build/fuzz-corpus/$name" "$build/fuzz-seeds/$name"
  words=$(dirname "$0")/$name.dict
  [ -f "$words" ] && words="-dict=$words" || words=""
  log=$build/fuzz-$name.log
  if ! "$programs/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 \
    -max_len=8192 -print_final_stats=1 -verbosity=0 $words \
    -artifact_prefix="$build/fuzz-finds/$name-" \
    "$build/fuzz-corpus/$name" "$build/fuzz-seeds/$name" >"$log" 2>&1; then
    tail -n 100 "$log" >&2
    echo "fuzz_$name found something; see $log and $build/fuzz-finds" >&2
    exit 1
  fi
  echo "fuzz_$name: nothing found in $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
done
