#!/bin/sh
# Writes the lock files from pyproject.toml and requirements/*.in. No index is named in them:
# each machine's own pip settings say where packages come from, and the hashes say which.
set -eu
cd "$(dirname "$0")/.."

compile() {
    "${BIN:-.venv/bin}/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --no-emit-index-url "$@"
}

compile "$@" pyproject.toml requirements/build.in -o requirements/runtime.txt
# Constrained, so that what is tested is what is served.
compile "$@" --all-extras pyproject.toml requirements/build.in requirements/dev.in -c requirements/runtime.txt -o requirements/dev.txt
compile "$@" requirements/node.in -c requirements/dev.txt -o requirements/node.txt
