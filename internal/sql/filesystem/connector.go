package filesystem

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// Connector is the connector. Registry has the casts that texts are read by.
type Connector struct{ Registry *expr.Registry }

// Source reads a table.
func (c Connector) Source(s *plan.Scan, session *expr.Session) (exec.End, error) {
	src, err := c.source(s, session)
	if err != nil {
		return exec.End{}, err
	}
	kind, spec := src.Coordinator()
	return exec.End{Operator: operator.FromSource(src), CoordinatorKind: kind, CoordinatorSpec: spec,
		Before: func(onCluster bool) error { return files.CheckPaths(onCluster, src.pattern) }}, nil
}

// CheckOptions says what is wrong with the options of a table.
func (c Connector) CheckOptions(table string, options map[string]string) error {
	_, _, err := c.options(table, options)
	return err
}

// Side is the table of the rows of a table that could not be read.
func (c Connector) Side(name, table string, options map[string]string) (columns []types.Field, read map[string]string, ok bool) {
	if name != "rejects" {
		return nil, nil, false
	}
	return rejectColumns(), map[string]string{"connector": options["connector"], "path": options["path"], "format": "json", rejectsOption: table}, true
}

// source is a table to be read, which is possible.
func (c Connector) source(s *plan.Scan, session *expr.Session) (*source, error) {
	pattern, format, err := c.options(s.Table, s.Options)
	if err != nil {
		return nil, err
	}
	src := &source{table: s.Table, pattern: pattern, format: format, scan: s, session: session, registry: c.Registry, partitions: newPartitions(s.Columns, s.PartitionKeys)}
	if format.kind == "raw" {
		if err := rawColumn(s.Columns, src.partitions.stored); err != nil {
			return nil, fmt.Errorf("table %s: %w", s.Table, err)
		}
	}
	if format.kind == "parquet" {
		if format.badRows != badRowsFail {
			return nil, fmt.Errorf("table %s: option '%s' is '%s'; in files of Parquet no row is bad by itself, and there is fail", s.Table, badRowsOption, s.Options[badRowsOption])
		}
		return src, parquet.CheckTypes(src.partitions.fields(s.Columns))
	}
	for _, field := range src.fields() {
		if _, err := src.conversion(s.Columns[field]); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// options reads the table's options.
func (c Connector) options(table string, options map[string]string) (pattern string, format formats, err error) {
	format = formats{kind: options["format"], rejectsOf: options[rejectsOption], partition: cmp.Or(options[partitionOption], defaultPartition), csv: newCSVFormat(), raw: newRawFormat(), parquet: newParquetFormat(), json: jsonFormat{nullKeys: nullKeyFails, nullKey: "null"}}
	for key, value := range options {
		switch known, err := format.set(key, value); {
		case err != nil:
			return "", format, fmt.Errorf("table %s: option '%s': %w", table, key, err)
		case known || key == rejectsOption || slices.Contains(plainOptions, key):
		default:
			return "", format, fmt.Errorf("table %s: unsupported option '%s' for connector 'filesystem'%s", table, key, near(key))
		}
	}
	if format.json.lenient && format.json.missing {
		return "", format, fmt.Errorf("table %s: options 'json.fail-on-missing-field' and 'json.ignore-parse-errors' are both true, and exclude each other", table)
	}
	if format.kind == "parquet" && format.badRows != badRowsFail {
		return "", format, fmt.Errorf("table %s: option '%s': rows of format 'parquet' are read together or not at all", table, badRowsOption)
	}
	switch options["format"] {
	case "csv", "json", "parquet", "raw":
	case "":
		return "", format, fmt.Errorf("table %s: missing required option 'format'", table)
	default:
		return "", format, fmt.Errorf("table %s: option 'format' is '%s'; there are csv, json, parquet and raw", table, options["format"])
	}
	if options["path"] == "" {
		return "", format, fmt.Errorf("table %s: missing required option 'path'", table)
	}
	pattern, err = local(options["path"])
	if err != nil {
		return "", format, fmt.Errorf("table %s: option 'path': %w", table, err)
	}
	return pattern, format, nil
}

// plainOptions are those of tables of whatever format.
var plainOptions = []string{"connector", "path", "format", partitionOption, badRowsOption, "sink.parallelism", "scan.parallelism"}

// partitionOption is the option for the name of the partition of NULL.
const partitionOption = "partition.default-name"

// near suggests an option.
func near(key string) string {
	best, least := "", 1+len(key)/3
	for _, known := range slices.Concat(plainOptions, sinkOptions, csvOptions, jsonOptions, parquetOptions, rawOptions) {
		if d := levenshtein.ComputeDistance(key, known); d < least {
			best, least = known, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean '" + best + "'?"
}

// local gives the path of a file URL; one without a scheme is a path.
func local(text string) (string, error) {
	scheme, _, ok := strings.Cut(text, ":")
	if !ok || strings.Contains(scheme, "/") {
		return text, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	if u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", fmt.Errorf("'%s' is not on this machine's file systems; there is file://", text)
	}
	return path.Clean(u.Path), nil
}

// formats is how records are written: one of them counts.
type formats struct {
	kind string
	// partition stands for NULL in the names of directories.
	partition string
	badRows   badRowsMode
	// rejectsOf is the full name of the table whose rejected rows these are; empty: they
	// are a table's own.
	rejectsOf string
	csv       csvFormat
	json      jsonFormat
	raw       rawFormat
	parquet   parquetFormat
	written   written
}

// set takes an option of the format.
func (f *formats) set(key, value string) (known bool, err error) {
	if key == badRowsOption {
		f.badRows, err = badRowsModeOf(value)
		return true, err
	}
	if known, err := f.written.set(key, value); known {
		return true, err
	}
	switch f.kind {
	case "json":
		return f.json.set(key, value)
	case "raw":
		return f.raw.set(key, value)
	case "parquet":
		return f.parquet.set(key, value)
	}
	return f.csv.set(key, value)
}

// lenient says that what cannot be read is NULL.
func (f *formats) lenient() bool { return f.kind == "json" && f.json.lenient || f.csv.lenient }
