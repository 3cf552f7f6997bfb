package ast

// How strongly operators bind to their operands: an operand whose operator binds
// weaker stands in parentheses.
const (
	BindMultisetUnion     = 14
	BindMultisetIntersect = 18
	BindOr                = 22
	BindAnd               = 24
	BindNot               = 26
	// BindIs is of IS NULL and the like, BindBetween of BETWEEN, IN and LIKE.
	BindIs       = 28
	BindCompare  = 30
	BindBetween  = 32
	BindAdd      = 40
	BindMultiply = 60
	BindSign     = 80
	// bindPrimary is of what needs no parentheses anywhere.
	bindPrimary = 100
)

// Bind is how strongly the operator binds. Those of equal strength are read from
// the left.
func (op BinaryOp) Bind() int {
	switch op {
	case Or:
		return BindOr
	case And:
		return BindAnd
	case Add, Subtract:
		return BindAdd
	case Multiply, Divide, Modulo, Concat:
		return BindMultiply
	case MultisetIntersect, MultisetIntersectDistinct:
		return BindMultisetIntersect
	case MultisetUnion, MultisetUnionDistinct, MultisetExcept, MultisetExceptDistinct:
		return BindMultisetUnion
	}
	return BindCompare
}

// Bind is how strongly the operator binds to its operand.
func (op UnaryOp) Bind() int {
	if op == Not {
		return BindNot
	}
	return BindSign
}

// bindOf is how strongly the outermost operator of an expression binds.
func bindOf(e Expr) int {
	switch e := e.(type) {
	case *Binary:
		return e.Op.Bind()
	case *Unary:
		return e.Op.Bind()
	case *Is:
		return BindIs
	case *Between, *In, *Like:
		return BindBetween
	case *Quantified:
		return BindCompare
	}
	return bindPrimary
}
