//go:build unix

package local

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"time"

	"github.com/weirstream/weir/config"
)

// An Overview is what a JobManager says of its cluster.
type Overview struct {
	TaskManagers  int    `json:"taskmanagers"`
	Slots         int    `json:"slots-total"`
	SlotsFree     int    `json:"slots-available"`
	JobsRunning   int    `json:"jobs-running"`
	JobsFinished  int    `json:"jobs-finished"`
	JobsCancelled int    `json:"jobs-cancelled"`
	JobsFailed    int    `json:"jobs-failed"`
	Version       string `json:"flink-version"`
}

// askTimeout bounds one request to the REST API.
const askTimeout = 5 * time.Second

// ask gets the overview of the cluster whose REST API is at address, host:port.
func ask(ctx context.Context, cfg *config.Config, address string) (Overview, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	url := "http://" + address + config.RestURLPrefix.In(cfg) + "overview"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Overview{}, fmt.Errorf("ask for the overview: %w", err)
	}
	// No connection is kept, and none goes through a proxy: it is this host.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return Overview{}, fmt.Errorf("ask for the overview: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Overview{}, fmt.Errorf("ask for the overview: %s answered %s", url, response.Status)
	}
	var o Overview
	if err := json.UnmarshalRead(response.Body, &o); err != nil {
		return Overview{}, fmt.Errorf("ask for the overview: %s: %w", url, err)
	}
	return o, nil
}
