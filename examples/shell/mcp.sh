#!/usr/bin/env bash
# A tool of `arrcoc mcp` by hand, as an agent's program calls it: examples/shell/mcp.sh [PICTURE] [QUESTION]
set -euo pipefail
picture=$(realpath "${1:-$(dirname "$0")/../pictures/receipt.jpg}")
question=${2:-What is the total?}

# As a JSON string.
quoted() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  printf '"%s"' "${text//$'\n'/ }"
}

# A message a line. Standard input ends here, so the server ends when it has answered.
{
  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcp.sh","version":"1"}}}'
  echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"path":%s,"question":%s}}}\n' \
    "$(quoted "$(basename "$picture")")" "$(quoted "$question")"
} | "${ARRCOC:-arrcoc}" mcp --root "$(dirname "$picture")" | grep '"id":2'
