#!/usr/bin/env bash
# Ask a running `arrcoc serve` with curl: examples/clients/curl.sh [PICTURE] [QUESTION]
set -euo pipefail
picture=${1:-$(dirname "$0")/../pictures/receipt.jpg}
question=${2:-What is the total?}
server=${ARRCOC_URL:-http://127.0.0.1:8080}

# What a JSON string cannot hold as it is.
question=${question//\\/\\\\}
question=${question//\"/\\\"}
question=${question//$'\n'/ }
case $picture in
  *.png) kind=png ;;
  *.webp) kind=webp ;;
  *) kind=jpeg ;;
esac

# The picture goes through a file: it is longer than a command line may be.
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{
  printf '{"model":"arrcoc-tiny","arrcoc":{"budget":180},"messages":[{"role":"user","content":['
  printf '{"type":"image_url","image_url":{"url":"data:image/%s;base64,' "$kind"
  base64 -w0 "$picture"
  printf '"}},{"type":"text","text":"%s"}]}]}' "$question"
} >"$body"
curl --silent --show-error --fail-with-body "$server/v1/chat/completions" \
  -H "Content-Type: application/json" -H "Authorization: Bearer ${ARRCOC_KEY:-none}" --data-binary "@$body"
echo
