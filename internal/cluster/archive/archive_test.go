package archive

import (
	"encoding/json/v2"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/ident"
)

var job = ident.JobID{ID: ident.ID{15: 7}}

func entries() []Entry {
	return []Entry{
		{"/jobs/overview", []byte(`{"jobs":[{"jid":"` + job.String() + `","name":"a \"quoted\" é name"}]}`)},
		{"/jobs/" + job.String(), []byte(`{"state":"FINISHED"}`)},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when missing")
	for range 2 { // the second replaces the first
		if err := Write(dir, job, entries()); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != job.String() {
		t.Fatalf("the directory holds %v, error %v", files, err)
	}
	a, err := Read(filepath.Join(dir, job.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries() {
		if got := a.At(e.Path); string(got) != string(e.JSON) {
			t.Errorf("%s: %s, want %s", e.Path, got, e.JSON)
		}
	}
	if a.At("/jobs") != nil || a.Job != job || a.Size == 0 {
		t.Errorf("job %s of %d bytes has %s at /jobs", a.Job, a.Size, a.At("/jobs"))
	}
}

// TestTheFormatIsFlinks reads the file as Flink's history server does.
func TestTheFormatIsFlinks(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, job, entries()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, job.String()))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Archive []struct {
			Path string `json:"path"`
			JSON string `json:"json"`
		} `json:"archive"`
	}
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if len(file.Archive) != 2 || file.Archive[1].Path != "/jobs/"+job.String() || file.Archive[1].JSON != `{"state":"FINISHED"}` {
		t.Errorf("got %s", text)
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, job.String())
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := Write(dir, job, entries())
	if err == nil || !strings.Contains(err.Error(), "write the archive of job "+job.String()+" to "+dir) {
		t.Errorf("got %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, job, entries()); err == nil {
		t.Error("an archive was written into a file")
	}
}

func TestBrokenArchives(t *testing.T) {
	overview := `{\"jobs\":[{\"jid\":\"` + job.String() + `\"}]}`
	entry := func(path, text string) string { return `{"path":"` + path + `","json":"` + text + `"}` }
	whole := func(entries ...string) string { return `{"archive":[` + strings.Join(entries, ",") + `]}` }
	for text, want := range map[string]string{
		"":              "it is no archive",
		"[]":            "it is no archive",
		`{"archive":1}`: "it is no archive",
		whole(entry("/jobs/overview", overview))[:40]: "it is no archive",
		whole(): "there is nothing at /jobs/overview",
		whole(entry("/jobs/overview", overview), entry("/x", "{")):                  `entry 1, "/x", is no JSON`,
		whole(entry("/jobs/overview", overview), entry("/jobs/overview", overview)): `entry 1, "/jobs/overview", is there twice`,
		whole(entry("/jobs/overview", "[]")):                                        "is no list of jobs",
		whole(entry("/jobs/overview", `{\"jobs\":[]}`)):                             "is not the one job",
		whole(entry("/jobs/overview", strings.ReplaceAll(overview, "07", "08"))):    "is not the one job",
		whole(entry("/jobs/overview", `{\"jobs\":[{\"jid\":\"zz\"}]}`)):             "is no list of jobs",
	} {
		if _, err := Decode([]byte(text), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "not-an-id")); err == nil || !strings.Contains(err.Error(), "no job id") {
		t.Errorf("got %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), job.String())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestDirectory(t *testing.T) {
	for location, want := range map[string]string{
		"/var/archives": "/var/archives", "relative/dir": "relative/dir", "file:///var/a%20b": "/var/a b",
		"file:/var/archives": "/var/archives", "file://localhost/var": "/var", "C:/x": "C:/x",
	} {
		if got, err := Directory(location); got != want || err != nil {
			t.Errorf("%s: %q, error %v", location, got, err)
		}
	}
	for location, want := range map[string]string{
		"hdfs:///archives": `not in "hdfs"`, "s3://bucket/x": `not in "s3"`, "file://var/x": `"var" would be a host`, "file://": "no path",
	} {
		if _, err := Directory(location); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", location, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"archive":[{"path":"/jobs/overview","json":"{\"jobs\":[{\"jid\":\"00000000000000000000000000000007\"}]}"}]}`))
	f.Add([]byte(`{"archive":[{"path":"/jobs/overview","json":"\ud800"}]}`))
	f.Add([]byte(`{"archive":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Decode(text, job)
		if err != nil {
			return
		}
		for path, value := range a.paths {
			if !value.IsValid() {
				t.Errorf("%q: %q is no JSON", path, value)
			}
		}
	})
}
