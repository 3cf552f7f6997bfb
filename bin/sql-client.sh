#!/bin/sh
# Flink's sql-client.sh is `weir sql`, which takes the same options.
bin=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
exec "$bin/weir" sql "$@"
