package slotmanager

import (
	"slices"

	"github.com/weirstream/weir/internal/ident"
)

// Needed is the number of slots a job has declared; zero for an unknown job.
func (m *Manager) Needed(id ident.JobID) int {
	i := slices.IndexFunc(m.jobs, func(j *job) bool { return j.id == id })
	if i < 0 {
		return 0
	}
	return m.jobs[i].needed()
}
