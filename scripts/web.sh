#!/bin/sh
# Builds the pages into src/zataku/server/web, with exactly what web/package-lock.json says.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
sh "$root/scripts/npm_install.sh" web
cd "$root/web"
sh "$root/scripts/node.sh" npm run build --silent
