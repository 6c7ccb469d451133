#!/usr/bin/env bash
# Save image tokens of another server, here one of OpenAI's dialect: examples/shell/proxy.sh UPSTREAM [PICTURE] [QUESTION]
# PORT: where the proxy listens, 8081 unless it is set.
set -euo pipefail
upstream=${1:?usage: proxy.sh http://HOST:PORT [PICTURE] [QUESTION]}
port=${PORT:-8081}
arrcoc=${ARRCOC:-arrcoc}

"$arrcoc" serve --upstream "$upstream" --port "$port" &
proxy=$!
trap 'kill "$proxy"; wait "$proxy"' EXIT
curl --silent --fail --retry 60 --retry-delay 1 --retry-connrefused --output /dev/null "http://127.0.0.1:$port/health"

# Clients change their address and nothing else.
ARRCOC_URL=http://127.0.0.1:$port "$(dirname "$0")/../clients/curl.sh" "${@:2}"
"$arrcoc" serve --report --port "$port"
