#!/bin/sh
# Runs the fuzzers for a while: tests/fuzz/run.sh [--count] BUILD [SECONDS_EACH] [NAME...]
# What they find is written to BUILD/fuzz-finds, one file that reproduces it each, and the exit status
# is 1. The corpus in BUILD/fuzz-corpus grows from run to run. --count: what ran without a find is
# added to the table of docs/fuzzing.md.
set -eu
here=$(dirname "$0")
table=$here/../../docs/fuzzing.md
count=false
[ "${1:-}" = --count ] && count=true && shift
build=$1
seconds=${2:-25}
[ $# -ge 2 ] && shift 2 || shift 1
[ $# -ge 1 ] || set -- $(sed -n 's/^| `\([a-z_]*\)` .*/\1/p' "$table")
programs=$build/tests/fuzz
mkdir -p "$build/fuzz-finds"
# The codec and tensor libraries keep memory until the end on purpose.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
export OMP_NUM_THREADS=1 OPENCV_FOR_THREADS_NUM=1
"$programs/fuzz_seeds" "$build/fuzz-seeds"

# Adds $2 inputs to the row of target $1 and to the sum; several runs may end at once.
add() (
  flock 9
  awk -v name="\`$1\`" -v more="$2" -v day="$(date -u +%F)" '
    function plain(text) { gsub(/[ ,]/, "", text); return text }
    function grouped(n,  out) {
      for (n = sprintf("%d", n); length(n) > 3; n = substr(n, 1, length(n) - 3))
        out = "," substr(n, length(n) - 2) out
      return n out
    }
    BEGIN { FS = OFS = "|" }
    $2 ~ /^ `/ {
      if (plain($2) == name) { $4 = " " grouped(plain($4) + more) " "; $5 = " " day " " }
      sum += plain($4)
    }
    $2 == " all " { $4 = " " grouped(sum) " " }
    { print }' "$table" >"$table.new"
  mv "$table.new" "$table"
) 9>"$build/fuzz-count.lock"

for name in "$@"; do
  corpus=$build/fuzz-corpus/$name
  mkdir -p "$corpus" "$build/fuzz-seeds/$name"
  words=$here/$name.dict
  [ "$name" != relay ] || words=$here/request.dict
  [ -f "$words" ] && words="-dict=$words" || words=""
  kept=$here/corpus/$name
  [ -d "$kept" ] || kept=""
  case $name in decode|png|tiff|heic|pdf) longest=8192 ;; *) longest=2048 ;; esac
  log=$build/fuzz-$name.log
  if ! "$programs/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 \
    -max_len="$longest" -print_final_stats=1 -verbosity=0 -print_funcs=0 $words \
    -artifact_prefix="$build/fuzz-finds/$name-" \
    "$corpus" "$build/fuzz-seeds/$name" $kept >"$log" 2>&1; then
    tail -n 100 "$log" >&2
    echo "fuzz_$name found something; see $log and $build/fuzz-finds" >&2
    exit 1
  fi
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "fuzz_$name: nothing found in $inputs inputs"
  [ $count = false ] || add "$name" "$inputs"
done
