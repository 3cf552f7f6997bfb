package sqlrun_test

import (
	"fmt"
	"strings"
	"testing"
)

// Jobs that run in this process are listed, described and stopped.
func TestJobs(t *testing.T) {
	s := open(t)
	if got := answer(t.Context(), s, "SHOW JOBS"); got != "" {
		t.Fatalf("before there were any: %s", got)
	}
	run(t, s, "SET 'pipeline.name' = 'mine'", "CREATE TABLE sink (a INT) WITH ('connector'='blackhole')", "INSERT INTO sink VALUES (1)", "RESET 'pipeline.name'")
	r, err := s.Execute(t.Context(), "SELECT 7", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Rows.Close()
	for err == nil {
		_, err = r.Rows.Next(t.Context())
	}
	all := strings.Split(strings.TrimSpace(answer(t.Context(), s, "SHOW JOBS")), "\n")
	if len(all) != 2 || !strings.HasPrefix(all[0], r.Job+" | SELECT 7 | FINISHED | 20") || !strings.Contains(all[1], " | mine | FINISHED | 20") {
		t.Errorf("got %q", all)
	}
	none := strings.Repeat("0", 32)
	for statement, want := range map[string]string{
		fmt.Sprintf("DESCRIBE JOB '%s'", r.Job):                       r.Job + " | SELECT 7 | FINISHED | 20",
		fmt.Sprintf("DESCRIBE JOB '%s'", none):                        "Described job " + none + " does not exist in the cluster.",
		fmt.Sprintf("STOP JOB '%s'", none):                            "there is no job " + none,
		fmt.Sprintf("STOP JOB '%s'", r.Job):                           "has ended as FINISHED",
		fmt.Sprintf("STOP JOB '%s' WITH SAVEPOINT WITH DRAIN", r.Job): "take no savepoints",
	} {
		if got := answer(t.Context(), s, statement); !strings.Contains(got, want) {
			t.Errorf("%s gives %s, want %s", statement, got, want)
		}
	}
}

// A job that runs is canceled by STOP JOB.
func TestStopJob(t *testing.T) {
	s := open(t)
	run(t, s, "SET 'table.dml-sync' = 'false'",
		"CREATE TABLE slow (a INT) WITH ('connector'='datagen', 'rows-per-second'='1', 'number-of-rows'='100000')", "CREATE TABLE sink (a INT) WITH ('connector'='blackhole')")
	r, err := s.Execute(t.Context(), "INSERT INTO sink SELECT a FROM slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t.Context(), s, "SHOW JOBS"); !strings.Contains(got, r.Job+" | insert-into_default_catalog.default_database.sink | RUNNING | ") {
		t.Errorf("while it runs: %s", got)
	}
	if got := answer(t.Context(), s, fmt.Sprintf("STOP JOB '%s'", r.Job)); got != "OK\n" {
		t.Errorf("stop gives %s", got)
	}
	if got := answer(t.Context(), s, "SHOW JOBS"); !strings.Contains(got, " | CANCELED | ") {
		t.Errorf("after it was stopped: %s", got)
	}
}
