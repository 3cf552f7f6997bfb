package client

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
)

// SubmitGraph submits a job as its encoded graph, whose operators every worker knows, and
// gives its id. It is not Flink's: jobs of SQL are submitted so.
func (c *Client) SubmitGraph(ctx context.Context, graph []byte) (job string, err error) {
	var answer struct {
		Job string `json:"jobid"`
	}
	err = c.call(ctx, http.MethodPost, "/weir/jobs", bytes.NewReader(graph), "application/octet-stream", &answer)
	return answer.Job, err
}

// Ask asks the coordinator of an operator of a job that runs, and gives its answer; none, if
// it has not answered within the cluster's web.timeout: then it is to be asked again.
func (c *Client) Ask(ctx context.Context, job, operator string, payload []byte) ([]byte, error) {
	path := "/weir/jobs/" + url.PathEscape(job) + "/operators/" + url.PathEscape(operator)
	var answer octets
	err := c.call(ctx, http.MethodPost, path, bytes.NewReader(payload), "application/octet-stream", &answer)
	return answer, err
}

// octets are an answer that is no JSON.
type octets []byte
