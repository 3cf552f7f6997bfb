package filesystem

import (
	"encoding/json/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// A file that was listed and is gone is told from other failures, in every format, in its
// first part and in another.
func TestFilesThatAreGone(t *testing.T) {
	for _, options := range []map[string]string{{"format": "csv"}, {"format": "csv", "csv.header": "true"}, {"format": "json"}, {"format": "raw"}, {"format": "parquet"}} {
		for _, offset := range []int64{0, 10} {
			path := filepath.Join(t.TempDir(), "gone")
			options["path"] = path
			scan := &plan.Scan{Table: "t", Columns: []types.Field{{Name: "v", Type: types.String()}}, Fields: []int{0}, Limit: -1, Options: options}
			s, err := Connector{Registry: functions.NewRegistry()}.source(scan, &expr.Session{Zone: time.UTC})
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Open(connector.SourceContext{Request: func() {}}, connector.Output[*batch.Columns]{Room: func() int { return 1 }, Count: func(int) {}})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(split.Split{Files: []split.File{{Path: path, Offset: offset, Length: 10, Size: 20}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Add(text); err != nil {
				t.Fatal(err)
			}
			if _, err = r.Poll(); err == nil || !exec.WasReplaced(err) || !strings.HasPrefix(err.Error(), "table t: open "+path+": ") {
				t.Errorf("%v from byte %d on: %v", options, offset, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
