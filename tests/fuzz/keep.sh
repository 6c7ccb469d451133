#!/bin/sh
# Keeps the best of what runs found: tests/fuzz/keep.sh BUILD [NAME...]
# Of BUILD/fuzz-corpus, the inputs that reach code which smaller ones do not are sorted by size; 32 of
# them, evenly spread, become tests/fuzz/corpus, 12,000 bytes a target at most.
set -eu
here=$(dirname "$0")
build=$1
shift
[ $# -ge 1 ] || set -- $(ls "$build/fuzz-corpus")
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 OMP_NUM_THREADS=1
for name in "$@"; do
  best=$(mktemp -d)
  kept=$here/corpus/$name
  mkdir -p "$kept"
  "$build/tests/fuzz/fuzz_$name" -merge=1 -max_len=1024 -verbosity=0 -print_funcs=0 \
    "$best" "$kept" "$build/fuzz-corpus/$name" >"$build/fuzz-keep-$name.log" 2>&1
  find "$kept" -type f -delete
  step=$(( $(ls "$best" | wc -l) / 32 + 1 ))
  ls -Sr "$best" | awk -v step=$step 'NR % step == 0' | while read -r file; do
    total=$(( ${total:-0} + $(stat -c %s "$best/$file") ))
    [ "$total" -le 12000 ] || break
    cp "$best/$file" "$kept/"
  done
  rm -r "$best"
  echo "$name: $(ls "$kept" | wc -l) inputs, $(cat "$kept"/* | wc -c) bytes"
done
