package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An SQL program with functions of its own runs in workers that are the program.
func TestSQLProgramRunsOnACluster(t *testing.T) {
	c := start(t, 2)
	dir := t.TempDir()
	writeFile(t, dir+"/payments.csv", "4000123412341234,10.0,lunch #food\n4000123412341234,30.0,\n4000987698769876,5.0,#taxi #late\n")
	out, errOut, code := c.run([]string{"-p", "2"}, "payments", "--input", dir+"/payments.csv", "--output", dir+"/sums")
	if code != 0 {
		t.Fatalf("code %d\n%s%s", code, out, errOut)
	}
	if got := lines(t, dir+"/sums"); !slices.Equal(got, []string{"…1234,2,40.0,25.0,#food", "…9876,2,10.0,5.0,#taxi"}) {
		t.Errorf("got %q", got)
	}

	writeFile(t, dir+"/bad.csv", "4000123412341234,10.0,\n12,1.0,\n")
	job := c.detached("payments", "--input", dir+"/bad.csv", "--output", dir+"/none")
	c.failed(job, "function mask", "is no card number", "mask(card)")

	out, errOut, code = c.run(nil, "payments", "--input", dir+"/payments.csv")
	if code == 0 || !strings.Contains(out+errOut, "INSERT INTO a table") {
		t.Errorf("a query whose rows nobody reads: code %d\n%s%s", code, out, errOut)
	}
	out, errOut, code = c.weir("info", "-m", c.rest, filepath.Join(bin, "payments"), "--input", dir+"/payments.csv", "--output", dir+"/sums")
	if code != 0 || !strings.Contains(out, "SQL Unnest") && !strings.Contains(out, "payments") {
		t.Errorf("info: code %d\n%s%s", code, out, errOut)
	}
}
