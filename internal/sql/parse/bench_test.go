package parse

import (
	"testing"

	"github.com/weirstream/weir/internal/sql/ast"
)

// hotItems is a query in the way of Nexmark's q5: windows in windows, a join and
// a sub-query.
const hotItems = `
SELECT AuctionBids.auction, AuctionBids.num
FROM (
  SELECT B1.auction, count(*) AS num, HOP_START(B1.dateTime, INTERVAL '2' SECOND, INTERVAL '10' SECOND) AS starttime,
    HOP_END(B1.dateTime, INTERVAL '2' SECOND, INTERVAL '10' SECOND) AS endtime
  FROM bid B1
  GROUP BY B1.auction, HOP(B1.dateTime, INTERVAL '2' SECOND, INTERVAL '10' SECOND)
) AS AuctionBids
JOIN (
  SELECT max(CountBids.num) AS maxn, CountBids.starttime, CountBids.endtime
  FROM (
    SELECT count(*) AS num, HOP_START(B2.dateTime, INTERVAL '2' SECOND, INTERVAL '10' SECOND) AS starttime,
      HOP_END(B2.dateTime, INTERVAL '2' SECOND, INTERVAL '10' SECOND) AS endtime
    FROM bid B2
    GROUP BY B2.auction, HOP(B2.dateTime, INTERVAL '2' SECOND, INTERVAL '10' SECOND)
  ) AS CountBids
  GROUP BY CountBids.starttime, CountBids.endtime
) AS MaxBids
ON AuctionBids.starttime = MaxBids.starttime AND AuctionBids.endtime = MaxBids.endtime AND AuctionBids.num >= MaxBids.maxn`

func BenchmarkStatement(b *testing.B) {
	b.SetBytes(int64(len(hotItems)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Statement(hotItems); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkString(b *testing.B) {
	s, err := Statement(hotItems)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = ast.String(s)
	}
}

func BenchmarkError(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Statement(hotItems + " WHRE a = 1"); err == nil {
			b.Fatal("not refused")
		}
	}
}

func BenchmarkComplete(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Complete(hotItems, len(hotItems)/2)
	}
}
