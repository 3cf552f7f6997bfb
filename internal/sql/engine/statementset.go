package engine

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/session"
)

// statementSet are INSERTs that become one job.
type statementSet struct{ sinks []*logical.Sink }

func (s *statementSet) add(sink *logical.Sink) { s.sinks = append(s.sinks, sink) }

// sinks binds the INSERTs of a set that was written as one statement.
func (st *statement) sinks(set *ast.StatementSet) ([]*logical.Sink, error) {
	var all []*logical.Sink
	for _, s := range set.Inserts {
		insert, ok := s.(*ast.Insert)
		if !ok {
			return nil, expr.Refuse(s.Range(), "a STATEMENT SET has INSERT statements only")
		}
		sink, err := bind.Insert(st.binding(), insert)
		if err != nil {
			return nil, err
		}
		all = append(all, sink)
	}
	return all, nil
}

func (st *statement) statementSet(set *ast.StatementSet) (*session.Result, error) {
	all, err := st.sinks(set)
	if err != nil {
		return nil, err
	}
	return st.write(all...)
}

// beginSet begins a set that END ends.
func (st *statement) beginSet() (*session.Result, error) {
	if st.inserts != nil {
		return nil, refused(session.ClassValidation, "a STATEMENT SET was begun already: END ends it")
	}
	st.inserts = &statementSet{}
	return done(), nil
}

// endSet begins the job of the set.
func (st *statement) endSet() (*session.Result, error) {
	set := st.inserts
	switch st.inserts = nil; {
	case set == nil && st.planOnly:
		return done(), nil
	case set == nil:
		return nil, refused(session.ClassArgument, "No Statement Set to submit, \"END\" command should be used after \"BEGIN STATEMENT SET\".")
	case len(set.sinks) == 0:
		return nil, refused(session.ClassArgument, "No statements in the Statement Set to submit.")
	}
	return st.write(set.sinks...)
}

// inSet refuses what a set that was begun cannot have.
func (st *statement) inSet(parsed ast.Statement) error {
	if st.inserts == nil {
		return nil
	}
	switch parsed.(type) {
	case *ast.Insert, *ast.EndStatementSet, *ast.BeginStatementSet:
		return nil
	}
	return refused(session.ClassArgument, "Only INSERT statement is allowed in Statement Set or use 'END' to submit Statement Set.")
}
