#!/bin/sh
# Flink's jobmanager.sh: (start|start-foreground) [HOST] [REST-PORT] [ARGUMENT...], stop, stop-all
bin=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
action=${1-}
[ -n "$action" ] || { echo "Usage: $0 ((start|start-foreground) [HOST] [REST-PORT] [ARGUMENT...])|stop|stop-all" >&2; exit 1; }
shift
case ${1-} in
'' | -*) ;;
*)
	host=$1
	shift
	case ${1-} in
	'' | -*) set -- -D "jobmanager.rpc.address=$host" "$@" ;;
	*)
		port=$1
		shift
		set -- -D "jobmanager.rpc.address=$host" -D "rest.port=$port" "$@"
		;;
	esac
	;;
esac
exec "$bin/weir-daemon.sh" jobmanager standalonesession "$action" "$@"
