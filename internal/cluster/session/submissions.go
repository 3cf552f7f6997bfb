//go:build unix

package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/cluster/master"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/program"
)

// submissions bring programs to where TaskManagers fetch them and keep them
// there until their job is submitted.
//
// Invariant: each entry of held is one publish whose Submit has not come.
type submissions struct {
	*dispatcher.Dispatcher
	blobs *blob.Store

	mu   sync.Mutex // guards held
	held map[string][]func()
}

func newSubmissions(m *master.Master) *submissions {
	return &submissions{Dispatcher: m.Dispatcher(), blobs: m.Blobs(), held: map[string][]func(){}}
}

// publish puts the program into the blob store, where a job that ends meanwhile
// does not take it away.
func (s *submissions) publish(ctx context.Context, p program.Program, sha256 string) error {
	hash, err := blob.ParseHash(sha256)
	if err != nil {
		return fmt.Errorf("publish the program %s: %w", p.Name, err)
	}
	giveBack, err := s.Retain(ctx, sha256)
	if err != nil {
		return fmt.Errorf("publish the program %s: %w", p.Name, err)
	}
	if err := s.blobs.Link(p.Path, hash); err != nil {
		giveBack()
		return fmt.Errorf("publish the program %s: %w", p.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[sha256] = append(s.held[sha256], giveBack)
	return nil
}

// Submit submits a job, which from then on holds its program itself.
func (s *submissions) Submit(ctx context.Context, graph *jobgraph.Graph) error {
	err := s.Dispatcher.Submit(ctx, graph)
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.held[graph.Artifact.SHA256]; len(held) > 0 {
		held[0]()
		s.held[graph.Artifact.SHA256] = held[1:]
	}
	return err
}
