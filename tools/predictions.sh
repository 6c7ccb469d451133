#!/usr/bin/env bash
# Runs what docs/predictions.md reports: tools/predictions.sh [QUESTIONS [OUT [ARRCOC]]]
# QUESTIONS of each suite and folder (40), OUT (out/predictions), the program (build/release/arrcoc).
# DATA=DIR: a folder with the sets receipts, charts, docvqa, docvqa_gaze, refcoco and fixations; without
# it the generated suites alone. Parts whose file is there already are not run again. Tables go to
# OUT/tables.md.
set -euo pipefail
cd "$(dirname "$0")/.."
questions=${1:-40}
out=${2:-out/predictions}
arrcoc=${3:-build/release/arrcoc}
figures=tools/predictions.py
mkdir -p "$out"

answers() {  # NAME FLAGS...: answers as NAME.jsonl, what is printed as NAME.txt
  local name=$1
  shift
  if [ -s "$out/$name.jsonl" ]; then return; fi
  echo "== $name: arrcoc eval $*" >&2
  "$arrcoc" eval --limit "$questions" --predictions "$out/$name.jsonl" --details "$@" >"$out/$name.txt"
}

sets() {  # NAME...: --data DIR/NAME of each
  for name in "$@"; do printf -- '--data\n%s\n' "$DATA/$name"; done
}

maps=(--policy "realized,information,saliency,text")
# A floor under print: 0.43 of "print anywhere" below the network's map, all else the same.
floor=(--policy "realized,no-information" --coupling network --salience text --allocator experts)
answers maps --suite documents,charts,scenes,objects "${maps[@]}"
answers looks --suite documents,charts,scenes,objects,hard --policy passes --passes 4
answers floor --suite documents,hard "${floor[@]}"
if [ -n "${DATA:-}" ]; then
  mapfile -t all < <(sets receipts charts docvqa docvqa_gaze refcoco)
  mapfile -t print < <(sets receipts charts docvqa docvqa_gaze)
  mapfile -t people < <(sets fixations docvqa_gaze)
  answers real_maps "${all[@]}" --look-only --budget auto "${maps[@]}"
  answers real_looks "${print[@]}" --budget auto --policy passes --passes 4
  answers real_floor "${print[@]}" --budget auto "${floor[@]}"
  if [ ! -s "$out/people.txt" ]; then
    "$arrcoc" eval --metric gaze "${people[@]}" >"$out/people.part"
    mv "$out/people.part" "$out/people.txt"
  fi
fi

{
  for figure in zones bias patterns probe; do
    echo "## $figure"
    extra=()
    if [ "$figure" = bias ]; then extra=(--against information); fi
    for name in maps real_maps; do
      if [ -s "$out/$name.jsonl" ]; then "$figures" "$figure" "$out/$name.jsonl" "${extra[@]}"; fi
    done
  done
  for figure in looks floor; do
    echo "## $figure"
    kind=$figure
    if [ "$figure" = looks ]; then kind=passes; fi
    for name in $figure real_$figure; do
      if [ -s "$out/$name.jsonl" ]; then "$figures" "$kind" "$out/$name.jsonl"; fi
    done
  done
  if [ -s "$out/people.txt" ]; then
    echo "## people"
    sed 's/^/    /' "$out/people.txt"
  fi
  grep -h 'maps of different questions' "$out/maps.txt" || true
} | tee "$out/tables.md"
