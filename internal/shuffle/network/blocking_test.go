package network

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/spill"
)

// onDisk gives a host a directory for blocking partitions and checks at the end
// that nothing is left there.
func onDisk(t *testing.T, change func(*Options)) (directory string, with func(*Options)) {
	directory = t.TempDir()
	space := scratch.In(directory)
	t.Cleanup(func() { // after the host's
		if n := space.Files(); n != 0 {
			t.Errorf("%d files are left", n)
		}
		if err := space.Close(); err != nil {
			t.Error(err)
		}
	})
	return directory, func(o *Options) {
		o.Scratch = space
		if change != nil {
			change(o)
		}
	}
}

// fill writes batches of random sizes to random consumers and finishes: the n-th
// number for a consumer is n. It gives how many each has.
func fill(t *testing.T, p *spill.Partition, r *rand.Rand, batches int) []int64 {
	next := make([]int64, p.Subpartitions())
	for range batches {
		sub := r.IntN(p.Subpartitions())
		b := newNumbers(r.IntN(2000))
		if r.IntN(20) == 0 {
			b.padding = r.IntN(5 * DefaultBufferSize)
		}
		for range 1 + r.IntN(5) {
			b.vals = append(b.vals, next[sub])
			next[sub]++
		}
		if err := p.Emit(sub, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Control(element.Element{Kind: element.Watermark, Time: element.MaxWatermark}); err != nil {
		t.Fatal(err)
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	return next
}

// count reads a gate to its end and gives how many numbers each channel had, and
// checks those that read one subpartition for order.
func count(r *reader, ordered func(channel int) bool) ([]int64, error) {
	got := make([]int64, r.Channels())
	for open := r.Channels(); open > 0; {
		ch, e, err := r.next()
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case element.EndOfPartition:
			open--
		case element.Data:
			for _, v := range e.Batch.(*numbers).vals {
				if ordered(ch) && v != got[ch] {
					return nil, fmt.Errorf("channel %d: got %d, want %d", ch, v, got[ch])
				}
				got[ch]++
			}
			e.Batch.Release()
		}
	}
	return got, nil
}

// Consumers here and elsewhere read the same partitions, one subpartition or
// several at once, again and again.
func TestBlockingPartitionsAreReadHereAndThere(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const producers, consumers = 3, 9
	_, disk := onDisk(t, func(o *Options) { o.WriteBuffers, o.ReadBytes = 4, 1 })
	from, to := newHost(t, "unix", "from", disk), newHost(t, "unix", "to", nil)
	var wrote [producers][]int64
	for i := range producers {
		p, err := from.CreateBlockingPartition(partitionID(i), consumers, newNumbersSerializer, nil)
		if err != nil {
			t.Fatal(err)
		}
		wrote[i] = fill(t, p, rand.New(rand.NewPCG(seed, uint64(i))), 400)
	}
	from.checkBuffersBack(t)
	var group sync.WaitGroup
	for _, host := range []*host{from, to} {
		for _, width := range []int{1, 2, 9} {
			for first := 0; first < consumers; first += width {
				var channels []Channel
				last := min(first+width, consumers) - 1
				for i := range producers {
					c := from.channel(i, first)
					c.Subpartitions = last - first + 1
					channels = append(channels, c)
				}
				r := newReader(t, host.Environment, channels...)
				group.Go(func() {
					got, err := count(r, func(int) bool { return first == last })
					if err != nil {
						t.Error(err)
					}
					r.Close()
					for i := range got {
						want := int64(0)
						for _, n := range wrote[i][first : last+1] {
							want += n
						}
						if got[i] != want {
							t.Errorf("%s: %d numbers of subpartitions %d to %d of partition %d, want %d", host.id, got[i], first, last, i, want)
						}
					}
				})
			}
		}
	}
	group.Wait()
	if n := from.Partitions(); n != producers {
		t.Errorf("%d partitions, want %d until they are released", n, producers)
	}
	for i := range producers {
		from.Release(partitionID(i))
	}
	if n := from.Partitions(); n != 0 {
		t.Errorf("%d partitions after their release", n)
	}
	checkAllReleased(t)
}

func TestACorruptFileIsToldElsewhere(t *testing.T) {
	directory, disk := onDisk(t, nil)
	from, to := newHost(t, "tcp", "from", disk), newHost(t, "tcp", "to", nil)
	p, err := from.CreateBlockingPartition(partitionID(0), 2, newNumbersSerializer, nil)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, p, rand.New(rand.NewPCG(1, 1)), 100)
	files, err := filepath.Glob(filepath.Join(directory, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q: %v", files, err)
	}
	if err := os.Truncate(files[0], 1000); err != nil {
		t.Fatal(err)
	}
	for _, host := range []*host{to, from} {
		r := newReader(t, host.Environment, from.channel(0, 1))
		err := readUntilError(r)
		wantError(t, err, shuffle.ErrPartitionCorrupt, partitionID(0).String(), files[0], "at byte")
		if e, ok := errors.AsType[*shuffle.PartitionError](err); !ok || e.Partition != partitionID(0) {
			t.Errorf("%v does not say which partition", err)
		}
		r.Close()
	}
	from.Release(partitionID(0))
	r := newReader(t, to.Environment, from.channel(0, 1))
	r.Close()
}

// A consumer that is lost takes nothing with it: the next one reads all.
func TestAConsumerOfABlockingPartitionIsLost(t *testing.T) {
	_, disk := onDisk(t, nil)
	from, to := newHost(t, "unix", "from", disk), newHost(t, "unix", "to", nil)
	p, err := from.CreateBlockingPartition(partitionID(0), 1, newNumbersSerializer, nil)
	if err != nil {
		t.Fatal(err)
	}
	wrote := fill(t, p, rand.New(rand.NewPCG(1, 1)), 3000)
	r := newReader(t, to.Environment, from.channel(0, 0))
	if _, e, err := r.next(); err != nil {
		t.Fatal(err)
	} else {
		e.Batch.Release()
	}
	from.cutConnections()
	wantError(t, readUntilError(r), shuffle.ErrPeerLost)
	r.Close()
	again := newReader(t, to.Environment, from.channel(0, 0))
	got, err := count(again, func(int) bool { return true })
	if err != nil || got[0] != wrote[0] {
		t.Errorf("read again: %d of %d numbers, %v", got, wrote[0], err)
	}
	again.Close()
	checkAllReleased(t)
}

func TestBlockingPartitionsNeedBuffersAndADirectory(t *testing.T) {
	none := newHost(t, "unix", "none", nil)
	if _, err := none.CreateBlockingPartition(partitionID(0), 1, newNumbersSerializer, nil); err == nil {
		t.Error("a blocking partition without a directory")
	}
	_, disk := onDisk(t, func(o *Options) { o.Buffers = 40 })
	few := newHost(t, "unix", "few", disk)
	var made []*spill.Partition
	for i := range 3 {
		p, err := few.CreateBlockingPartition(partitionID(i), 1, newNumbersSerializer, nil)
		if err != nil {
			wantError(t, err, shuffle.ErrInsufficientBuffers)
			break
		}
		made = append(made, p)
	}
	if len(made) != 1 { // the first borrowed what may be lent
		t.Errorf("%d partitions in 40 buffers, want 1", len(made))
	}
	twice, err := few.CreateBlockingPartition(partitionID(0), 1, newNumbersSerializer, nil)
	if err == nil {
		t.Errorf("made %v", twice)
	}
	made[0].Fail(os.ErrInvalid)
	few.checkBuffersBack(t)
	twice, err = few.CreateBlockingPartition(partitionID(0), 1, newNumbersSerializer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := twice.Emit(0, newNumbers(0, 1)); err == nil {
		t.Error("the same partition twice")
	}
	live.Store(0)
	few.Release(partitionID(0))
	few.checkBuffersBack(t)
}
