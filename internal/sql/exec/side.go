package exec

import "github.com/weirstream/weir/types"

// A Siding is a Connector that has side tables for its tables, such as that of the rows
// that could not be read: `t$rejects` is that of t called rejects.
type Siding interface {
	// Side says which columns such a table has and with which options the connector reads
	// it; ok is false if there is none of this name. Nobody writes it.
	Side(name, table string, options map[string]string) (columns []types.Field, read map[string]string, ok bool)
}
