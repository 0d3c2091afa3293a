#!/bin/sh
# Runs each argument as a command line, all at the same time, and prints the output of each, one after the other.
# Fails when any of them fails, once all have ended.
set -eu
outputs="$(mktemp -d)"
trap 'rm -rf "$outputs"' EXIT
# Background processes of a script ignore Ctrl-C.
trap 'rm -rf "$outputs"; trap - TERM; kill -TERM 0' INT

processes=
number=0
for line in "$@"; do
    number=$((number + 1))
    sh -c "$line" >"$outputs/$number" 2>&1 &
    processes="$processes $!"
done

failed=0
number=0
for process in $processes; do
    number=$((number + 1))
    code=0
    wait "$process" || code=$?
    echo "$1"
    cat "$outputs/$number"
    if [ "$code" -ne 0 ]; then
        echo "It failed with exit code $code."
        failed=1
    fi
    shift
done
exit "$failed"
