package partition

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at returns epoch plus a duration.
func at(d time.Duration) time.Time { return epoch.Add(d) }

func hashed(hash uint64, rest string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, hash), rest...)
}

func TestPartitionsAtTheStart(t *testing.T) {
	provisioned := func(read, write int64) Capacity {
		return Capacity{Mode: Provisioned, Provisioned: Rate{read, write}}
	}
	small := Options{Partition: Rate{Read: 30, Write: 10}}
	for _, c := range []struct {
		name    string
		options Options
		config  Config
		want    int
	}{
		{"on-demand", Options{}, Config{}, 4},
		{"on-demand, small partitions", small, Config{}, 4},
		{"on-demand, other start", Options{OnDemandPartitions: 7}, Config{}, 7},
		{"on-demand, warm for writes", Options{}, Config{Capacity: Capacity{Warm: Rate{12_000, 20_000}}}, 20},
		{"on-demand, warm for reads", Options{}, Config{Capacity: Capacity{Warm: Rate{40_000, 4_000}}}, 14},
		{"on-demand, barely warm", Options{}, Config{Capacity: Capacity{Warm: Rate{1, 1}}}, 4},
		{"provisioned, small", Options{}, Config{Capacity: provisioned(5, 5)}, 1},
		{"provisioned, one partition full", Options{}, Config{Capacity: provisioned(3_000, 1_000)}, 1},
		{"provisioned, one unit more", Options{}, Config{Capacity: provisioned(3_000, 1_001)}, 2},
		{"provisioned, AWS's example", Options{}, Config{Capacity: provisioned(1, 10_000)}, 10},
		{"provisioned, reads decide", Options{}, Config{Capacity: provisioned(30_000, 1_000)}, 10},
		{"provisioned and warm", Options{}, Config{Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{5, 5}, Warm: Rate{5, 9_000}}}, 9},
		{"provisioned, small partitions", small, Config{Capacity: provisioned(5, 45)}, 5},
		{"exact", Options{}, Config{Partitions: 3, Capacity: provisioned(5, 10_000)}, 3},
		{"opened again", Options{}, Config{Boundaries: [][]byte{hashed(9, ""), hashed(5, ""), hashed(5, "x"), hashed(5, "")}}, 4},
		{"opened again, too few", Options{}, Config{Boundaries: [][]byte{hashed(1<<63, "")}}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSet(t, newTestAccount(t, c.options), c.config)
			if got := len(s.Snapshot(epoch, 0).Partitions); got != c.want {
				t.Errorf("got %d partitions, want %d", got, c.want)
			}
		})
	}
}

// Partitions cover all places without overlap, whatever the number, and splits
// keep it so.
func TestPartitionsCoverEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newTestAccount(t, Options{})
		s := newTestSet(t, a, Config{Partitions: rapid.IntRange(1, 50).Draw(rt, "partitions")})
		for range rapid.IntRange(0, 30).Draw(rt, "splits") {
			i := rapid.IntRange(0, len(s.partitions)-1).Draw(rt, "partition")
			b := drawBound(rt, "at")
			if s.find(b) != i || b.compare(s.partitions[i].lower) == 0 {
				continue
			}
			s.partitions[i].split = &pending{at: b}
			s.finish()
		}
		s.double(rapid.IntRange(0, 100).Draw(rt, "double"), CauseCapacity, s.now)

		view := s.Snapshot(epoch, 0).Partitions
		if view[0].Lower != nil || view[len(view)-1].Upper != nil {
			rt.Fatalf("ends are %v and %v, want open ones", view[0].Lower, view[len(view)-1].Upper)
		}
		for i := 1; i < len(view); i++ {
			if !slices.Equal(view[i-1].Upper, view[i].Lower) {
				rt.Fatalf("partition %d ends at %x, the next begins at %x", i-1, view[i-1].Upper, view[i].Lower)
			}
			if boundOf(view[i-1].Lower).compare(boundOf(view[i].Lower)) >= 0 {
				rt.Fatalf("partition %d is empty", i-1)
			}
		}
		b := drawBound(rt, "place")
		want := 0
		for i, p := range view {
			if boundOf(p.Lower).compare(b) <= 0 {
				want = i
			}
		}
		if got := s.Locate(epoch, b.place()); got != view[want].ID {
			rt.Errorf("%v is located in %d, want %d", b, got, view[want].ID)
		}
		again := newTestSet(t, a, Config{Boundaries: s.Boundaries(epoch), Partitions: 0, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{1, 1}}})
		for i, p := range again.Snapshot(epoch, 0).Partitions {
			if !slices.Equal(p.Lower, view[i].Lower) {
				rt.Errorf("opened again, partition %d begins at %x, want %x", i, p.Lower, view[i].Lower)
			}
		}
	})
}

func TestEqualRanges(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{}), Config{Partitions: 3})
	third := uint64(math.MaxUint64/3) + 1
	if got, want := s.lowers, []uint64{0, third, 2*third - 1}; !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestQuotas(t *testing.T) {
	a := newTestAccount(t, Options{})
	provisioned := func(read, write int64) Capacity {
		return Capacity{Mode: Provisioned, Provisioned: Rate{read, write}}
	}
	first := newTestSet(t, a, Config{Capacity: provisioned(40_000, 40_000)})
	second := newTestSet(t, a, Config{Capacity: provisioned(39_000, 40_000)})
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrQuota) {
			t.Errorf("%s: got %v, want %v", what, err, ErrQuota)
		}
	}
	_, err := a.NewSet(epoch, Config{Capacity: provisioned(40_001, 1)})
	refused("beyond the table's quota", err)
	_, err = a.NewSet(epoch, Config{Capacity: provisioned(1, 1)})
	refused("beyond the account's quota", err)
	refused("raised beyond it", second.Update(epoch, provisioned(39_000, 40_001)))
	if got, want := a.Provisioned(), (Rate{79_000, 80_000}); got != want {
		t.Errorf("got %v provisioned, want %v", got, want)
	}
	if err := first.Update(epoch, Capacity{}); err != nil {
		t.Errorf("to on-demand: %v", err)
	}
	second.Drop()
	second.Drop()
	if got := a.Provisioned(); got != (Rate{}) {
		t.Errorf("got %v provisioned, want none", got)
	}
	for _, c := range []Config{
		{Capacity: provisioned(0, 1)},
		{Capacity: provisioned(1, -1)},
		{Capacity: provisioned(math.MaxInt64, 1)},
		{Partitions: -1},
		{Partitions: maxPartitions + 1},
	} {
		if _, err := a.NewSet(epoch, c); err == nil {
			t.Errorf("%+v: got no error", c)
		}
	}
	free := newTestAccount(t, Options{TableQuota: Rate{-1, -1}, AccountQuota: Rate{-1, -1}})
	newTestSet(t, free, Config{Capacity: provisioned(1_000_000, 1_000_000)})
}

func TestOptions(t *testing.T) {
	o := newTestAccount(t, Options{Partition: Rate{Write: 10}, SplitDuration: -1}).Options()
	if o.Partition != (Rate{3_000, 10}) || o.EventualReads != 3_000 || o.SplitDuration != 0 || o.Burst != 300*time.Second {
		t.Errorf("got %+v", o)
	}
	_, err := NewAccount(Options{
		Partition: Rate{-1, -2}, EventualReads: -5, Window: -1, Burst: -1, TableRefill: -1, SplitThreshold: 1.5, SplitHold: -1,
		SplitDuration: longest + 1, SplitBytes: -1, ResizeDuration: -1, OnDemandPartitions: -1, GrowthPeriod: -1,
		AccountLimitException: "Oops", HistorySeconds: -1, HistoryMinutes: -1, HistorySplits: -1,
	})
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) != 17 {
		t.Errorf("got %v, want 17 faults", err)
	}
	if _, err := NewAccount(Options{SplitThreshold: math.NaN()}); err == nil {
		t.Error("a threshold that is no number passes")
	}
}
