#!/bin/sh
# Runs a process of Weir in the background or the foreground, and ends those that it has
# started: weir-daemon.sh VERB NAME (start|start-foreground|stop|stop-all) [ARGUMENT...]
# The pids are in $WEIR_HOME/run, what a process prints in $WEIR_HOME/log.
bin=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
[ $# -ge 3 ] || { echo "Usage: $0 VERB NAME (start|start-foreground|stop|stop-all) [ARGUMENT...]" >&2; exit 1; }
verb=$1 name=$2 action=$3
shift 3
home=${WEIR_HOME:-$HOME/.weir}
host=$(hostname)
if [ ! -x "$bin/weir" ]; then
	echo "$bin/weir is missing. \`make build\` makes it." >&2
	exit 1
fi

# runs PID tells whether the process is there, and one of Weir's. One that is being started
# has no command line for a moment, but a program; one that has ended has neither.
runs() {
	kill -0 "$1" 2>/dev/null || return 1
	[ -r "/proc/$1/cmdline" ] || return 0
	case $({ tr '\0' ' ' <"/proc/$1/cmdline"; } 2>/dev/null) in
	*weir*) ;;
	'') [ -n "$(readlink "/proc/$1/exe")" ] ;;
	*) return 1 ;;
	esac
}

# taken FILE tells whether a process has the file: one that runs, or is just being started,
# whose pid is not in it yet.
taken() {
	pid=$(cat "$1" 2>/dev/null)
	[ -z "$pid" ] || runs "$pid"
}

# end FILE ends the process whose pid is in the file.
end() {
	pid=$(cat "$1")
	rm -f "$1"
	if ! runs "$pid"; then
		echo "No $name daemon (pid: $pid) is running anymore on $host."
		return
	fi
	echo "Stopping $name daemon (pid: $pid) on host $host."
	kill "$pid"
	waited=0
	while runs "$pid" && [ "$waited" -lt 60 ]; do
		sleep 1
		waited=$((waited + 1))
	done
	if runs "$pid"; then
		echo "The $name daemon (pid: $pid) has not ended within a minute." >&2
		exit 1
	fi
}

case $action in
start-foreground)
	exec "$bin/weir" "$verb" "$@"
	;;
start)
	mkdir -p "$home/run" "$home/log" || exit 1
	n=1
	# Whoever makes the file has the number, also of two that start at the same moment.
	until file=$home/run/daemon-$verb-$n.pid && (set -C && : >"$file") 2>/dev/null; do
		if [ ! -e "$file" ]; then
			echo "$file cannot be made." >&2
			exit 1
		elif taken "$file"; then
			echo "[INFO] $n instance(s) of $name are already running on $host."
			n=$((n + 1))
		else
			# Of several that find what is left of a process that is gone, one may come so late
			# that it moves away what another has made since, and puts that back.
			mv "$file" "$file.$$" 2>/dev/null || continue
			! taken "$file.$$" || ln "$file.$$" "$file" 2>/dev/null
			rm -f "$file.$$"
		fi
	done
	echo "Starting $name daemon on host $host."
	nohup "$bin/weir" "$verb" "$@" >"$home/log/daemon-$verb-$n.out" 2>&1 </dev/null &
	echo $! >"$file"
	;;
stop)
	last=
	n=1
	while [ -e "$home/run/daemon-$verb-$n.pid" ]; do
		last=$home/run/daemon-$verb-$n.pid
		n=$((n + 1))
	done
	if [ -z "$last" ]; then
		echo "No $name daemon to stop on host $host."
		exit 0
	fi
	end "$last"
	;;
stop-all)
	for file in "$home"/run/daemon-"$verb"-*.pid; do
		[ ! -e "$file" ] || end "$file"
	done
	;;
*)
	echo "Unknown action $action; allowed are start, start-foreground, stop and stop-all." >&2
	exit 1
	;;
esac
