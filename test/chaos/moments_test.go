package chaos

import (
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// moments are faults at chosen points of a checkpoint's life: a worker is killed
// when what the point leaves on the disk, or shows in the job's state, is seen.
func (e *exact) moments() []*kind {
	at := func(name string, seen func(before []string) bool) *kind {
		return &kind{name, 2, func(f *faults) (bool, error) {
			before := e.disk()
			if !soon(func() bool { return seen(before) }) {
				return false, nil
			}
			_, ok, err := f.signalWorker(syscall.SIGKILL)
			return ok, err
		}}
	}
	fresh := func(pattern string) func([]string) bool {
		return func(before []string) bool {
			return slices.ContainsFunc(glob(pattern, e.now), func(path string) bool { return !slices.Contains(before, path) })
		}
	}
	return []*kind{
		at("kill worker during a snapshot", fresh("checkpoints/*/chk-*/*")),
		at("kill worker when the metadata is there", fresh("checkpoints/*/chk-*/_metadata")),
		at("kill worker when files are finished", fresh("out/[^.]*")),
		{"kill worker during a restore", 2, func(f *faults) (bool, error) {
			if _, ok, err := f.signalWorker(syscall.SIGKILL); !ok || err != nil {
				return ok, err
			}
			var job job
			soon(func() bool {
				e.c.get("/jobs/"+e.now.id, &job)
				for _, v := range job.Vertices {
					if v.Tasks["INITIALIZING"] > 0 {
						return true
					}
				}
				return job.State == "RESTARTING"
			})
			_, _, err := f.signalWorker(syscall.SIGKILL)
			return true, err
		}},
	}
}

// disk gives what the job has on the disk.
func (e *exact) disk() []string {
	return slices.Concat(glob("checkpoints/*/chk-*/*", e.now), glob("out/[^.]*", e.now))
}

func glob(pattern string, r running) []string {
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(r.output), pattern))
	return found
}

// soon waits a few seconds until something is so, and looks often.
func soon(so func() bool) bool {
	limit := time.Now().Add(3 * time.Second)
	for poll := time.NewTicker(time.Millisecond); ; <-poll.C {
		if so() {
			poll.Stop()
			return true
		}
		if time.Now().After(limit) {
			poll.Stop()
			return false
		}
	}
}
