#!/usr/bin/env bash
# Runs what docs/hypotheses.md reports: tools/hypotheses.sh [QUESTIONS [OUT [ARRCOC]]]
# QUESTIONS of each of four suites (40), OUT (out/hypotheses), the program (build/release/arrcoc).
# A stopped run goes on where it was. Tables go to OUT/tables.md.
set -euo pipefail
cd "$(dirname "$0")/.."
questions=${1:-40}
out=${2:-out/hypotheses}
arrcoc=${3:-build/release/arrcoc}
suites=documents,charts,scenes,objects
mkdir -p "$out"

run() {  # NAME FLAGS...
  local name=$1
  shift
  echo "== $name: arrcoc bench --suite $suites --limit $questions $*" >&2
  "$arrcoc" bench --suite "$suites" --limit "$questions" --out "$out/$name" "$@" >"$out/$name.txt"
}

# 1, 2, 3, 5: the question against none, scorers, balancing, channels
run blind --policies realized,oracle,resize,random,breadth-first,text --budgets 64,160,400 --ablation
# 4: how many tokens
run counts --policies realized --budgets 64,100,160,256,400,512,800
# 7: the four ranges
run ranges --policies realized --budgets auto:32-200,auto:64-400,auto:128-800,auto:256-1600
# 6: variable against a fixed count of the same mean; "auto" first, its mean decides the other
run variable_mean --policies realized --budgets auto
mean=$(sed -n 's/^| realized | auto |[^|]*|[^|]*|[^|]*|[^|]*| *\([0-9]*\).*/\1/p' \
  "$out/variable_mean/report.md" | head -1)
run variable --policies realized --budgets "$mean,auto"
# 8: the success rule
run native --policies realized,native --budgets 180 --native-limit "$((questions / 8 + 1))"
"$arrcoc" bench --speed >"$out/speed.txt"

{
  echo "# Hypotheses, $questions questions of each suite ($suites)"
  for name in blind counts ranges variable native; do
    echo
    echo "## $name"
    sed -e '/^Settings/d' -e '/^Machine/d' -e '/^# /d' -e 's/^## /### /' "$out/$name.txt"
  done
  echo
  echo "## speed"
  sed 's/^/    /' "$out/speed.txt"
} >"$out/tables.md"
echo "$out/tables.md"
