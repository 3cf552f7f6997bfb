package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "payments.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSumsByCard(t *testing.T) {
	input := write(t, "4000123412341234,10.0,lunch #food", "4000123412341234,30.0,", "4000987698769876,5.0,#taxi #late")
	env := newEnv()
	defer env.Close()
	output := filepath.Join(t.TempDir(), "sums")
	if err := run(t.Context(), env, input, output); err != nil {
		t.Fatal(err)
	}
	got, err := env.Collect[[]string](t.Context(), "SELECT * FROM sums ORDER BY card")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"…1234", "2", "40.0", "25.0", "#food"}, {"…9876", "2", "10.0", "5.0", "#taxi"}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatIsNoCardFailsTheJob(t *testing.T) {
	env := newEnv()
	defer env.Close()
	err := run(t.Context(), env, write(t, "4000123412341234,10.0,", "12,1.0,"), "")
	if err == nil || !strings.Contains(err.Error(), `function mask: "12" is no card number`) {
		t.Error(err)
	}
}
