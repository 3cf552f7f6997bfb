package process

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"net/http"
)

// A subtask is what REST shows of a subtask's newest attempt.
type subtask struct {
	Status      string `json:"status"`
	Attempt     int    `json:"attempt"`
	TaskManager string `json:"taskmanager-id"`
	Metrics     struct {
		WriteBytes int64 `json:"write-bytes"`
	} `json:"metrics"`
}

// subtasks gives the subtasks of a vertex.
func (c *Cluster) subtasks(ctx context.Context, job, vertex string) ([]subtask, error) {
	var answer struct {
		Subtasks []subtask `json:"subtasks"`
	}
	err := c.get(ctx, "/jobs/"+job+"/vertices/"+vertex, &answer)
	return answer.Subtasks, err
}

// get reads what the Go client has no method for.
func (c *Cluster) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.REST+path, nil)
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	if err := json.UnmarshalRead(response.Body, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// running says whether all subtasks of a job run in an attempt after the given
// one, and the newest attempt and the TaskManagers of those that do.
func (c *Cluster) running(ctx context.Context, job string, vertices []string, after int) (all bool, attempt int, managers []string, err error) {
	all = true
	for _, v := range vertices {
		subtasks, err := c.subtasks(ctx, job, v)
		if err != nil {
			return false, 0, nil, err
		}
		for _, s := range subtasks {
			all = all && s.Status == "RUNNING" && s.Attempt > after
			attempt = max(attempt, s.Attempt)
			managers = append(managers, s.TaskManager)
		}
	}
	return all && len(managers) > 0, attempt, managers, nil
}
