package plan

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/types"
)

// Job is what is submitted.
type Job struct {
	// Name is the job's, for people.
	Name string
	// Statement is the text that the spans of expressions point into.
	Statement string
	// Batch says that all input is bounded and the job runs in batch mode.
	Batch bool
	// Settings are the configuration that the job is executed with.
	Settings map[string]string
	// Session is what expressions may know.
	Session *expr.Session
	// Sinks are the roots: Collect and Write.
	Sinks []Node
}

// Node is one operation. Nodes are never changed once they are part of a Job.
type Node interface {
	// Common are the properties that all nodes have.
	Common() *Base
}

// Base is what all nodes have.
type Base struct {
	// Inputs are the nodes whose rows it takes, in order.
	Inputs []Node
	// Schema are the columns it gives; of a sink, those it takes.
	Schema []types.Field
	// Name is what people read, such as "Calc(select=[a, b])"; empty: the kind's name.
	Name string
	// Parallelism is 0 where it is the job's to decide.
	Parallelism int
}

// Common is the Base itself.
func (b *Base) Common() *Base { return b }

// Types are the columns' types.
func (b *Base) Types() []types.Type {
	all := make([]types.Type, len(b.Schema))
	for i, f := range b.Schema {
		all[i] = f.Type
	}
	return all
}

// Values gives rows that the plan itself holds.
type Values struct {
	Base
	// Rows have the columns of Schema; none: no row.
	Rows []*batch.Columns
}

// Scan reads a table.
type Scan struct {
	Base
	// Table is its full name, for messages.
	Table string
	// Connector chooses who reads; Options are the table's, WITH the hints.
	Connector string
	Options   map[string]string
	// Columns are all physical columns of the table; Schema those of Fields.
	Columns []types.Field
	// Fields are the columns to be read, indices into Columns, in the order wanted.
	Fields []int
	// Filter, if not nil, holds for every row that is wanted, over Schema; whoever reads
	// may give others too.
	Filter expr.Expr
	// Limit is how many rows are wanted at most, in each subtask; below 0: all.
	Limit int64
	// PartitionKeys are those of PARTITIONED BY.
	PartitionKeys []string
}

// Calc filters rows and computes others of them.
type Calc struct {
	Base
	// Filter is a BOOLEAN over the input; nil: all rows.
	Filter expr.Expr
	// Project are the columns over the input; nil: the input's own.
	Project []expr.Expr
}

// Distribution says to which subtasks an Exchange gives a row.
type Distribution uint8

// The distributions.
const (
	// Hash: rows with equal keys go to one subtask.
	Hash Distribution = iota
	// Single: all rows go to the only subtask.
	Single
	// Broadcast: every row goes to all.
	Broadcast
	// Rebalance: rows go to all in turn.
	Rebalance
)

// Exchange moves rows between subtasks.
type Exchange struct {
	Base
	Distribution Distribution
	// Keys are columns, for Hash.
	Keys []int
}

// Phase is which part of an aggregation a node does.
type Phase uint8

// The phases of aggregation.
const (
	// Complete aggregates rows to results.
	Complete Phase = iota
	// Local aggregates rows to states: the group keys, then the states' columns.
	Local
	// Global merges what Local gave to results.
	Global
	// Changing aggregates rows to results, and gives those anew with each row that changes
	// them: its output has row kinds.
	Changing
)

// AggregateCall is one aggregate function's call.
type AggregateCall struct {
	// Function is its name, in upper case if it is built in.
	Function string
	// Custom computes a function that is not; nil: it is built in.
	Custom *expr.Aggregate
	// Args are columns of the input of a node that is Complete or Local; Global nodes
	// have the same numbers, which they do not look at.
	Args []int
	// ArgTypes are the types of Args.
	ArgTypes []types.Type
	// Filter is a BOOLEAN column: rows where it is not TRUE do not count; below 0: none.
	Filter int
	// Distinct says that equal arguments count once; only with phase Complete.
	Distinct bool
	// IgnoreNulls is that of FIRST_VALUE and its like.
	IgnoreNulls bool
	// Type is the result's.
	Type types.Type
}

// Aggregate groups rows by keys. Without keys there is one group, which is there even if
// no row is.
//
// Schema is the keys, then the calls' results, or for Local their states
// (exec.StateSchema).
type Aggregate struct {
	Base
	Phase Phase
	// Keys are columns of the input; for Global they are the first.
	Keys  []int
	Calls []AggregateCall
	// Sorted says that rows of a group come together, so that no table is needed; rows
	// are taken in their order, which some functions mind.
	Sorted bool
}

// JoinKind is which rows a join gives.
type JoinKind uint8

// The kinds of joins.
const (
	Inner JoinKind = iota
	LeftOuter
	RightOuter
	FullOuter
	// Semi gives the left rows that have a match, and Anti those that have none.
	Semi
	Anti
)

// Strategy is how a join finds matches.
type Strategy uint8

// The strategies. All but NestedLoop need keys.
const (
	// HashJoin holds one side in a table.
	HashJoin Strategy = iota
	// MergeJoin takes both sides sorted by their keys, and sorts them itself.
	MergeJoin
	// NestedLoop holds one side, all of it in every subtask, and compares all pairs.
	NestedLoop
)

// Join joins two inputs. Schema is the left columns, then the right ones; of Semi and
// Anti the left ones.
type Join struct {
	Base
	Kind     JoinKind
	Strategy Strategy
	// LeftKeys and RightKeys are columns that must be equal, of the same types.
	LeftKeys, RightKeys []int
	// NullSafe says of each key whether NULL equals NULL, as with IS NOT DISTINCT FROM;
	// nil: none.
	NullSafe []bool
	// Condition, if not nil, must hold besides, over the left and right columns.
	Condition expr.Expr
	// NullAware says of Anti that it answers NOT IN: a left row is given only if with no
	// right row the condition is TRUE or NULL. Either there is one key and no Condition, or
	// a NestedLoop with a Condition. All right rows must be in every subtask.
	NullAware bool
	// BuildLeft says which side is held: the left one or, mostly, the right one.
	BuildLeft bool
}

// SortKey is a column that rows are sorted by.
type SortKey struct {
	Column     int
	Descending bool
	NullsLast  bool
}

// Sort sorts the rows of each subtask, and gives some of them: it is a top-N if there
// is a Fetch.
type Sort struct {
	Base
	Keys []SortKey
	// Offset rows are skipped, and Fetch are given; Fetch below 0: all.
	Offset, Fetch int64
}

// Limit gives some of the rows of each subtask, in the order in which they come.
type Limit struct {
	Base
	Offset, Fetch int64
}

// Union gives the rows of all inputs.
type Union struct{ Base }

// SetOperation is INTERSECT or EXCEPT of two inputs whose equal rows are in the same
// subtask.
type SetOperation struct {
	Base
	Except bool
	// All says that rows count as often as they are there.
	All bool
}

// Expand gives several rows for each: one for each list of expressions.
type Expand struct {
	Base
	Projects [][]expr.Expr
}

// FrameUnit is what a frame's bounds count.
type FrameUnit uint8

// The units of frames.
const (
	Rows FrameUnit = iota
	Range
)

// BoundKind is where a frame begins or ends.
type BoundKind uint8

// The bounds of frames.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Bound is where a frame begins or ends.
type Bound struct {
	Kind BoundKind
	// Offset of Preceding and Following: rows, or what the value of the only sort key may
	// differ by (of a DECIMAL unscaled, of times in milliseconds, of dates in days).
	Offset int64
	// Double is Offset where the sort key is FLOAT or DOUBLE.
	Double float64
}

// OverCall is one function over the frame.
type OverCall struct {
	// AggregateCall is an aggregate function, or one of ROW_NUMBER, RANK, DENSE_RANK,
	// PERCENT_RANK, CUME_DIST, NTILE, LEAD, LAG, FIRST_VALUE, LAST_VALUE, NTH_VALUE.
	AggregateCall
	Unit       FrameUnit
	Start, End Bound
}

// Over adds columns computed over the rows around each. The rows of a partition are in
// one subtask; they need not be sorted.
type Over struct {
	Base
	Partition []int
	Order     []SortKey
	Calls     []OverCall
}

// WindowKind is how windows lie.
type WindowKind uint8

// The windows.
const (
	Tumble WindowKind = iota
	Hop
	Cumulate
	Session
)

// Window gives each row once for each window it is in, with the columns window_start,
// window_end and window_time behind the others. Rows without a time are an error.
//
// Sessions are of the keys, whose rows are in one subtask.
type Window struct {
	Base
	Kind WindowKind
	// Time is the column.
	Time int
	// Zoned says that windows are laid out in the session's zone.
	Zoned bool
	// Size is the window's, or a session's gap; Slide that of Hop and the step of
	// Cumulate; Offset moves all. Milliseconds.
	Size, Slide, Offset int64
	// Keys are those of Session.
	Keys []int
}

// Unnest gives each row once for each element of a collection, with the element's
// columns behind the others: the fields of a ROW, key and value of a MAP, the elements of
// a MULTISET as often as they are in it.
type Unnest struct {
	Base
	// Collection is over the input.
	Collection expr.Expr
	// Ordinality says that the element's number, from 1, is the last column.
	Ordinality bool
	// Outer says that a row without elements is given once, with NULLs.
	Outer bool
}

// MatchValue is what an expression of a Match knows of a match, or of a run that the row
// it looks at would go on with: an aggregate if it has a Call, otherwise a column of a row.
type MatchValue struct {
	// Elements are those whose rows are looked at, in ascending order; none: there is no
	// such row.
	Elements []int
	// Column is that of the input.
	Column int
	// First says that rows are counted from the first on, else from the last back; Offset
	// is how many are passed over. Beyond the last one all is NULL.
	First  bool
	Offset int
	// Time says that the value is the row's time in milliseconds, whatever the column has.
	Time bool
	// Call has an empty Function unless the value is an aggregate; its Args are not looked
	// at, but those here, which are over the input.
	Call AggregateCall
	Args []expr.Expr
	// Type is the value's.
	Type types.Type
}

// Match finds runs of rows that follow a pattern, and gives a row for each: the columns
// of Partition, then Measures. The rows of a partition are in one subtask; they need not
// be sorted.
type Match struct {
	Base
	Partition []int
	// Order is what the rows of a partition are sorted by, the time first.
	Order []SortKey
	// Elements are the pattern, and Variables their names, for messages.
	Elements  []pattern.Element
	Variables []string
	// AtFirst and AtLast say that a match begins with the partition, and ends with it.
	AtFirst, AtLast bool
	Skip            pattern.Skip
	// Within is the time in milliseconds that a match takes less than; 0: any.
	Within int64
	Values []MatchValue
	// Conditions by element, and Measures, are over Values; a condition that is nil is met
	// by any row.
	Conditions []expr.Expr
	Measures   []expr.Expr
}

// Write is the sink that writes a table.
type Write struct {
	Base
	Table     string
	Connector string
	Options   map[string]string
	// Columns are the table's physical columns, which the input has in this order.
	Columns []types.Field
	// PartitionKeys are those of PARTITIONED BY, and Overwrite is that of INSERT OVERWRITE.
	PartitionKeys []string
	Overwrite     bool
}

// Collect is the sink whose rows the client reads.
type Collect struct{ Base }
