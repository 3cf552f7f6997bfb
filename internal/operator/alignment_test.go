package operator

import (
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/alignment/message"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
)

// group is a host whose coordinator the test is.
type group struct {
	host
	report message.Report
	answer func([]byte, error) // of what was reported last; nil: it has been answered
}

func (g *group) Ask(_ ident.OperatorID, payload []byte, then func([]byte, error)) {
	g.report, g.answer = message.Report{}, then
	Check(json.Unmarshal(payload, &g.report))
}

// allow lets the next interval pass and answers what is reported then.
func (g *group) allow(watermark int64) {
	g.advance(g.now + 1000)
	then := g.answer
	g.answer = nil
	then([]byte(fmt.Sprintf(`{"allowed":%d}`, watermark)), nil)
}

// pausing is a source whose splits can be paused.
type pausing struct {
	ends
	j *journal
}

func (p *pausing) Open(_ connector.SourceContext, out connector.Output[reading]) (connector.Reader, error) {
	p.out = out
	return p, nil
}

func (p *pausing) Pause(split string, paused bool) error {
	p.j.note("%s:%v", split, paused)
	return nil
}

func alignedSource(g *group, j *journal, a Alignment) *pausing {
	c := g.context()
	c.Runtime = g
	source := &pausing{j: j}
	e := EventTime[reading]{Timestamp: at, Interval: 200, IdleAfter: 5000, Align: &a}
	FromSource[reading](source).Open(c, Watermarks(e).Build(c, journalOf[reading](j)))
	return source
}

// What counts is how far the records have come, whether or not the watermark has been
// emitted; a source that is held is not idle.
func TestASourceThatIsAheadIsHeld(t *testing.T) {
	var j journal
	g := &group{}
	out := alignedSource(g, &j, Alignment{Interval: 1000}).out
	if !g.held() {
		t.Error("it may begin before others have reported")
	}
	a := out.Begin("a")
	g.allow(batch.NoTimestamp)
	if g.held() {
		t.Error("it is held without a record")
	}
	a.Emit(51, batch.NoTimestamp)
	if !g.held() {
		t.Error("it is ahead and goes on")
	}
	for range 9 {
		g.allow(49)
		g.held()
	}
	if g.report.Idle || g.report.Watermark != 50 {
		t.Errorf("a source that is held reports %+v", g.report)
	}
	if g.allow(50); g.held() {
		t.Error("it is held with what is allowed")
	}
	for range 6 {
		g.allow(50)
		g.held()
	}
	if g.report != (message.Report{Watermark: 50, Idle: true}) {
		t.Errorf("an idle source reports %+v", g.report)
	}
	a.Emit(200, batch.NoTimestamp)
	a.End()
	if g.allow(50); g.report != (message.Report{Watermark: 199}) || !g.held() {
		t.Errorf("between two splits it reports %+v", g.report)
	}
	if g.allow(element.MaxWatermark); g.held() {
		t.Error("it is held though nobody else is there")
	}
	expect(t, &j, "51@51 W50 idle active 200@200 W199")
}

// A split that is ahead of the group is paused while its subtask reads others.
func TestASplitThatIsAheadIsPaused(t *testing.T) {
	var j journal
	g := &group{}
	out := alignedSource(g, &j, Alignment{Interval: 1000}).out
	a, b := out.Begin("a"), out.Begin("b")
	g.allow(100)
	a.Emit(150, batch.NoTimestamp)
	b.Emit(10, batch.NoTimestamp)
	g.held()
	b.Emit(101, batch.NoTimestamp)
	g.held()
	g.allow(149)
	g.held()
	g.allow(150)
	b.Emit(152, batch.NoTimestamp)
	a.Emit(153, batch.NoTimestamp)
	if !g.held() {
		t.Error("all of its splits are ahead and it goes on")
	}
	g.allow(151)
	if g.held() {
		t.Error("it is held")
	}
	g.allow(120) // as a new coordinator may say
	g.held()
	g.advance(g.now + 4000)
	expect(t, &j, "150@150 10@10 a:true 101@101 W100 a:false 152@152 153@153 W151 a:true")
}

// A source that cannot pause them fails, or lets them go ahead if it may.
func TestSplitsThatCannotBePaused(t *testing.T) {
	for _, apart := range []bool{false, true} {
		var j journal
		g := &group{}
		c := g.context()
		c.Runtime = g
		source := &ends{}
		e := EventTime[reading]{Timestamp: at, Align: &Alignment{Interval: 1000, Apart: apart}}
		FromSource[reading](source).Open(c, Watermarks(e).Build(c, journalOf[reading](&j)))
		a, b := source.out.Begin("a"), source.out.Begin("b")
		g.allow(100)
		b.Emit(10, batch.NoTimestamp)
		a.Emit(150, batch.NoTimestamp)
		err := Guard(func() { g.held() })
		if apart != (err == nil) || err != nil && !strings.Contains(err.Error(), `split "a" is ahead of others`) {
			t.Errorf("apart %v: %v", apart, err)
		}
	}
}

// Without splits the subtask is held as a whole, and fails when the coordinator says so.
func TestARefusedReport(t *testing.T) {
	var j journal
	g := &group{}
	c := g.context()
	c.Runtime = g
	in := Watermarks(EventTime[reading]{Timestamp: at, Align: &Alignment{Interval: 1000}}).Build(c, journalOf[reading](&j)).(*Receiver[reading])
	g.allow(5)
	in.Push(9, batch.NoTimestamp)
	if !g.held() {
		t.Error("it is not held")
	}
	g.advance(g.now + 1000)
	for _, answer := range []struct {
		text string
		err  error
	}{{"", fmt.Errorf("no such task")}, {"{", nil}} {
		if err := Guard(func() { g.answer([]byte(answer.text), answer.err) }); err == nil || !strings.HasPrefix(err.Error(), "align watermarks: ") {
			t.Errorf("%+v: %v", answer, err)
		}
	}
	in.Watermark(element.MaxWatermark)
	g.answer([]byte(`{"allowed":5}`), nil)
	if g.advance(g.now + 1000); g.report != (message.Report{Watermark: element.MaxWatermark}) {
		t.Errorf("at its end it reports %+v", g.report)
	}
}
