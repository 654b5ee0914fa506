package partition

import (
	"maps"
	"testing"
	"time"
)

func TestSecondsOfAPartition(t *testing.T) {
	// The set begins 700 ms into a second: seconds are those of the wall clock.
	begin := epoch.Add(700 * time.Millisecond)
	a := newTestAccount(t, Options{HistorySeconds: 10})
	s, err := a.NewSet(begin, Config{Partitions: 2})
	if err != nil {
		t.Fatal(err)
	}
	place := hashed(1, "")
	send := func(ms int, read, write float64) {
		_ = Admit(epoch.Add(time.Duration(ms)*time.Millisecond), Charge{Set: s, Place: place, Read: read, Write: write})
	}
	send(700, 2, 0)
	send(999, 0.5, 0)
	send(1000, 0, 250)
	send(1001, 0, 3) // 49 are owed
	send(3500, 1, 1)
	want := []Second{
		{Start: epoch, ReadUnits: 2.5},
		{Start: at(time.Second), WriteUnits: 250, WriteThrottled: 3},
		{Start: at(2 * time.Second)},
		{Start: at(3 * time.Second), ReadUnits: 1, WriteUnits: 1},
		{Start: at(4 * time.Second)},
	}
	view := s.Snapshot(at(4*time.Second), time.Minute).Partitions
	compareSeconds(t, "all", view[0].Seconds, want)
	if len(view[1].Seconds) != 0 {
		t.Errorf("got %v of a partition without requests", view[1].Seconds)
	}
	compareSeconds(t, "the last two", s.Snapshot(at(4*time.Second), 2*time.Second).Partitions[0].Seconds, want[3:])
	view = s.Snapshot(at(12*time.Second), time.Minute).Partitions
	if got := view[0].Seconds; len(got) != 10 || got[0] != want[3] {
		t.Errorf("got %v, want ten seconds from %v", got, want[3])
	}
	for _, second := range s.Snapshot(at(13*time.Second), time.Minute).Partitions[0].Seconds {
		if second.WriteUnits != 0 {
			t.Errorf("got %v after ten seconds", second)
		}
	}
	view = s.Snapshot(at(48*time.Hour), time.Minute).Partitions
	if got := view[0].Seconds; len(got) != 10 || !got[9].Start.Equal(at(48*time.Hour)) {
		t.Errorf("got %v, want ten empty seconds", got)
	}
}

func compareSeconds(t *testing.T, what string, got, want []Second) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: second %d: got %+v, want %+v", what, i, got[i], want[i])
		}
	}
}

func TestMinutes(t *testing.T) {
	begin := epoch.Add(50 * time.Second)
	a := newTestAccount(t, Options{HistoryMinutes: 3})
	s, err := a.NewSet(begin, Config{})
	if err != nil {
		t.Fatal(err)
	}
	send := func(d time.Duration, read, write float64) {
		_ = Admit(at(d), Charge{Set: s, Place: hashed(1, ""), Read: read, Write: write})
	}
	send(50*time.Second, 1, 300)
	send(50*time.Second, 0, 1) // throttled
	send(60*time.Second, 0.5, 0)
	send(3*time.Minute, 0, 2)
	got := s.Minutes(at(3*time.Minute), epoch)
	if len(got) != 3 || !got[0].Start.Equal(at(time.Minute)) || got[0].ConsumedReadCapacityUnits != 0.5 ||
		got[1] != (Minute{Start: at(2 * time.Minute)}) || got[2].ConsumedWriteCapacityUnits != 2 {
		t.Errorf("got %+v, want minutes 1 to 3", got)
	}
	if got := s.Minutes(at(3*time.Minute), at(170*time.Second)); len(got) != 2 {
		t.Errorf("got %d minutes since minute 2, want 2", len(got))
	}
	if got := s.Minutes(at(1000*time.Hour), epoch); len(got) != 3 || got[2].ConsumedWriteCapacityUnits != 0 {
		t.Errorf("got %+v, want three empty minutes", got)
	}

	s, err = a.NewSet(begin, Config{})
	if err != nil {
		t.Fatal(err)
	}
	send(50*time.Second, 1, 300)
	send(50*time.Second, 0, 1)
	m := s.Minutes(begin, begin)[0]
	metrics := maps.Collect(m.Metrics())
	for name, want := range map[string]float64{
		"ConsumedReadCapacityUnits": 1, "ConsumedWriteCapacityUnits": 300, "WriteThrottleEvents": 1,
		"WriteKeyRangeThroughputThrottleEvents": 1, "ReadThrottleEvents": 0,
	} {
		if got, ok := metrics[name]; !ok || got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if len(metrics) != 12 || !m.Start.Equal(epoch) {
		t.Errorf("got %d metrics from %v, want 12 from %v", len(metrics), m.Start, epoch)
	}
}

func TestTableTokens(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{}), Config{Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{150, 10}}})
	if got := s.Snapshot(epoch, 0).TableTokens; got != (Tokens{150, 10}) {
		t.Errorf("got %v, want a second's worth", got)
	}
	if got := s.Snapshot(at(time.Hour), 0).TableTokens; got != (Tokens{45_000, 3_000}) {
		t.Errorf("got %v, want 300 seconds' worth", got)
	}
	if got := newTestSet(t, newTestAccount(t, Options{}), Config{}).Snapshot(epoch, 0).TableTokens; got != (Tokens{}) {
		t.Errorf("on-demand: got %v, want none", got)
	}
}
