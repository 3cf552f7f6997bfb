package recorded

import (
	"regexp"
	"strconv"
	"strings"
)

// Things are what takes the place of what the recorded requests name.
type Things struct {
	Job         string   // empty: ids stay as they were recorded
	Vertices    []string // of the job, in its order
	TaskManager string
}

var (
	anyID     = regexp.MustCompile(`^([0-9a-fA-F]{32}|zz|localhost:[0-9]+-.*|[0-9a-f-]{36}_.*|[A-Za-z]+\.jar|[0-9]+)$`)
	jobAt     = regexp.MustCompile(`/jobs/[0-9a-f]{32}`)
	vertexAt  = regexp.MustCompile(`/vertices/[0-9a-f]{32}`)
	appAt     = regexp.MustCompile(`/applications/[0-9a-f]{32}`)
	managerAt = regexp.MustCompile(`/taskmanagers/localhost:[^/?]+`)
	managerIn = regexp.MustCompile(`taskmanagers=localhost:[^&]+`)
	vertexNo  = regexp.MustCompile(`-v([0-9])-`)
)

// Pattern is method and path, with :id in the place of what varies.
func (r *Recording) Pattern() string {
	path := r.Request.Method + " "
	for part := range strings.FieldsFuncSeq(strings.TrimPrefix(r.Request.Path, "/v1"), func(c rune) bool { return c == '/' }) {
		if anyID.MatchString(part) {
			part = ":id"
		}
		path += "/" + part
	}
	return path
}

// place is the path of the pattern: the endpoint.
func (r *Recording) place() string {
	_, path, _ := strings.Cut(r.Pattern(), " ")
	return path
}

// Target is the recorded path and query, aimed at other things. What was
// recorded to show an unknown vertex stays unknown, and so does all that was
// recorded to show an error.
func (r *Recording) Target(to Things) string {
	path := r.Request.Path
	if to.Job != "" {
		if !strings.Contains(r.Name, "unknown") {
			path = vertexAt.ReplaceAllString(path, "/vertices/"+to.Vertices[min(r.vertex(), len(to.Vertices)-1)])
		}
		path = appAt.ReplaceAllString(path, "/applications/"+to.Job)
		path = jobAt.ReplaceAllString(path, "/jobs/"+to.Job)
	}
	query := r.Request.Query
	if !strings.HasPrefix(r.Name, "err-") {
		path = managerAt.ReplaceAllString(path, "/taskmanagers/"+to.TaskManager)
		query = managerIn.ReplaceAllString(query, "taskmanagers="+to.TaskManager)
	}
	if query != "" {
		path += "?" + query
	}
	return path
}

// vertex is the place of the recorded vertex in its job.
func (r *Recording) vertex() int {
	if m := vertexNo.FindStringSubmatch(r.Name); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}
