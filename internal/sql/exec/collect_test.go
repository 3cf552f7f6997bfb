package exec

import (
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// A request that nobody has answered in time is made again, for the same rows.
func TestNoAnswerIsAskedForAgain(t *testing.T) {
	end, err := proto.Marshal(&pb.CollectResponse{First: 7, End: true})
	if err != nil {
		t.Fatal(err)
	}
	answers := [][]byte{nil, {}, end}
	r := &Result{next: 7, ask: func(_ context.Context, _ ident.OperatorID, payload []byte) ([]byte, error) {
		m := &pb.CollectRequest{}
		if err := proto.Unmarshal(payload, m); err != nil || m.From != 7 {
			t.Errorf("asked for %v, %v", m, err)
		}
		a := answers[0]
		answers = answers[1:]
		return a, nil
	}}
	if _, err := r.Next(t.Context()); !errors.Is(err, io.EOF) || len(answers) != 0 {
		t.Errorf("got %v, and %d answers are left", err, len(answers))
	}
}
