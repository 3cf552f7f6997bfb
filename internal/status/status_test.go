package status

import "testing"

func TestNothingLeavesATerminalState(t *testing.T) {
	for _, from := range Jobs() {
		for _, to := range Jobs() {
			if from.Terminal() && from.CanBecome(to) {
				t.Errorf("job: %s is terminal and may become %s", from, to)
			}
		}
		if parsed, ok := ParseJob(from.String()); !ok || parsed != from {
			t.Errorf("job state %s does not parse back", from)
		}
	}
	for _, from := range Executions() {
		for _, to := range Executions() {
			if from.Terminal() && from.CanBecome(to) {
				t.Errorf("execution: %s is terminal and may become %s", from, to)
			}
		}
		if parsed, ok := ParseExecution(from.String()); !ok || parsed != from {
			t.Errorf("execution state %s does not parse back", from)
		}
	}
}

func TestEveryLiveStateReachesAnEnd(t *testing.T) {
	for _, from := range Jobs() {
		if !from.Terminal() && !jobReachesEnd(from, map[Job]bool{}) {
			t.Errorf("job state %s reaches no terminal state", from)
		}
	}
	for _, from := range Executions() {
		if !from.Terminal() && !from.CanBecome(Failed) {
			t.Errorf("execution state %s cannot fail", from)
		}
	}
}

func jobReachesEnd(s Job, seen map[Job]bool) bool {
	if s.GloballyTerminal() {
		return true
	}
	seen[s] = true
	for _, n := range jobTransitions[s] {
		if !seen[n] && jobReachesEnd(n, seen) {
			return true
		}
	}
	return false
}
