package resourcemanager

import (
	"testing"
	"testing/synctest"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// The figures of a TaskManager are there with its slots, and stay until newer
// ones come.
func TestFiguresComeWithTheSlots(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te", 2)
		te.register(nil)
		view := func() (v View) {
			w.on(func() { v = w.manager.TaskManagers()[0] })
			return v
		}
		if view().Process != nil {
			t.Errorf("figures out of nothing: %+v", view().Process)
		}
		report := func(figures *pb.ProcessFigures) {
			gateway.SendSlotReport.Send(te.system, te.loop, manager, ident.LeaderID{}, &pb.SendSlotReportRequest{ResourceId: te.name,
				InstanceId: te.instance, Report: &pb.SlotReport{Slots: te.slots}, Process: figures})
			synctest.Wait()
		}
		report(&pb.ProcessFigures{HeapUsed: 7})
		before := view()
		report(nil)
		report(&pb.ProcessFigures{HeapUsed: 8})
		if before.Process.HeapUsed != 7 || view().Process.HeapUsed != 8 {
			t.Errorf("figures %+v, then %+v", before.Process, view().Process)
		}
		names := map[string]string{}
		for _, m := range w.overview().Metrics() {
			names[m.Name] = m.Value.String()
		}
		if names["numRegisteredTaskManagers"] != "1" || names["taskSlotsTotal"] != "2" || names["taskSlotsAvailable"] != "2" {
			t.Errorf("metrics %v", names)
		}
	})
}
