#!/bin/sh
# Installs the npm packages of a folder, exactly as its package-lock.json says: `scripts/npm_install.sh web`.
# Registries differ in which builds for other platforms they have, so npm may not write the lock; what it installed is
# compared with it instead.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
cd "$root/$1"
sh "$root/scripts/node.sh" npm install --no-save --no-progress --loglevel=error
sh "$root/scripts/node.sh" node "$root/scripts/compare_with_lock.mjs"
