#!/bin/sh
# Installs what tests and benchmarks measure against, exactly as peers/package-lock.json says.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
cd "$root/peers"
mkdir -p node_modules

if [ "$(uname -s) $(uname -m)" != "Linux x86_64" ]; then
    echo "dynoxide is fetched for x86-64 Linux only; tests and benchmarks that need it are left out on this machine." >&2
    exit 0
fi

sh "$root/scripts/npm_install.sh" peers
