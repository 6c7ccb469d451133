#!/usr/bin/env bash
# Runs what is reported about looking again, films and pairs of pictures:
#   tools/passes.sh [QUESTIONS [OUT [ARRCOC]]]
# QUESTIONS of each suite (100; also the number of clips, at most 100), OUT (out/passes), the program
# (build/release/arrcoc). Parts whose file is there already are not run again. FILM=DIR (frames and
# boxes.jsonl) measures a real film as well; nothing is fitted on it.
# HELD=DIR[,DIR...] (questions about real pictures that training held aside) compares there, too.
# After new weights: FIT=1 tools/passes.sh ... fits models/tiny/film.json first.
set -euo pipefail
cd "$(dirname "$0")/.."
questions=${1:-100}
out=${2:-out/passes}
arrcoc=${3:-build/release/arrcoc}
benchmarks=$(dirname "$arrcoc")/benchmarks/arrcoc_benchmarks
clips=$((questions < 100 ? questions : 100))
mkdir -p "$out"

part() {  # NAME COMMAND...
  local name=$1
  shift
  if [ -s "$out/$name.txt" ]; then return; fi
  echo "== $name: $*" >&2
  { echo "$*" && "$@"; } >"$out/$name.part"
  mv "$out/$name.part" "$out/$name.txt"
}

if [ "${FIT:-}" = 1 ]; then
  part fit "$arrcoc" clips --fit models/tiny/film.json --count 160 --first-seed 10001
fi

# Single looks get, suite by suite, the mean of all tokens that passes spent; so does looking again
# with computed maps, where the bundle has the weights for it.
again=passes
if [ -s "${ARRCOC_MODELS:-models}/tiny/history.safetensors" ]; then again=passes,history; fi
part equal_totals "$arrcoc" eval --suite hard,documents --limit "$questions" --budget 180 \
  --policy "$again,realized" --equal-totals passes
if [ -n "${HELD:-}" ]; then
  folders=()
  for folder in ${HELD//,/ }; do folders+=(--data "$folder"); done
  part equal_totals_held "$arrcoc" eval "${folders[@]}" --limit "$questions" --budget 180 \
    --policy "$again,realized" --equal-totals passes
fi
part equal_totals_easy "$arrcoc" eval --suite charts,scenes,objects,unseen --limit "$questions" \
  --budget 180 --policy realized,passes --equal-totals passes
# The same nominal budget for both.
part nominal "$arrcoc" eval --suite hard,documents,charts,scenes,objects,unseen \
  --limit "$questions" --budget 180 --policy realized,passes
# The learned policy against the rules, on logged passes that were kept back.
part learned "$arrcoc" passes --fit "$out/policy.json" --limit "$((questions > 40 ? questions : 40))"
part pairs "$arrcoc" eval --pairs --limit "$questions"
# Coverage against per-frame and breadth-first, coherence, F1 of cuts.
part clips "$arrcoc" clips --count "$clips"
if [ -n "${FILM:-}" ]; then part film "$arrcoc" clips --data "$FILM"; fi
if [ -x "$benchmarks" ]; then
  part cost "$benchmarks" --benchmark_filter=Ratio_watch --benchmark_repetitions=3
fi

for name in fit equal_totals equal_totals_held equal_totals_easy nominal learned pairs clips film cost; do
  if [ ! -s "$out/$name.txt" ]; then continue; fi
  echo
  echo "## $name"
  sed 's/^/    /' "$out/$name.txt"
done | tee "$out/figures.md"
