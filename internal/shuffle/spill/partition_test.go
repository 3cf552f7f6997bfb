package spill

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/shuffle"
)

func wantError(t *testing.T, err error, is error, texts ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("got %v, want %v", err, is)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not say %q", err, text)
		}
	}
}

func TestWhatIsWrittenIsReadByAllAgainAndAgain(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, test := range []struct{ subs, batches, padding, buffer, read int }{
		{1, 0, 0, 1 << 10, 1 << 20},
		{1, 1, 10, 1 << 10, 1 << 20},
		{1, 500, 10, 1 << 10, 0},
		{3, 500, 100, 1, 1 << 20}, // each batch is a region
		{7, 500, 100, 4 << 10, 1 << 20},
		{100, 2000, 10, 4 << 10, 1 << 20},
		{600, 3000, 10, 64 << 10, 0},
		{5, 60, 600 << 10, 1 << 20, 1 << 20}, // blocks longer than a read
		{5, 60, 600 << 10, 1 << 20, 0},
	} {
		r := rand.New(rand.NewPCG(seed, uint64(test.subs)))
		space := scratch.In(t.TempDir())
		s := newSite(t, space, test.buffer, test.read)
		p := s.create(0, test.subs)
		// One consumer comes before the end, others after it, all at once.
		early := randomRanges(r, test.subs)
		readers := []*reader{s.reader(0, early...)}
		written, err := write(p, r, test.batches, test.padding)
		if err != nil {
			t.Fatal(err)
		}
		ranges := [][]shuffle.Range{early}
		for range 3 {
			cut := randomRanges(r, test.subs)
			ranges, readers = append(ranges, cut), append(readers, s.reader(0, cut...))
		}
		var group sync.WaitGroup
		for i, reader := range readers {
			group.Go(func() {
				if err := written.check(reader, ranges[i]...); err != nil {
					t.Errorf("%+v: %v", test, err)
				}
				reader.Close()
			})
		}
		group.Wait()
		var records, bytes int64
		sizes := p.Sizes()
		for sub := range test.subs {
			if sizes.Records[sub] != int64(len(written.numbers[sub])) {
				t.Errorf("%+v: %d records of subpartition %d, want %d", test, sizes.Records[sub], sub, len(written.numbers[sub]))
			}
			records, bytes = records+sizes.Records[sub], bytes+sizes.Bytes[sub]
		}
		if m := p.Metrics(); m.Records != records || m.Bytes != bytes || m.Batches != int64(test.batches) {
			t.Errorf("%+v: metrics %+v, sizes sum up to %d records, %d bytes", test, m, records, bytes)
		}
		s.registry.Release(p.ID())
		if n := space.Files(); n != 0 {
			t.Errorf("%+v: %d files after the release", test, n)
		}
		if err := space.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFailAndReleaseTellBothSidesAndGiveTheSpaceBack(t *testing.T) {
	space := newMemory()
	s := newSite(t, space, 1<<10, 1<<20)
	freed := 0
	p, err := s.store.Create(partitionID(0), 2, 1<<10, newNumbersSerializer, nil, func() { freed++ })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.registry.Add(p, true); err != nil {
		t.Fatal(err)
	}
	waiting := s.reader(0, shuffle.One(0))
	for range 20 {
		if err := p.Emit(0, newNumbers(200, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if space.used() == 0 {
		t.Error("nothing was written")
	}
	cause := errors.New("the source broke")
	p.Fail(cause)
	p.Fail(errors.New("again"))
	_, _, err = waiting.next()
	wantError(t, err, shuffle.ErrProducerFailed, "source broke", p.ID().String())
	late := s.reader(0, shuffle.One(1))
	_, _, err = late.next()
	wantError(t, err, shuffle.ErrProducerFailed, "source broke")
	for err = nil; err == nil; {
		err = p.Emit(0, newNumbers(200, 1))
	}
	wantError(t, err, cause, p.ID().String())
	wantError(t, p.Finish(), cause)
	if space.used() != 0 || freed != 1 {
		t.Errorf("%d bytes on disk, memory freed %d times", space.used(), freed)
	}

	q := s.create(1, 1)
	if _, err := write(q, rand.New(rand.NewPCG(1, 1)), 5000, 100); err != nil {
		t.Fatal(err)
	}
	r := s.reader(1, shuffle.One(0))
	if _, e, err := r.next(); err != nil {
		t.Fatal(err)
	} else {
		e.Batch.Release()
	}
	s.registry.Release(q.ID())
	for err = nil; err == nil; {
		var e element.Element
		if _, e, err = r.next(); e.Batch != nil {
			e.Batch.Release()
		}
	}
	wantError(t, err, shuffle.ErrProducerFailed, "released")
	for _, r := range []*reader{waiting, late, r} {
		r.Close()
	}
	if q.Whole() {
		t.Error("a released partition is whole")
	}
}

func TestCancelEndsEmit(t *testing.T) {
	s := newSite(t, newMemory(), 1<<10, 0)
	cancel := make(chan struct{})
	p, err := s.store.Create(partitionID(0), 1, 1<<10, newNumbersSerializer, cancel, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Emit(0, newNumbers(0, 1)); err != nil {
		t.Fatal(err)
	}
	close(cancel)
	wantError(t, p.Emit(0, newNumbers(0, 1)), shuffle.ErrCanceled)
	p.Release()
}

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	s := newSite(t, newMemory(), 1<<10, 0)
	p := s.create(0, 3)
	wantError(t, p.Emit(0, newNumbers(-1, 1)), errPoison, p.ID().String())
	if err := p.Emit(0, newNumbers(0, 1)); err != nil {
		t.Errorf("after a batch that was refused: %v", err)
	}
	if err := p.Control(element.Element{Kind: element.Barrier, Checkpoint: 7}); err == nil || !strings.Contains(err.Error(), "checkpoint 7") {
		t.Errorf("a barrier: %v", err)
	}
	if err := p.Control(element.Element{Kind: element.Status, Idle: true}); err != nil {
		t.Error(err)
	}
	if _, err := p.View(shuffle.Range{First: 1, Last: 3}, nil); !errors.Is(err, shuffle.ErrPartitionNotFound) {
		t.Errorf("a range too far: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	for _, short := range []bool{false, true} {
		space := newMemory()
		space.room, space.short = 10<<10, short
		s := newSite(t, space, 4<<10, 0)
		p := s.create(0, 3)
		_, err := write(p, rand.New(rand.NewPCG(1, 2)), 10_000, 200)
		want := errFull.Error()
		if short {
			want = "short write"
		}
		if err == nil {
			t.Fatal("a full disk was not noticed")
		}
		for _, text := range []string{p.ID().String(), "/disk/", "bytes", want} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q does not say %q", err, text)
			}
		}
		t.Log(err)
		if space.used() != 0 {
			t.Errorf("%d bytes are still used", space.used())
		}
		if again := p.Emit(0, newNumbers(0, 1)); again == nil || again.Error() != err.Error() {
			t.Errorf("written on: %v", again)
		}
		if again := p.Finish(); again == nil || again.Error() != err.Error() {
			t.Errorf("finished: %v", again)
		}
		p.Fail(err)

		// The process goes on.
		space.room = 0
		r := rand.New(rand.NewPCG(1, 3))
		q := s.create(1, 3)
		written, err := write(q, r, 1000, 200)
		if err != nil {
			t.Fatal(err)
		}
		reader := s.reader(1, shuffle.Range{First: 0, Last: 2})
		if err := written.check(reader, shuffle.Range{First: 0, Last: 2}); err != nil {
			t.Error(err)
		}
		reader.Close()
	}
}

// Any damage is an error, or is where nobody reads; never other numbers.
func TestDamagedFiles(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	space := newMemory()
	s := newSite(t, space, 2<<10, 0)
	p := s.create(0, 4)
	written, err := write(p, r, 300, 50)
	if err != nil {
		t.Fatal(err)
	}
	f := space.only(t)
	whole := f.data
	all := shuffle.Range{First: 0, Last: 3}
	noticed := 0
	for range 2000 {
		data := append([]byte(nil), whole...)
		cut := r.IntN(4) == 0
		if cut {
			data = data[:r.IntN(len(data))]
		} else {
			data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
		}
		f.replace(data)
		ranges := []shuffle.Range{all}
		if r.IntN(2) == 0 {
			ranges = randomRanges(r, 4)
		}
		reader := s.reader(0, ranges...)
		err := written.check(reader, ranges...)
		reader.Close()
		switch {
		case errors.Is(err, shuffle.ErrPartitionCorrupt):
			wantError(t, err, shuffle.ErrPartitionCorrupt, f.name, "at byte")
			noticed++
		case err != nil:
			t.Fatalf("cut %t: %v", cut, err)
		}
	}
	if noticed < 1000 {
		t.Errorf("%d of 2000 damages were noticed; the others were in the entries of indexes that nobody reads", noticed)
	}
	f.replace(whole)
	reader := s.reader(0, all)
	if err := written.check(reader, all); err != nil {
		t.Errorf("after the repair: %v", err)
	}
	reader.Close()
}

// FuzzData reads any bytes as a file.
func FuzzData(f *testing.F) {
	space := newMemory()
	w, err := NewWriter(space, "seed", 3, 100)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 20 {
		dst, err := w.Begin()
		if err != nil {
			f.Fatal(err)
		}
		if err := w.End(i%3, 1, append(dst, "some bytes"...)); err != nil {
			f.Fatal(err)
		}
	}
	good, err := w.Finish()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good.file.(*memoryFile).data, uint16(good.regions[0]), uint16(good.regions[1]), uint8(0), uint8(2))
	f.Add(good.file.(*memoryFile).data, uint16(good.regions[0]), uint16(good.regions[1]), uint8(1), uint8(1))
	f.Add([]byte("nothing"), uint16(0), uint16(0), uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, first, second uint16, from, to uint8) {
		d := &Data{file: &memoryFile{space: newMemory(), name: "/fuzz", data: b}, regions: []int64{int64(first), int64(second)}}
		d.sizes.Records, d.sizes.Bytes = make([]int64, 3), make([]int64, 3)
		scanned := 0
		reader, err := d.Read(shuffle.Range{First: int(from), Last: int(to)}, make([]byte, 20))
		for err == nil {
			var encoded []byte
			if _, encoded, err = reader.Next(); encoded == nil {
				break
			}
			scanned += len(encoded)
		}
		if err == nil && scanned > len(b)*len(d.regions) {
			t.Errorf("%d bytes came out of %d", scanned, len(b))
		}
		if err != nil && !errors.Is(err, shuffle.ErrPartitionCorrupt) && !errors.Is(err, shuffle.ErrPartitionNotFound) {
			t.Errorf("got %v", err)
		}
		if len(b) >= headerSize {
			h := parseHeader(b)
			again := append([]byte(nil), b...)
			seal(again[:min(len(again), headerSize+h.length)], h.sub, h.records)
			if verify(again[:min(len(again), headerSize+h.length)], shuffle.One(h.sub)) != nil {
				t.Error("a sealed block is not valid")
			}
		}
	})
}
