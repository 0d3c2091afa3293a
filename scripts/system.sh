#!/bin/sh
# Makes sure that commands from Debian's packages are there. Arguments: command:package pairs.
set -eu

missing=""
for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
missing="${missing# }"

if [ $# -eq 0 ]; then
    echo "Nothing is needed from the system."
elif [ -z "$missing" ]; then
    echo "Everything needed from the system is there."
elif [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing from the system: $missing" >&2
    echo "Install as root, for example: apt-get install $missing" >&2
    exit 1
else
    echo "Installing from Debian: $missing"
    apt-get update -qq
    # Unquoted on purpose: one word for each package.
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi
