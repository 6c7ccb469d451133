#!/usr/bin/env bash
# The command line: examples/shell/ask.sh [PICTURE] [QUESTION]
# An answer for people, one for programs, where it looked, and many questions at once.
set -euo pipefail
picture=${1:-$(dirname "$0")/../pictures/receipt.jpg}
question=${2:-What is the total?}
arrcoc=${ARRCOC:-arrcoc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$arrcoc" ask "$picture" "$question" --heatmap "$work/map.png"
"$arrcoc" ask "$picture" "$question" --json
"$arrcoc" look "$picture" "$question" --show=blocks

# One line of JSON a question in, one an answer out.
ln -s "$(realpath "$picture")" "$work/picture"
printf '{"image": "%s/picture", "question": "%s"}\n' "$work" "What is the total?" "$work" "What is the date?" >"$work/questions.jsonl"
"$arrcoc" ask --batch "$work/questions.jsonl"
