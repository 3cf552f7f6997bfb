#!/bin/sh
# Flink's sql-gateway.sh: (start|start-foreground|stop|stop-all) [-Dkey=value...]
bin=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
action=${1-}
[ -n "$action" ] || { echo "Usage: $0 (start|start-foreground|stop|stop-all) [-Dkey=value...]" >&2; exit 1; }
shift
exec "$bin/weir-daemon.sh" sql-gateway sql-gateway "$action" "$@"
