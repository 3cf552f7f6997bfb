package reporters

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func collect(context.Context) ([]metrics.Group, error) {
	return []metrics.Group{{Scope: metrics.JobManager, Metrics: []metrics.Metric{{Name: "one", Value: metrics.Whole(1)}}}}, nil
}

func TestTheFirstFreePortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	var log bytes.Buffer
	cfg, err := config.New(map[string]string{
		"metrics.reporter.a.factory.class": config.PrometheusFactory, "metrics.reporter.a.port": fmt.Sprintf("%d,0", port),
		"metrics.reporter.b.factory.class": config.PrometheusFactory, "metrics.reporter.b.port": fmt.Sprint(port),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := Open(cfg, "localhost", collect, slog.New(slog.NewTextHandler(&log, nil)))
	if len(s.Addresses()) != 1 {
		t.Fatalf("endpoints: %v", s.Addresses())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + s.Addresses()[0] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if !strings.Contains(string(text), "flink_jobmanager_one 1.0\n") {
		t.Errorf("page:\n%s", text)
	}
	if !strings.Contains(log.String(), "every port that metrics.reporter.b.port allows is in use") {
		t.Errorf("log:\n%s", log.String())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
