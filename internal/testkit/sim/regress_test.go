package sim_test

import (
	"testing"

	"github.com/weirstream/weir/internal/testkit/sim/cluster"
)

// regressions are seeds whose worlds have once broken an invariant, with what
// was wrong then. A seed's course changes with what the world draws, so a defect
// of the product has a script of its own besides.
var regressions = []struct {
	seed  uint64
	wrong string
}{
	{933, "a slot that the last master gave back by a call that was lost came to the next one, which is as it should be"},
	{3239, "the same, and the next master was there before anybody had noticed"},
	{3713, "the same, and the call came late"},
	{183, "a JobMaster deployed a task again and again into a free slot of a TaskManager that it had just lost, and never came back"},
	{8875, "a pause before a restart was a nanosecond short, by the rounding of a clock that was put forward"},
	{44116, "the user had a job submitted again after it had canceled everything"},
	{67545, "the same"},
	{4920, "the time in which the ResourceManager was frozen counted as time in which it kept a slot from a job"},
	{36131, "a task finished although it was to end because its job was over, and what it had produced kept its worker for ever"},
	{9701, "a task of a JobMaster that had been succeeded acknowledged a checkpoint to the next one, which had one of the same number"},
	{18851, "a slot was unused while its master was frozen, in which time the master was looked at and its sleep forgotten"},
	{56120, "the same"},
	{77165, "the same"},
}

// TestRegressions plays the worlds that have found something.
func TestRegressions(t *testing.T) {
	for _, r := range regressions {
		if result := cluster.Run(r.seed, cluster.Options{}); result.Broken != nil {
			t.Logf("seed %d was found because %s", r.seed, r.wrong)
			report(t, result)
		}
	}
}
