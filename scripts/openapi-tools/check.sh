#!/usr/bin/env bash
# Checks docs/openapi.json with programs of others: redocly and spectral find no fault, every example fits its schema, and
# a client that hey-api generates compiles under strict TypeScript.
set -euo pipefail
cd "$(dirname "$0")"

npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
tools="$PWD/node_modules/.bin"
document="$PWD/../../docs/openapi.json"
client=$(mktemp -d)
trap 'rm -rf "$client"' EXIT

"$tools/redocly" lint --config redocly.yaml "$document"
"$tools/spectral" lint --ruleset spectral.yaml --fail-severity=warn "$document"
"$tools/openapi-ts" --input "$document" --output "$client/src" --no-log-file
cp client.tsconfig.json "$client/tsconfig.json"
echo '{"type": "module"}' >"$client/package.json"
"$tools/tsc" --project "$client/tsconfig.json"
