#!/usr/bin/env bash
# Runs what docs/hypotheses.md reports: tools/hypotheses.sh [QUESTIONS [OUT [ARRCOC]]]
# QUESTIONS of each of four suites (60), OUT (out/hypotheses), the program (build/release/arrcoc).
# Two runs of one thread each share the cores; progress and time left go to standard error. A stopped
# run goes on where it was. Tables go to OUT/tables.md.
set -euo pipefail
cd "$(dirname "$0")/.."
questions=${1:-60}
out=${2:-out/hypotheses}
arrcoc=${3:-build/release/arrcoc}
suites=documents,charts,scenes,objects
large=$((questions / 3 + 1))  # questions a suite for budgets of more than 400 tokens
native=$((questions / 12 + 1))  # and for what encodes every patch
mkdir -p "$out"
started=$SECONDS

run() {  # NAME FLAGS...
  local name=$1
  shift
  echo "== $name: arrcoc bench --suite $suites --limit $questions --remember $*" >&2
  OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$arrcoc" bench --suite "$suites" --limit "$questions" \
    --remember --large-limit "$large" --native-limit "$native" --out "$out/$name" "$@" \
    2> >(sed -u "s/^/$name: /" >&2) >"$out/$name.txt"
  echo "== $name: done after $((SECONDS - started)) s" >&2
}

# 2, 3, 5: scorers, balancing, channels; then 8: against every patch
parts() {
  run parts --policies realized --budgets 160 --ablation
  run native --policies realized,native --budgets 180
}
parts &
other=$!
trap 'kill "$other" 2>/dev/null || true' INT TERM
# 1: the question against none; 4: how many tokens; 7: the four ranges ("auto" is 64 to 400)
run looking --budgets 64,160,400 --policies \
realized,oracle,resize,random,breadth-first,text,realized@100,realized@256,realized@512,realized@800,\
realized@auto:32-200,realized@auto,realized@auto:128-800,realized@auto:256-1600
# 6: variable against a fixed count of the same mean
mean=$(sed -n 's/^| realized | auto |[^|]*|[^|]*|[^|]*|[^|]*| *\([0-9]*\).*/\1/p' \
  "$out/looking/report.md" | head -1)
run variable --policies realized --budgets "$mean,auto"
wait "$other"
# 8: time and memory, with nothing else running
"$arrcoc" bench --speed >"$out/speed.txt"

{
  echo "# Hypotheses, $questions questions of each suite ($suites)"
  for name in looking parts variable native; do
    echo
    echo "## $name"
    sed -e '/^Settings/d' -e '/^Machine/d' -e '/^# /d' -e 's/^## /### /' "$out/$name.txt"
  done
  echo
  echo "## speed"
  sed 's/^/    /' "$out/speed.txt"
} >"$out/tables.md"
echo "$out/tables.md after $((SECONDS - started)) s"
