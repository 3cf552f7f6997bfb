# Answers statements of a program that measures DuckDB: a line of JSON for each
# on standard input, {"sql": TEXT}, and one on standard output with the rows as
# texts, the types of the columns, and the seconds that the statement took.
import json
import os
import resource
import sys
import time

import duckdb

# Only replies go to standard output, and no bar of a slow query's progress.
replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
connection = duckdb.connect()
connection.execute("SET threads = %d" % int(sys.argv[1]))
connection.execute("SET enable_progress_bar = false")


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def answer(sql):
    began, used = time.monotonic(), cpu()
    result = connection.execute(sql)
    rows = result.fetchall()
    types = [str(column[1]) for column in result.description or []]
    wall, used = time.monotonic() - began, cpu() - used
    texts = [["<NULL>" if cell is None else str(cell) for cell in row] for row in rows]
    return {"rows": texts, "types": types, "wall": wall, "cpu": used}


print(json.dumps({"version": duckdb.__version__}), file=replies, flush=True)
for line in sys.stdin:
    try:
        reply = answer(json.loads(line)["sql"])
    except duckdb.Error as error:
        reply = {"error": str(error)}
    print(json.dumps(reply), file=replies, flush=True)
