#!/bin/sh
# Runs each argument as a command line, all at the same time, and shows what each said, one after the other.
# Fails when any of them fails, once all have ended.
set -eu
said="$(mktemp -d)"
trap 'rm -rf "$said"' EXIT
# What runs in the background of a script does not hear Ctrl-C by itself.
trap 'rm -rf "$said"; trap - TERM; kill -TERM 0' INT

running=
number=0
for line in "$@"; do
    number=$((number + 1))
    sh -c "$line" >"$said/$number" 2>&1 &
    running="$running $!"
done

failed=0
number=0
for process in $running; do
    number=$((number + 1))
    ended=0
    wait "$process" || ended=$?
    echo "$1"
    cat "$said/$number"
    if [ "$ended" -ne 0 ]; then
        echo "It failed with exit code $ended."
        failed=1
    fi
    shift
done
exit "$failed"
