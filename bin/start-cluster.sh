#!/bin/sh
# Flink's start-cluster.sh is `weir cluster start`: [--taskmanagers N] [-D key=value...]
bin=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
echo "Starting cluster."
exec "$bin/weir" cluster start "$@"
