#!/bin/sh
# Flink's taskmanager.sh: (start|start-foreground|stop|stop-all) [ARGUMENT...]
bin=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
action=${1-}
[ -n "$action" ] || { echo "Usage: $0 (start|start-foreground|stop|stop-all) [ARGUMENT...]" >&2; exit 1; }
shift
exec "$bin/weir-daemon.sh" taskmanager taskexecutor "$action" "$@"
