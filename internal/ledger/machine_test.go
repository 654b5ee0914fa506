package ledger

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// The machines, step by step. Package sim runs them against each other.

var (
	t0      = time.Unix(1_000_000, 0)
	errSome = errors.New("some error")
)

func widths(generation int64, write, read int) Record {
	return Record{Generation: generation, Write: write, Read: read, State: Active}
}

// knowing returns a view that has read a record at t0.
func knowing(t *testing.T, r Record) *View {
	t.Helper()
	v := NewView(ViewOptions{Key: "k"})
	if err := v.Learn(v.Ask(t0, true), r); err != nil {
		t.Fatal(err)
	}
	return v
}

// show prints effects, to be compared.
func show(effects []Effect) string {
	var parts []string
	for _, e := range effects {
		switch e := e.(type) {
		case ReadLedger:
			parts = append(parts, fmt.Sprintf("ledger strong=%v floor=%d", e.Strong, e.Floor))
		case WriteLedger:
			parts = append(parts, fmt.Sprintf("store %d %d/%d if %d most %d", e.Record.Generation, e.Record.Write, e.Record.Read, e.If, e.Most))
		case ReadShards:
			parts = append(parts, fmt.Sprintf("shards %d-%d strong=%v", e.From, e.To, e.Strong))
		case GetItem:
			parts = append(parts, fmt.Sprintf("get %d strong=%v", e.Shard, e.Strong))
		case ProbeShards:
			parts = append(parts, fmt.Sprintf("probe %d", e.To))
		case SendItem:
			parts = append(parts, fmt.Sprintf("send to %d stamp %d", e.Shard, e.Stamp))
		}
	}
	return strings.Join(parts, ", ")
}

func next(t *testing.T, m interface{ Next() []Effect }, want string) {
	t.Helper()
	if got := show(m.Next()); got != want {
		t.Fatalf("got effects %q, want %q", got, want)
	}
}

func strongRead(r Record) LedgerRead {
	return LedgerRead{Asked: ReadLedger{Strong: true, Sent: t0}, Record: r}
}

func TestViewLearnsNewerRecordsOnly(t *testing.T) {
	v := knowing(t, widths(3, 4, 4))
	late := ReadLedger{Strong: true, Sent: t0.Add(-time.Minute)}
	if err := v.Learn(late, widths(2, 2, 2)); err != nil {
		t.Errorf("an answer that was late: %v", err)
	}
	if err := v.Learn(v.Ask(t0, false), widths(1, 2, 2)); err != nil {
		t.Errorf("a replica that lags: %v", err)
	}
	if r, _ := v.Record(); r.Generation != 3 {
		t.Errorf("got generation %d, want 3", r.Generation)
	}
	if err := v.Learn(v.Ask(t0, true), widths(4, 8, 8)); err != nil {
		t.Error(err)
	}
	if r, known := v.Record(); r.Read != 8 || !known {
		t.Errorf("got %+v, want 8 shards", r)
	}
}

func TestViewReportsALostLedger(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Record
	}{
		{"deleted", Absent(layout.Random, layout.XXHash)},
		{"restored", widths(2, 2, 2)},
		{"begun anew, the same generation", widths(3, 2, 2)},
		{"begun anew, a later generation", widths(5, 4, 4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := knowing(t, widths(3, 8, 8))
			if err := v.Learn(v.Ask(t0, true), c.r); !errors.Is(err, ErrLost) || !errors.Is(v.Suspect(), ErrLost) {
				t.Fatalf("got %v, suspect %v, want ErrLost", err, v.Suspect())
			}
			if r, _ := v.Record(); r.Read != 8 {
				t.Errorf("got %d shards, want the 8 that were known", r.Read)
			}
			if err := v.Learn(v.Ask(t0, true), widths(6, 8, 8)); err != nil || v.Suspect() != nil {
				t.Errorf("after the repair: got %v, suspect %v", err, v.Suspect())
			}
		})
	}
}

func TestViewRefusesAnotherLayout(t *testing.T) {
	v := NewView(ViewOptions{Key: "k", Strategy: layout.Calculated, Hash: layout.FNV})
	for _, r := range []Record{
		{Generation: 1, Read: 2, Write: 2, State: Active},
		{Generation: 1, Read: 2, Write: 2, State: Active, Strategy: layout.Calculated},
		{Generation: 1, Read: 2, Write: 4, State: Active, Strategy: layout.Calculated, Hash: layout.FNV},
	} {
		if err := v.Learn(v.Ask(t0, true), r); !errors.Is(err, ErrRecord) {
			t.Errorf("%+v: got %v, want ErrRecord", r, err)
		}
	}
}

func TestViewRefreshesOnceASecond(t *testing.T) {
	v := NewView(ViewOptions{})
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {999 * time.Millisecond, false}, {time.Second, true}, {1500 * time.Millisecond, false}, {-time.Hour, true}} {
		if _, got := v.Refresh(t0.Add(c.after)); got != c.want {
			t.Errorf("after %v: got %v, want %v", c.after, got, c.want)
		}
	}
}

func TestShare(t *testing.T) {
	var s Share
	join := func(flight int64, start bool) {
		t.Helper()
		if f, b := s.Join(); f != flight || b != start {
			t.Fatalf("join: got %d, %v, want %d, %v", f, b, flight, start)
		}
	}
	landed := func(flight int64, start bool) {
		t.Helper()
		if f, b := s.Landed(); b != start || b && f != flight {
			t.Fatalf("landed: got %d, %v, want %d, %v", f, b, flight, start)
		}
	}
	join(1, true)
	join(2, false) // 1 was sent before
	join(2, false)
	landed(2, true)
	join(3, false)
	landed(3, true)
	landed(0, false)
	join(4, true)
}

func TestGrow(t *testing.T) {
	v := NewView(ViewOptions{Key: "k"})
	m := NewGrow(v, Growth{To: 8, Now: t0, Why: "hot", By: "me"})
	next(t, m, "ledger strong=true floor=0")
	next(t, m, "")
	m.Handle(strongRead(Absent(layout.Random, layout.XXHash)))
	next(t, m, "store 1 8/8 if 0 most 8")
	m.Handle(LedgerWritten{Outcome: Done})
	r, grown, err := m.Result()
	if !m.Over() || !grown || err != nil || r.Write != 8 || r.By != "me" || r.Why != "hot" {
		t.Errorf("got %+v, %v, %v", r, grown, err)
	}
	if again := NewGrow(v, Growth{To: 4, Now: t0}); !again.Over() || again.Next() != nil {
		t.Error("a key that is wide enough is written again")
	}
}

// The read width stays when fewer shards are written than are read.
func TestGrowKeepsTheReadWidth(t *testing.T) {
	m := NewGrow(knowing(t, widths(5, 2, 16)), Growth{To: 4, Now: t0})
	next(t, m, "store 6 4/16 if 5 most 16")
}

func TestGrowMeetsAnother(t *testing.T) {
	for _, c := range []struct {
		name   string
		once   bool
		stored Record
		want   string
	}{
		{"narrower", false, widths(2, 4, 4), "store 3 8/8 if 2 most 8"},
		{"narrower, once", true, widths(2, 4, 4), ""},
		{"wider", false, widths(2, 16, 16), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewGrow(knowing(t, widths(1, 2, 2)), Growth{To: 8, Now: t0, Once: c.once})
			next(t, m, "store 2 8/8 if 1 most 8")
			m.Handle(LedgerWritten{Outcome: Refused, Record: c.stored, Err: errSome})
			next(t, m, c.want)
			if got, grown, err := m.Result(); got.Write != c.stored.Write || grown || err != nil {
				t.Errorf("got %+v, %v, %v, want what is stored", got, grown, err)
			}
		})
	}
}

func TestGrowAfterALostAnswer(t *testing.T) {
	start := func() *Grow {
		m := NewGrow(knowing(t, widths(1, 2, 2)), Growth{To: 8, Now: t0})
		next(t, m, "store 2 8/8 if 1 most 8")
		m.Handle(LedgerWritten{Outcome: Unknown, Err: errSome})
		if r, _ := m.view.Record(); r.Write != 2 {
			t.Fatal("a width is used that may not be stored")
		}
		next(t, m, "ledger strong=true floor=1")
		return m
	}
	t.Run("it was stored", func(t *testing.T) {
		m := start()
		m.Handle(strongRead(m.written.Record))
		if _, grown, err := m.Result(); !m.Over() || !grown || err != nil {
			t.Errorf("got %v, %v", grown, err)
		}
	})
	t.Run("it was not", func(t *testing.T) {
		m := start()
		m.Handle(strongRead(widths(1, 2, 2)))
		next(t, m, "store 2 8/8 if 1 most 8")
	})
	t.Run("nobody knows", func(t *testing.T) {
		m := start()
		m.Handle(LedgerRead{Err: errSome})
		if _, _, err := m.Result(); !errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, errSome) {
			t.Errorf("got %v, want ErrUnknownOutcome with its cause", err)
		}
	})
	t.Run("throttled then", func(t *testing.T) {
		m := start()
		m.Handle(strongRead(widths(1, 2, 2)))
		m.Next()
		m.Handle(LedgerWritten{Outcome: Throttled, Err: errSome})
		if _, _, err := m.Result(); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("got %v, want ErrUnknownOutcome: the first write may arrive yet", err)
		}
	})
}

func TestGrowEnds(t *testing.T) {
	frozen := widths(1, 2, 2)
	frozen.Frozen = true
	calculated := NewView(ViewOptions{Key: "k", Strategy: layout.Calculated})
	calculated.known = true
	for _, c := range []struct {
		name string
		m    *Grow
		want error
	}{
		{"no shards", NewGrow(knowing(t, widths(1, 2, 2)), Growth{To: 0}), nil},
		{"too many shards", NewGrow(knowing(t, widths(1, 2, 2)), Growth{To: layout.MaxShards + 1}), nil},
		{"frozen", NewGrow(knowing(t, frozen), Growth{To: 8}), ErrFrozen},
		{"no power of two", NewGrow(calculated, Growth{To: 3}), layout.ErrWidth},
	} {
		if _, _, err := c.m.Result(); !c.m.Over() || err == nil || c.want != nil && !errors.Is(err, c.want) || len(c.m.Next()) > 0 {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}

	m := NewGrow(knowing(t, widths(1, 2, 2)), Growth{To: 8, Now: t0})
	for n := int64(2); !m.Over(); n++ {
		m.Next()
		m.Handle(LedgerWritten{Outcome: Refused, Record: widths(n, 2, 2)})
	}
	if _, _, err := m.Result(); !errors.Is(err, ErrContended) {
		t.Errorf("got %v, want ErrContended", err)
	}
}

func TestGrowFreezesAndThaws(t *testing.T) {
	v := knowing(t, widths(1, 2, 2))
	for _, c := range []struct {
		growth Growth
		want   string
		frozen bool
	}{
		{Growth{To: 1, Freeze: Freeze}, "store 2 2/2 if 1 most 2", true},
		{Growth{To: 1, Freeze: Freeze}, "", true},
		{Growth{To: 4, Freeze: Thaw}, "store 3 4/4 if 2 most 4", false},
		{Growth{To: 8, Freeze: Freeze}, "store 4 8/8 if 3 most 8", true},
	} {
		m := NewGrow(v, c.growth)
		next(t, m, c.want)
		m.Handle(LedgerWritten{Outcome: Done})
		if r, _, err := m.Result(); err != nil || r.Frozen != c.frozen {
			t.Fatalf("%+v: got %+v, %v", c.growth, r, err)
		}
	}
}

// An acknowledged growth that does not fit to what another read has shown is no success.
func TestGrowAcknowledgedAfterALoss(t *testing.T) {
	v := knowing(t, Absent(layout.Random, layout.XXHash))
	m := NewGrow(v, Growth{To: 8, Now: t0})
	m.Next()
	if err := v.Learn(v.Ask(t0, true), widths(1, 2, 2)); err != nil { // the ledger was lost, and grown by another
		t.Fatal(err)
	}
	m.Handle(LedgerWritten{Outcome: Done})
	if _, grown, err := m.Result(); grown || !errors.Is(err, ErrLost) {
		t.Errorf("got %v, %v, want ErrLost", grown, err)
	}
}

// A replica may show a ledger of before the loss, which is later than the record that a growth has stored.
func TestGrowMeetsAReplicaOfBeforeTheLoss(t *testing.T) {
	v := knowing(t, Absent(layout.Random, layout.XXHash))
	m := NewGrow(v, Growth{To: 8, Now: t0})
	m.Next()
	if err := v.Learn(v.Ask(t0, false), widths(2, 4, 4)); err != nil {
		t.Fatal(err)
	}
	m.Handle(LedgerWritten{Outcome: Done})
	if r, grown, err := m.Result(); grown || !errors.Is(err, ErrLost) {
		t.Errorf("got %+v, %v, %v, want ErrLost: generation 2 does not follow on a generation 1 of 8 shards", r, grown, err)
	}
}

func TestReadEffects(t *testing.T) {
	for _, c := range []struct {
		name    string
		view    *View
		reading Reading
		want    string
	}{
		{"strong, cold", NewView(ViewOptions{}), Reading{Now: t0}, "shards 0-1 strong=true, ledger strong=true floor=0"},
		{"strong, known", knowing(t, widths(2, 4, 4)), Reading{Now: t0}, "shards 0-4 strong=true, ledger strong=true floor=2"},
		{"strong, more read than written", knowing(t, widths(2, 2, 4)), Reading{Now: t0}, "shards 0-4 strong=true, ledger strong=true floor=2"},
		{"causal, known", knowing(t, widths(2, 4, 4)), Reading{Mode: Causal, AtLeast: 2, Now: t0}, "shards 0-4 strong=true"},
		{"causal, newer", knowing(t, widths(2, 4, 4)), Reading{Mode: Causal, AtLeast: 3, Now: t0}, "shards 0-4 strong=true, ledger strong=true floor=2"},
		{"causal, cold", NewView(ViewOptions{}), Reading{Mode: Causal, Now: t0}, "shards 0-1 strong=true, ledger strong=true floor=0"},
		{"eventual, cold", NewView(ViewOptions{}), Reading{Mode: Eventual, Now: t0}, "shards 0-1 strong=false, ledger strong=false floor=0"},
		{"eventual, fresh", knowing(t, widths(2, 4, 4)), Reading{Mode: Eventual, Now: t0.Add(DefaultKeep)}, "shards 0-4 strong=false"},
		{"eventual, old", knowing(t, widths(2, 4, 4)), Reading{Mode: Eventual, Now: t0.Add(DefaultKeep + 1)}, "shards 0-4 strong=false, ledger strong=false floor=2"},
		{"causal, next page", knowing(t, widths(2, 4, 4)), Reading{Mode: Causal, AtLeastWidth: 4, Now: t0}, "shards 0-4 strong=true"},
		{"causal, next page of more shards", knowing(t, widths(2, 4, 4)), Reading{Mode: Causal, AtLeastWidth: 8, Now: t0}, "shards 0-4 strong=true, ledger strong=true floor=2"},
		{"eventual, next page of more shards", knowing(t, widths(2, 4, 4)), Reading{Mode: Eventual, AtLeastWidth: 8, Now: t0}, "shards 0-4 strong=false, ledger strong=true floor=2"},
		{"eventual, clock back", knowing(t, widths(2, 4, 4)), Reading{Mode: Eventual, Now: t0.Add(-1)}, "shards 0-4 strong=false, ledger strong=false floor=2"},
	} {
		t.Run(c.name, func(t *testing.T) { next(t, NewRead(c.view, c.reading), c.want) })
	}
}

func TestReadFindsNewShards(t *testing.T) {
	m := NewRead(knowing(t, widths(1, 2, 2)), Reading{Now: t0})
	next(t, m, "shards 0-2 strong=true, ledger strong=true floor=1")
	m.Handle(ShardRead{Shard: 1})
	m.Handle(ShardRead{Shard: 0})
	if m.Over() {
		t.Fatal("over before the ledger was read")
	}
	m.Handle(strongRead(widths(2, 4, 4)))
	next(t, m, "shards 2-4 strong=true")
	m.Handle(ShardRead{Shard: 3})
	m.Handle(ShardRead{Shard: 2})
	if got, err := m.Result(); !m.Over() || err != nil || got.Shards != 4 || got.Generation != 2 {
		t.Errorf("got %+v, %v, want 4 shards of generation 2", got, err)
	}
}

func TestReadWithoutTheLedger(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *Read
		fail bool
	}{
		{"strong", NewRead(knowing(t, widths(1, 2, 2)), Reading{Now: t0}), true},
		{"causal", NewRead(knowing(t, widths(1, 2, 2)), Reading{Mode: Causal, AtLeast: 2, Now: t0}), true},
		{"eventual, cold", NewRead(NewView(ViewOptions{}), Reading{Mode: Eventual, Now: t0}), true},
		{"eventual, known", NewRead(knowing(t, widths(1, 2, 2)), Reading{Mode: Eventual, Now: t0.Add(time.Hour)}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.m.Next()
			c.m.Handle(LedgerRead{Err: errSome})
			c.m.Handle(ShardRead{Shard: 0})
			c.m.Handle(ShardRead{Shard: 1})
			got, err := c.m.Result()
			if !c.m.Over() || errors.Is(err, errSome) != c.fail {
				t.Fatalf("got %v, want an error: %v", err, c.fail)
			}
			if !c.fail && (!got.Stale || !errors.Is(got.Suspect, errSome)) {
				t.Errorf("got %+v, want it to say that it is stale, and why", got)
			}
		})
	}
}

func TestReadStopsAtAShardThatFails(t *testing.T) {
	m := NewRead(knowing(t, widths(1, 2, 2)), Reading{Mode: Causal, AtLeast: 1, Now: t0})
	m.Next()
	m.Handle(ShardRead{Shard: 1, Err: errSome})
	if _, err := m.Result(); !m.Over() || !errors.Is(err, errSome) {
		t.Errorf("got %v", err)
	}
}

// Items that are newer than the ledger make a read look again.
func TestReadFollowsStamps(t *testing.T) {
	start := func() *Read {
		m := NewRead(knowing(t, widths(1, 1, 1)), Reading{Now: t0})
		next(t, m, "shards 0-1 strong=true, ledger strong=true floor=1")
		m.Handle(ShardRead{Shard: 0, Stamp: 2})
		next(t, m, "")
		m.Handle(strongRead(widths(1, 1, 1)))
		next(t, m, "ledger strong=true floor=2")
		return m
	}
	t.Run("grown", func(t *testing.T) {
		m := start()
		m.Handle(LedgerRead{Asked: ReadLedger{Strong: true, Floor: 2}, Record: widths(2, 2, 2)})
		next(t, m, "shards 1-2 strong=true")
	})
	t.Run("lost", func(t *testing.T) {
		m := start()
		m.Handle(LedgerRead{Asked: ReadLedger{Strong: true, Floor: 2}, Record: widths(1, 1, 1)})
		if _, err := m.Result(); !m.Over() || !errors.Is(err, ErrLost) {
			t.Errorf("got %v, want ErrLost", err)
		}
	})
}

// A page may read more shards than the one before, and never fewer.
func TestReadResumes(t *testing.T) {
	start := func(mode Mode) *Read {
		m := NewRead(knowing(t, widths(2, 4, 4)), Reading{Mode: mode, AtLeastWidth: 8, Now: t0})
		m.Next()
		for n := range 4 {
			m.Handle(ShardRead{Shard: n})
		}
		return m
	}
	for _, mode := range []Mode{Strong, Causal, Eventual} {
		t.Run(fmt.Sprint("grown ", mode), func(t *testing.T) {
			m := start(mode)
			m.Handle(strongRead(widths(3, 8, 8)))
			next(t, m, fmt.Sprintf("shards 4-8 strong=%v", mode != Eventual))
		})
		t.Run(fmt.Sprint("lost ", mode), func(t *testing.T) {
			m := start(mode)
			m.Handle(strongRead(widths(2, 4, 4)))
			if _, err := m.Result(); !m.Over() || !errors.Is(err, ErrLost) || !errors.Is(m.view.Suspect(), ErrLost) {
				t.Errorf("got %v, want ErrLost", err)
			}
		})
		t.Run(fmt.Sprint("unreadable ", mode), func(t *testing.T) {
			m := start(mode)
			m.Handle(LedgerRead{Err: errSome})
			if _, err := m.Result(); !m.Over() || !errors.Is(err, errSome) {
				t.Errorf("got %v, want the error", err)
			}
		})
	}
}

// A shard is read when its last page is. The stamps of every page count.
func TestReadOfSeveralPages(t *testing.T) {
	m := NewRead(knowing(t, widths(1, 1, 1)), Reading{Mode: Causal, AtLeast: 1, Now: t0})
	next(t, m, "shards 0-1 strong=true")
	m.Handle(ShardRead{Shard: 0, More: true})
	if m.Over() {
		t.Fatal("over after the first page")
	}
	m.Handle(ShardRead{Shard: 0, Stamp: 2, More: true})
	next(t, m, "ledger strong=true floor=2")
	m.Handle(LedgerRead{Asked: ReadLedger{Strong: true, Floor: 2}, Record: widths(2, 1, 1)})
	if m.Over() {
		t.Fatal("over before the last page")
	}
	m.Handle(ShardRead{Shard: 0})
	if _, err := m.Result(); !m.Over() || err != nil {
		t.Errorf("got %v", err)
	}

	failed := NewRead(knowing(t, widths(1, 1, 1)), Reading{Mode: Causal, AtLeast: 1, Now: t0})
	failed.Next()
	failed.Handle(ShardRead{Shard: 0, More: true, Err: errSome})
	if _, err := failed.Result(); !failed.Over() || !errors.Is(err, errSome) {
		t.Errorf("got %v, want the error", err)
	}
}

// A process that meets a ledger of a newer version refuses to go on, until it understands the ledger again.
func TestNewerLedger(t *testing.T) {
	newer := fmt.Errorf("%w: version 9", ErrNewer)
	v := knowing(t, widths(2, 4, 4))
	started := NewWrite(v, choose(1))
	started.Next()
	started.Handle(ItemSent{Outcome: Unknown, Err: errSome})

	eventual := NewRead(v, Reading{Mode: Eventual, Now: t0.Add(time.Hour)})
	eventual.Next()
	eventual.Handle(LedgerRead{Asked: ReadLedger{Sent: t0.Add(time.Hour)}, Err: newer})
	if _, err := eventual.Result(); !eventual.Over() || !errors.Is(err, ErrNewer) || !errors.Is(v.Newer(), ErrNewer) {
		t.Fatalf("eventual read: got %v, want ErrNewer", err)
	}

	if started.Next() != nil {
		t.Error("a write is sent again")
	}
	if _, err := started.Result(); !started.Over() || !errors.Is(err, ErrNewer) || !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("a write under way: got %v, want ErrNewer and ErrUnknownOutcome", err)
	}
	fresh := NewWrite(v, choose(1))
	if effects := fresh.Next(); effects != nil || !fresh.Over() {
		t.Errorf("a new write: got %v", effects)
	}
	if _, err := fresh.Result(); !errors.Is(err, ErrNewer) || errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("a new write: got %v, want ErrNewer", err)
	}
	next(t, NewRead(v, Reading{Mode: Causal, AtLeast: 1, Now: t0.Add(time.Hour)}), "shards 0-4 strong=true, ledger strong=true floor=2")
	next(t, NewRead(v, Reading{Mode: Eventual, Now: t0}), "shards 0-4 strong=false, ledger strong=true floor=2")
	next(t, NewGet(v, Finding{Home: home(2), Mode: Causal, Now: t0}), "ledger strong=true floor=2")
	next(t, NewGrow(v, Growth{To: 8, Now: t0}), "ledger strong=true floor=2")

	throttled := NewRead(v, Reading{Mode: Eventual, Now: t0.Add(time.Hour)})
	throttled.Next()
	throttled.Handle(LedgerRead{Asked: ReadLedger{Strong: true, Sent: t0.Add(time.Hour)}, Err: errSome})
	if _, err := throttled.Result(); !throttled.Over() || !errors.Is(err, ErrNewer) || !errors.Is(err, errSome) {
		t.Errorf("an eventual read that cannot read the ledger again: got %v, want both errors", err)
	}

	// Only a strong read that was asked for later shows that it is over.
	for _, c := range []struct {
		asked ReadLedger
		still bool
	}{
		{ReadLedger{Strong: true, Sent: t0}, true},
		{ReadLedger{Strong: false, Sent: t0.Add(2 * time.Hour)}, true},
		{ReadLedger{Strong: true, Sent: t0.Add(2 * time.Hour)}, false},
	} {
		if err := v.Learn(c.asked, widths(3, 4, 4)); err != nil || (v.Newer() != nil) != c.still {
			t.Errorf("%+v: got %v, newer %v", c.asked, err, v.Newer())
		}
	}
	v.NotLearned(ReadLedger{Strong: true, Sent: t0}, newer) // an answer that was late
	v.NotLearned(ReadLedger{Strong: true, Sent: t0.Add(3 * time.Hour)}, errSome)
	if v.Newer() != nil {
		t.Errorf("got %v", v.Newer())
	}
}

// What a ledger shows to an operation that has ended is learnt all the same.
func TestLateLedgerIsLearnt(t *testing.T) {
	newer := fmt.Errorf("%w: version 9", ErrNewer)
	for name, start := range map[string]func(*View) interface{ Handle(Event) }{
		"read": func(v *View) interface{ Handle(Event) } {
			m := NewRead(v, Reading{Now: t0})
			m.Handle(ShardRead{Shard: 0, Err: errSome})
			return m
		},
		"get": func(v *View) interface{ Handle(Event) } {
			m := NewGet(v, Finding{Home: home(0), Now: t0})
			m.Handle(ItemRead{Shard: 0, Found: true})
			return m
		},
		"repair": func(v *View) interface{ Handle(Event) } {
			m := NewRepair(v, Repairing{Now: t0})
			m.Handle(ShardsProbed{Err: errSome})
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := NewView(ViewOptions{Key: "k"})
			start(v).Handle(strongRead(widths(2, 4, 4)))
			if r, known := v.Record(); !known || r.Generation != 2 {
				t.Errorf("got generation %d, known %v, want 2", r.Generation, known)
			}
			start(v).Handle(LedgerRead{Asked: ReadLedger{Strong: true, Sent: t0}, Err: newer})
			if !errors.Is(v.Newer(), ErrNewer) {
				t.Errorf("got %v, want ErrNewer", v.Newer())
			}
			start(v).Handle(LedgerRead{Asked: ReadLedger{Strong: true, Sent: t0.Add(time.Hour), Floor: 2}, Record: Absent(layout.Random, layout.XXHash)})
			if !errors.Is(v.Suspect(), ErrLost) {
				t.Errorf("got %v, want ErrLost", v.Suspect())
			}
		})
	}
}

func TestGrowMeetsANewerLedger(t *testing.T) {
	newer := fmt.Errorf("%w: version 9", ErrNewer)
	for _, c := range []struct {
		name  string
		view  *View
		event Event
	}{
		{"read", NewView(ViewOptions{}), LedgerRead{Asked: ReadLedger{Strong: true, Sent: t0}, Err: newer}},
		{"refused", knowing(t, widths(1, 2, 2)), LedgerWritten{Outcome: Refused, Unparsed: newer, Err: errSome}},
	} {
		m := NewGrow(c.view, Growth{To: 8, Now: t0})
		m.Next()
		m.Handle(c.event)
		if _, _, err := m.Result(); !m.Over() || !errors.Is(err, ErrNewer) || !errors.Is(c.view.Newer(), ErrNewer) {
			t.Errorf("%s: got %v, want ErrNewer", c.name, err)
		}
	}
}

// choose returns the numbers, one after another.
func choose(numbers ...int) Writing {
	return Writing{Choose: func(int) int {
		n := numbers[0]
		numbers = numbers[1:]
		return n
	}}
}

func TestWrite(t *testing.T) {
	m := NewWrite(knowing(t, widths(3, 4, 8)), choose(2))
	next(t, m, "send to 2 stamp 3")
	next(t, m, "")
	m.Handle(ItemSent{Outcome: Done})
	if got, err := m.Result(); !m.Over() || err != nil || got != (WriteResult{Shard: 2, Generation: 3}) {
		t.Errorf("got %+v, %v", got, err)
	}

	cold := NewWrite(NewView(ViewOptions{}), Writing{Choose: func(width int) int { return width - 1 }})
	next(t, cold, "send to 0 stamp 0")
}

// A shard is chosen again, and by what is known by then, only while nothing can have happened.
func TestWritePinsItsShard(t *testing.T) {
	v := knowing(t, widths(3, 4, 4))
	m := NewWrite(v, choose(2, 7))
	next(t, m, "send to 2 stamp 3")
	m.Handle(ItemSent{Outcome: Throttled, Err: errSome})
	if _, err := m.Result(); errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, errSome) {
		t.Errorf("given up after a throttle: got %v, want its cause, and no doubt", err)
	}
	if err := v.Learn(v.Ask(t0, true), widths(4, 8, 8)); err != nil {
		t.Fatal(err)
	}
	next(t, m, "send to 7 stamp 4")
	for _, o := range []Outcome{Unknown, Throttled, Unknown, Throttled} {
		m.Handle(ItemSent{Outcome: o, Err: errSome})
		if _, err := m.Result(); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("given up after a lost answer: got %v, want ErrUnknownOutcome", err)
		}
		next(t, m, "send to 7 stamp 4")
	}
	m.Handle(ItemSent{Outcome: Refused, Err: errSome}) // perhaps by the item itself
	if _, err := m.Result(); !m.Over() || !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("got %v, want ErrUnknownOutcome", err)
	}
}

func TestWriteEnds(t *testing.T) {
	once := NewWrite(knowing(t, widths(3, 4, 4)), Writing{Choose: func(int) int { return 1 }, Once: true})
	once.Next()
	once.Handle(ItemSent{Outcome: Unknown, Err: errSome})
	if _, err := once.Result(); !once.Over() || !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("a write that must not happen twice: got %v", err)
	}

	refused := NewWrite(knowing(t, widths(3, 4, 4)), choose(1))
	refused.Next()
	refused.Handle(ItemSent{Outcome: Refused, Err: errSome})
	if _, err := refused.Result(); !refused.Over() || !errors.Is(err, errSome) || errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("a write that was refused: got %v", err)
	}

	flying := NewWrite(knowing(t, widths(3, 4, 4)), choose(1))
	flying.Next()
	if _, err := flying.Result(); !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("given up before an answer came: got %v, want ErrUnknownOutcome", err)
	}

	outside := NewWrite(knowing(t, widths(3, 4, 4)), choose(4))
	if outside.Next() != nil || !outside.Over() {
		t.Error("a shard outside of the width is used")
	}
}

// A causal read of a generation that is known does not read the ledger, also if the items carry that generation.
func TestCausalReadOfWhatIsKnown(t *testing.T) {
	m := NewRead(knowing(t, widths(2, 1, 1)), Reading{Mode: Causal, AtLeast: 2, Now: t0})
	next(t, m, "shards 0-1 strong=true")
	m.Handle(ShardRead{Shard: 0, Stamp: 2, More: true})
	next(t, m, "")
	m.Handle(ShardRead{Shard: 0, Stamp: 3, More: true}) // newer than the ledger
	next(t, m, "ledger strong=true floor=3")
	m.Handle(LedgerRead{Asked: ReadLedger{Strong: true, Floor: 3}, Record: widths(3, 4, 4)})
	next(t, m, "shards 1-4 strong=true")
}

// A Grow reads the ledger first if the process knows too little of it. One that only creates it does not.
func TestGrowReadsFirst(t *testing.T) {
	cold := func() *View { return NewView(ViewOptions{Key: "k"}) }
	stamped := func() *View {
		v := knowing(t, widths(1, 2, 2))
		v.Saw(2)
		return v
	}
	coldStamped := func() *View {
		v := cold()
		v.Saw(1)
		return v
	}
	lost := func() *View {
		v := knowing(t, widths(2, 2, 2))
		if err := v.Learn(ReadLedger{Strong: true, Sent: t0, Floor: 2}, Absent(0, 0)); !errors.Is(err, ErrLost) {
			t.Fatalf("got %v, want ErrLost", err)
		}
		return v
	}
	for _, c := range []struct {
		name         string
		view         func() *View
		grow, create string
	}{
		{"nothing is known", cold, "ledger strong=true floor=0", "store 1 8/8 if 0 most 8"},
		{"known", func() *View { return knowing(t, widths(1, 2, 2)) }, "store 2 8/8 if 1 most 8", ""},
		{"known to be absent", func() *View { return knowing(t, Absent(0, 0)) }, "store 1 8/8 if 0 most 8", "store 1 8/8 if 0 most 8"},
		{"an item is newer", stamped, "ledger strong=true floor=2", ""},
		{"only an item is known", coldStamped, "ledger strong=true floor=1", ""},
		{"it was lost", lost, "ledger strong=true floor=2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			next(t, NewGrow(c.view(), Growth{To: 8, Now: t0}), c.grow)
			created := NewGrow(c.view(), Growth{To: 8, Now: t0, Create: true})
			next(t, created, c.create)
			if over := c.create == ""; created.Over() != over {
				t.Errorf("the one that creates is over: %v, want %v", created.Over(), over)
			}
		})
	}
}
