#!/bin/sh
# Builds the pages into src/zataku/server/web, with exactly what web/package-lock.json says.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
cd "$root/web"

before="$(mktemp)"
trap 'rm -f "$before"' EXIT
cp package-lock.json "$before"
sh "$root/scripts/node.sh" npm install --no-progress --loglevel=error

if ! cmp -s "$before" package-lock.json; then
    cp "$before" package-lock.json
    echo "npm wanted to change web/package-lock.json: package.json and the lock disagree. The lock was put back." >&2
    exit 1
fi

sh "$root/scripts/node.sh" npm run build --silent
