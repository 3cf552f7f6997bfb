package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// events declares Nexmark's events and the view of its bids, over files.
var events = []string{`CREATE TABLE events (
	event_type INT,
	person ROW<id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, moment TIMESTAMP(3), extra STRING>,
	auction ROW<id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, moment TIMESTAMP(3), expires TIMESTAMP(3),
		seller BIGINT, category BIGINT, extra STRING>,
	bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, moment TIMESTAMP(3), extra STRING>,
	moment AS CASE WHEN event_type = 0 THEN person.moment WHEN event_type = 1 THEN auction.moment ELSE bid.moment END,
	WATERMARK FOR moment AS moment - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')`,
	`CREATE VIEW bid AS SELECT bid.auction, bid.bidder, bid.price, bid.channel, bid.url, moment, bid.extra FROM events WHERE event_type = 2`,
}

// hotItems is Nexmark's query 5: the auctions with the most bids of the last ten
// seconds, every two seconds.
const hotItems = `SELECT counted.auction, counted.num
FROM (
	SELECT auction, COUNT(*) AS num, window_start, window_end
	FROM TABLE(HOP(TABLE bid, DESCRIPTOR(moment), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
	GROUP BY auction, window_start, window_end
) AS counted
JOIN (
	SELECT MAX(num) AS most, window_start, window_end
	FROM (
		SELECT COUNT(*) AS num, window_start, window_end
		FROM TABLE(HOP(TABLE bid, DESCRIPTOR(moment), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
		GROUP BY auction, window_start, window_end
	) AS counts
	GROUP BY window_start, window_end
) AS hottest
ON counted.window_start = hottest.window_start AND counted.window_end = hottest.window_end AND counted.num >= hottest.most`

var errNotRun = errors.New("the job is not run")

// noRunner is handed what a cluster would run.
type noRunner struct{ submitted int }

func (r *noRunner) Submit(context.Context, *exec.Compiled, []types.Field) (engine.Job, error) {
	r.submitted++
	return nil, errNotRun
}

// BenchmarkPlanNexmark5 takes the query from its text to the job that would be
// submitted: parsing, binding, rewriting, choosing operators, writing the plan and
// reading it.
func BenchmarkPlanNexmark5(b *testing.B) {
	cfg, err := config.New(map[string]string{"execution.runtime-mode": "batch"})
	if err != nil {
		b.Fatal(err)
	}
	runner := &noRunner{}
	s, err := sqlrun.NewEngine(cfg, runner).Open(b.Context(), session.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, statement := range events {
		if _, err := s.Execute(b.Context(), statement, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	began := cpuTime()
	for b.Loop() {
		if _, err := s.Execute(b.Context(), hotItems, nil); !errors.Is(err, errNotRun) {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuTime()-began).Seconds()*1e3/float64(b.N), "cpu-ms/op")
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/op")
	if runner.submitted < b.N {
		b.Fatalf("%d of %d jobs were submitted", runner.submitted, b.N)
	}
}
