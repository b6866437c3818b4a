#!/bin/sh
# Starts hookgate from the folder that this file is in. It needs Node 20.19 or newer; HOOKGATE_NODE names another program than `node`.
here=$(cd "$(dirname "$0")/.." && pwd -P)
node=${HOOKGATE_NODE:-node}
if ! command -v "$node" >/dev/null 2>&1; then
  echo "hookgate needs Node 20.19 or newer, and there is no \`$node\` on PATH. Install it from https://nodejs.org." >&2
  exit 1
fi
exec "$node" --max-semi-space-size=64 "$here/lib/hookgate/dist/adapters/cli/main.js" "$@"
