package master

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/cluster/addressfile"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func start(t *testing.T, dynamic ...string) (*Master, error) {
	t.Helper()
	t.Setenv(config.HomeVariable, t.TempDir())
	cfg, err := config.Load("", append([]string{"jobmanager.rpc.port=0", "jobmanager.memory.process.size=1600m"}, dynamic...))
	if err != nil {
		t.Fatal(err)
	}
	return Start(cfg, Options{Version: "test"})
}

func graph() *jobgraph.Graph {
	return &jobgraph.Graph{Job: ident.JobID{ID: ident.ID{1}}, Name: "waits", Vertices: []*jobgraph.Vertex{
		{Name: "Map", Parallelism: 1, MaxParallelism: 1, Operators: []*jobgraph.Operator{{Name: "Map"}}},
	}}
}

// A job without slots runs; the end of the process does not wait for it.
func TestAProcessEndsWithItsJobs(t *testing.T) {
	m, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Dispatcher().Submit(t.Context(), graph()); err != nil {
		t.Fatal(err)
	}
	v, err := m.Dispatcher().Job(t.Context(), graph().Job)
	if err != nil || v.State != status.JobRunning {
		t.Errorf("the job is %s, error %v", v.State, err)
	}
	if o, err := m.Overview(t.Context()); err != nil || o.TaskManagers != 0 {
		t.Errorf("overview %v, error %v", o, err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := m.Dispatcher().Submit(t.Context(), graph()); !errors.Is(err, actor.ErrStopped) && !errors.Is(err, dispatcher.ErrClosing) {
		t.Errorf("submit after the end: %v", err)
	}
}

// plain is a RESTServer.
type plain struct{ http.Server }

func (p *plain) Serve(l net.Listener) error {
	if err := p.Server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func TestRESTIsServedAndWrittenDown(t *testing.T) {
	m, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &plain{http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })}}
	if err := m.ServeREST(l, server); err != nil {
		t.Fatal(err)
	}
	path := addressfile.Path(config.RunDir(m.Config()), os.Getpid())
	at, ok, err := addressfile.Read(path)
	if err != nil || !ok || at.REST != m.RESTAddress() || at.RPC != m.RPCAddress() || !strings.HasPrefix(at.RPC, "localhost:") {
		t.Errorf("addresses %v, %v, error %v", at, ok, err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + at.REST)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if string(text) != "hello" {
		t.Errorf("answer %q", text)
	}
	// A process that is killed may leave the file, or one that is not whole. What Close
	// removes, whoever sweeps after a kill does too.
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(path + "*"); len(left) > 0 || err != nil {
		t.Errorf("after the end the addresses are there: %q, error %v", left, err)
	}
}

func TestAllProblemsAreListed(t *testing.T) {
	_, err := start(t, "cluster.id=mine", "jobmanager.memory.process.size=1m")
	var refused *config.Error
	if !errors.As(err, &refused) || len(refused.Problems) != 2 || refused.Problems[0].Key != config.ClusterID.Key {
		t.Errorf("got %v", err)
	}
}

func TestBlobsOfAnEarlierLifeGo(t *testing.T) {
	m, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := m.Blobs().Put(strings.NewReader("program"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := Start(m.Config(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(t.Context())
	if again.Blobs().Has(h) {
		t.Error("the blob is still there")
	}
}
