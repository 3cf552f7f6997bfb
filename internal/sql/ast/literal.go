package ast

// StringLiteral is 'text', _charset'text' or U&'text'; Value has its escapes
// taken off.
type StringLiteral struct {
	Span
	Value string
	// Charset is as written after _, or empty.
	Charset string
}

// NumberLiteral is a number without a sign.
type NumberLiteral struct {
	Span
	// Text is the number as written, which keeps 0.10 apart from 0.1.
	Text string
	// Approximate is set if there is an exponent: the number is a DOUBLE.
	Approximate bool
}

// BinaryLiteral is X'0AF1': Hex are its digits, as written.
type BinaryLiteral struct {
	Span
	Hex string
}

// Truth is TRUE, FALSE or UNKNOWN.
type Truth string

const (
	True    Truth = "TRUE"
	False   Truth = "FALSE"
	Unknown Truth = "UNKNOWN"
)

// BooleanLiteral is TRUE, FALSE or UNKNOWN.
type BooleanLiteral struct {
	Span
	Value Truth
}

// NullLiteral is NULL.
type NullLiteral struct{ Span }

// DateTimeLiteral is DATE '…', TIME '…' or TIMESTAMP '…'. The parser has not
// looked at the value.
type DateTimeLiteral struct {
	Span
	// Kind is DATE, TIME or TIMESTAMP.
	Kind  string
	Value *StringLiteral
}

// IntervalLiteral is INTERVAL [-] '…' qualifier. The parser has not looked at
// the value.
type IntervalLiteral struct {
	Span
	Negative  bool
	Value     *StringLiteral
	Qualifier *IntervalQualifier
}

// IntervalQualifier is the unit or units of an interval: DAY(3) TO SECOND(6).
type IntervalQualifier struct {
	Span
	// From is YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND.
	From string
	// To is empty, or the smallest unit.
	To string
	// Precision is the number of digits of From, Fraction that of the seconds'
	// fraction; -1 if not said.
	Precision, Fraction int
}

// Symbol is a keyword used as an argument: a unit of time, or BOTH, LEADING and
// TRAILING of TRIM. It is upper case.
type Symbol struct {
	Span
	Word string
}

func (*StringLiteral) expression()   {}
func (*NumberLiteral) expression()   {}
func (*BinaryLiteral) expression()   {}
func (*BooleanLiteral) expression()  {}
func (*NullLiteral) expression()     {}
func (*DateTimeLiteral) expression() {}
func (*IntervalLiteral) expression() {}
func (*Symbol) expression()          {}

func (*StringLiteral) children(func(Node))       {}
func (*NumberLiteral) children(func(Node))       {}
func (*BinaryLiteral) children(func(Node))       {}
func (*BooleanLiteral) children(func(Node))      {}
func (*NullLiteral) children(func(Node))         {}
func (*IntervalQualifier) children(func(Node))   {}
func (*Symbol) children(func(Node))              {}
func (n *DateTimeLiteral) children(f func(Node)) { f(n.Value) }
func (n *IntervalLiteral) children(f func(Node)) {
	f(n.Value)
	f(n.Qualifier)
}
