#!/bin/sh
# Flink's stop-cluster.sh is `weir cluster stop`. TaskManagers that taskmanager.sh has added
# are stopped first.
bin=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
"$bin/taskmanager.sh" stop-all || exit 1
exec "$bin/weir" cluster stop "$@"
