package partition

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// exhaust charges so much that nothing passes for a day.
func exhaust(s *Set, c Charge) {
	c.Set = s
	c.Read *= 1e9
	c.Write *= 1e9
	Settle(epoch, c)
}

func TestThrottleNamesEveryReason(t *testing.T) {
	onDemand := Capacity{Maximum: Rate{100, 100}}
	provisioned := Capacity{Mode: Provisioned, Provisioned: Rate{100, 100}}
	hot, cold := hashed(0, "hot"), hashed(math.MaxUint64, "cold")
	type want struct {
		reasons   string
		exception Exception
	}
	for _, c := range []struct {
		name     string
		options  Options
		capacity Capacity
		index    bool
		spent    Charge
		charge   Charge
		want
	}{
		{"nothing", Options{}, provisioned, false, Charge{Place: hot}, Charge{Place: hot, Read: 1, Write: 1}, want{}},
		{
			"provisioned table",
			Options{},
			provisioned, false,
			Charge{Place: hot, Write: 1},
			Charge{Place: cold, Write: 1},
			want{"TableWriteProvisionedThroughputExceeded", ProvisionedThroughputExceededException},
		},
		{
			"provisioned table and key range",
			Options{},
			provisioned, false,
			Charge{Place: hot, Write: 1},
			Charge{Place: hot, Write: 1},
			want{"TableWriteProvisionedThroughputExceeded TableWriteKeyRangeThroughputExceeded", ProvisionedThroughputExceededException},
		},
		{"the other direction", Options{}, provisioned, false, Charge{Place: hot, Write: 1}, Charge{Place: hot, Read: 1}, want{}},
		{
			"provisioned index",
			Options{},
			provisioned, true,
			Charge{Place: hot, Read: 1},
			Charge{Place: cold, Read: 1},
			want{"IndexReadProvisionedThroughputExceeded", ProvisionedThroughputExceededException},
		},
		{
			"on-demand, everything",
			Options{},
			onDemand, false,
			Charge{Place: hot, Read: 1},
			Charge{Place: hot, Read: 1},
			want{"TableReadMaxOnDemandThroughputExceeded TableReadAccountLimitExceeded TableReadKeyRangeThroughputExceeded", ThrottlingException},
		},
		{
			"on-demand without maximum or quota",
			Options{TableQuota: Rate{-1, -1}},
			Capacity{},
			true,
			Charge{Place: hot, Write: 1},
			Charge{Place: hot, Write: 1},
			want{"IndexWriteKeyRangeThroughputExceeded", ThrottlingException},
		},
		{
			"on-demand quota",
			Options{},
			Capacity{},
			false,
			Charge{Place: hot, Write: 1},
			Charge{Place: cold, Write: 1},
			want{"TableWriteAccountLimitExceeded", RequestLimitExceeded},
		},
		{
			"on-demand quota, otherwise reported",
			Options{AccountLimitException: ThrottlingException},
			Capacity{},
			false,
			Charge{Place: hot, Write: 1},
			Charge{Place: cold, Write: 1},
			want{"TableWriteAccountLimitExceeded", ThrottlingException},
		},
		{
			"both directions",
			Options{},
			provisioned, false,
			Charge{Place: hot, Read: 1, Write: 1},
			Charge{Place: cold, Read: 1, Write: 1},
			want{"TableReadProvisionedThroughputExceeded TableWriteProvisionedThroughputExceeded", ProvisionedThroughputExceededException},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSet(t, newTestAccount(t, c.options), Config{Resource: "arn", Index: c.index, Partitions: 4, Capacity: c.capacity})
			exhaust(s, c.spent)
			c.charge.Set = s
			throttle := Admit(epoch, c.charge)
			if c.reasons == "" {
				if throttle != nil {
					t.Errorf("got %v, want no throttle", throttle)
				}
				return
			}
			if throttle == nil {
				t.Fatalf("got no throttle, want %s", c.reasons)
			}
			var got []string
			for _, r := range throttle.Reasons() {
				got = append(got, string(r.Reason))
				if r.Resource() != "arn" || r.OnDemand != (c.capacity.Mode == OnDemand) {
					t.Errorf("got %+v", r)
				}
			}
			if strings.Join(got, " ") != c.reasons || throttle.Exception() != c.exception {
				t.Errorf("got %v as %s, want %v as %s", got, throttle.Exception(), c.reasons, c.exception)
			}
		})
	}
}

func TestReasonsAreSpeltByTheirParts(t *testing.T) {
	limits := [...]string{"ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit", "KeyRangeThroughput"}
	seen := map[Reason]bool{}
	for k, kind := range []string{"Table", "Index"} {
		for d, direction := range []string{"Read", "Write"} {
			for l, limit := range limits {
				r := reasons[k][d][l]
				if want := Reason(kind + direction + limit + "Exceeded"); r != want {
					t.Errorf("got %s, want %s", r, want)
				}
				seen[r] = true
			}
		}
	}
	if len(seen) != 16 {
		t.Errorf("got %d reasons, want 16", len(seen))
	}
}

func TestAdmitAllOrNothing(t *testing.T) {
	a := newTestAccount(t, Options{})
	table := newTestSet(t, a, Config{Resource: "table"})
	index := newTestSet(t, a, Config{Resource: "index", Index: true})
	other := newTestSet(t, a, Config{Resource: "other", Index: true})
	sets := []*Set{table, index, other}
	hot, cold := hashed(7, "hot"), hashed(math.MaxUint64, "cold")
	exhaust(index, Charge{Place: hot, Write: 1})
	exhaust(other, Charge{Place: hot, Write: 1})
	tokens := func() (list [][]Partition) {
		for _, s := range sets {
			view := s.Snapshot(epoch, 0).Partitions
			list = append(list, view)
		}
		return list
	}
	before := tokens()
	throttle := Admit(epoch,
		Charge{Set: index, Place: hot, Write: 1}, // an entry that moves: two charges on one index
		Charge{Set: table, Place: hot, Write: 1, Bytes: 500},
		Charge{Set: index, Place: cold, Write: 1},
		Charge{Set: index, Place: hot, Write: 1},
		Charge{Set: other, Place: hot, Write: 1})
	if throttle == nil {
		t.Fatal("got no throttle")
	}
	if got, want := throttle.Error(), "IndexWriteAccountLimitExceeded on index, IndexWriteKeyRangeThroughputExceeded on index, "+
		"IndexWriteAccountLimitExceeded on other, IndexWriteKeyRangeThroughputExceeded on other"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for i, want := range []bool{true, false, true, true, true} {
		if got := throttle.Throttled(i); got != want {
			t.Errorf("charge %d: got %v, want %v", i, got, want)
		}
	}
	if after := tokens(); !reflect.DeepEqual(before, after) {
		t.Errorf("refused, but charged: got %+v, want %+v", after, before)
	}
	for i, want := range []int64{0, 1, 1} { // an event for each set that refused, however many charges
		m := sets[i].Minutes(epoch, epoch)[0]
		if m.WriteThrottleEvents != want || m.WriteKeyRangeThroughputThrottleEvents != want || m.WriteAccountLimitThrottleEvents != want ||
			m.ReadThrottleEvents != 0 || m.WriteProvisionedThroughputThrottleEvents != 0 {
			t.Errorf("%s: got %+v, want %d throttle events", sets[i].Resource(), m, want)
		}
	}
}

func TestAdmitChargesEverySet(t *testing.T) {
	a := newTestAccount(t, Options{})
	var sets []*Set
	var charges []Charge
	for range 12 { // more than fit in place, in falling order of their numbers
		sets = append(sets, newTestSet(t, a, Config{}))
	}
	for i := range sets {
		charges = append(charges, Charge{Set: sets[len(sets)-1-i], Place: hashed(1, ""), Write: float64(i + 1)})
	}
	charges = append(charges, charges...)
	if throttle := Admit(epoch, charges...); throttle != nil {
		t.Fatal(throttle)
	}
	for i, s := range sets {
		if got, want := s.Minutes(epoch, epoch)[0].ConsumedWriteCapacityUnits, float64(2*(len(sets)-i)); got != want {
			t.Errorf("set %d: got %v units, want %v", i, got, want)
		}
	}
}

func TestZeroUnitsAreFree(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{}), Config{})
	exhaust(s, Charge{Place: hashed(1, ""), Write: 1, Read: 1})
	for _, units := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		if throttle := Admit(epoch, Charge{Set: s, Place: hashed(1, ""), Read: units, Write: units}); throttle != nil {
			t.Errorf("%v units: got %v", units, throttle)
		}
	}
	if throttle := Admit(epoch); throttle != nil {
		t.Errorf("no charges: got %v", throttle)
	}
}

func TestHugeRequestsAreOwed(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{}), Config{})
	place := hashed(1, "")
	if throttle := Admit(epoch, Charge{Set: s, Place: place, Write: 5_200}); throttle != nil {
		t.Fatal(throttle)
	}
	for _, c := range []struct {
		after time.Duration
		pass  bool
	}{{0, false}, {4 * time.Second, false}, {5 * time.Second, false}, {5*time.Second + 1, true}} {
		if got := Check(at(c.after), Charge{Set: s, Place: place, Write: 1}) == nil; got != c.pass {
			t.Errorf("after %v: passes is %v, want %v", c.after, got, c.pass)
		}
	}
	_ = Admit(at(time.Minute), Charge{Set: s, Place: place, Write: math.Inf(1), Read: 1e300, Bytes: math.MaxInt64})
	_ = Admit(at(time.Minute), Charge{Set: s, Place: place, Bytes: math.MinInt64})
	Settle(at(time.Minute), Charge{Set: s, Place: place, Write: math.Inf(1)}, Charge{Set: s, Place: place, Write: math.Inf(1)})
	if Admit(at(24*time.Hour), Charge{Set: s, Place: place, Write: 1}) == nil {
		t.Error("a billion units are paid after a day")
	}
}

func TestClockGoesBackwards(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{}), Config{})
	c := Charge{Set: s, Place: hashed(1, ""), Write: 200}
	if throttle := Admit(at(time.Hour), c); throttle != nil {
		t.Fatal(throttle)
	}
	for _, now := range []time.Time{epoch, at(-time.Hour), {}, time.Unix(-1<<60, 0), at(time.Hour)} {
		if Admit(now, c) == nil {
			t.Errorf("at %v: passes, though the hour's tokens are spent", now)
		}
	}
	if throttle := Admit(at(time.Hour+200*time.Millisecond), c); throttle != nil {
		t.Errorf("after another 200 ms: %v", throttle)
	}
	if got := s.Minutes(epoch, epoch); len(got) != 61 || got[60].ConsumedWriteCapacityUnits != 400 || got[60].WriteThrottleEvents != 5 {
		t.Errorf("got %d minutes, the last %+v", len(got), got[len(got)-1])
	}
}

func TestSetOfAnyTime(t *testing.T) {
	a := newTestAccount(t, Options{})
	for _, start := range []time.Time{{}, time.Unix(0, 0), time.Unix(-1, 1), time.Date(1, 1, 1, 0, 0, 59, 999, time.UTC), time.Date(292277026596, 1, 1, 0, 0, 0, 0, time.UTC)} {
		s, err := a.NewSet(start, Config{})
		if err != nil {
			t.Fatal(err)
		}
		c := Charge{Set: s, Place: hashed(1, ""), Write: 201}
		first, second, third := Admit(start, c), Admit(start.Add(time.Microsecond), c), Admit(start.Add(3*24*time.Hour), c)
		if first != nil || second == nil || third != nil {
			t.Errorf("from %v: got %v, %v, %v", start, first, second, third)
		}
		if got := s.Snapshot(start, 0).At; !got.Equal(start.Add(3 * 24 * time.Hour)) {
			t.Errorf("from %v: the set is at %v", start, got)
		}
	}
}

func TestEventualReads(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{EventualReads: 4_500, NoSplits: true}), Config{})
	place := hashed(1, "")
	sum := map[bool]float64{}
	for ms := range 60_000 {
		for range 3 { // 3,000 strongly consistent reads offered, and as many units of others
			for _, eventual := range []bool{true, false} {
				if Admit(at(time.Duration(ms)*time.Millisecond), Charge{Set: s, Place: place, Read: 1, Eventual: eventual}) == nil {
					sum[eventual]++
				}
			}
		}
	}
	total := (sum[true] + sum[false]) / 60
	if !near(total, 4_500, 0.01) || sum[false]/60 > 3_030 {
		t.Errorf("got %v per second, %v strongly consistent, want 4,500 and at most 3,000", total, sum[false]/60)
	}
	exhaust(s, Charge{Place: hashed(math.MaxUint64, ""), Read: 1})
	if got := Admit(at(time.Minute), Charge{Set: s, Place: hashed(math.MaxUint64, ""), Read: 0.5, Eventual: true}); got == nil {
		t.Error("strongly consistent reads are not charged to all reads")
	}
}

func TestCheckAndSettle(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{}), Config{})
	page := Charge{Set: s, Place: hashed(1, "a"), Read: 0.5}
	for range 3 {
		if throttle := Check(epoch, page); throttle != nil {
			t.Fatal(throttle)
		}
	}
	page.Read, page.To = 700, hashed(1, "m")
	Settle(epoch, page) // 600 were there
	if got := s.Snapshot(epoch, 0).Partitions[0].Tokens.Read; got != -100 {
		t.Errorf("got %v left, want -100", got)
	}
	page.Read, page.To = 0.5, nil
	throttle := Check(epoch, page)
	if throttle == nil || throttle.Causes[0].Reason != TableReadKeyRangeThroughputExceeded {
		t.Errorf("got %v, want %v", throttle, TableReadKeyRangeThroughputExceeded)
	}
	m := s.Minutes(epoch, epoch)[0]
	if m.ConsumedReadCapacityUnits != 700 || m.ReadThrottleEvents != 1 || m.ReadKeyRangeThroughputThrottleEvents != 1 {
		t.Errorf("got %+v, want 700 units and one event", m)
	}
}

// A page is charged to the partitions that it went through.
func TestPagesSpread(t *testing.T) {
	const quarter = uint64(1) << 62
	for _, c := range []struct {
		name     string
		from, to []byte
		want     [5]float64
	}{
		{"a whole table", nil, hashed(math.MaxUint64, "z"), [5]float64{25, 25, 25, 0, 25}},
		{"a whole table backwards", hashed(math.MaxUint64, "z"), hashed(0, ""), [5]float64{25, 25, 25, 0, 25}},
		{"half a table", hashed(quarter, "b"), hashed(3*quarter-1, ""), [5]float64{0, 50, 50, 0, 0}},
		{"one and a half", hashed(quarter/2*3, "b"), hashed(3*quarter-1, ""), [5]float64{0, 100. / 3, 200. / 3, 0, 0}},
		{"within one", hashed(5, "b"), hashed(5, "c"), [5]float64{100, 0, 0, 0, 0}},
		{"a collection of two partitions", hashed(3*quarter, "a"), hashed(3*quarter, "z"), [5]float64{0, 0, 0, 50, 50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSet(t, newTestAccount(t, Options{}), Config{Boundaries: [][]byte{
				hashed(quarter, ""), hashed(2*quarter, ""), hashed(3*quarter, ""), hashed(3*quarter, "m"),
			}})
			Settle(epoch, Charge{Set: s, Place: c.from, To: c.to, Read: 100})
			sum := 0.0
			for i, p := range s.Snapshot(epoch, 0).Partitions {
				got := 600 - p.Tokens.Read
				sum += got
				if math.Abs(got-c.want[i]) > 0.001 {
					t.Errorf("partition %d: got %v, want %v", i, got, c.want[i])
				}
			}
			if math.Abs(sum-100) > 1e-6 {
				t.Errorf("got %v in all, want 100", sum)
			}
		})
	}
}

func TestAdmitAllocatesNothing(t *testing.T) {
	a := newTestAccount(t, Options{})
	table, index := newTestSet(t, a, Config{}), newTestSet(t, a, Config{})
	place, now := hashed(1, "key"), epoch
	request := func() {
		now = now.Add(10 * time.Millisecond)
		if Admit(now, Charge{Set: table, Place: place, Write: 1}, Charge{Set: index, Place: place, Write: 1}) != nil {
			t.Fatal("throttled")
		}
	}
	for range 30_000 { // fills the rings and the sample
		request()
	}
	if got := testing.AllocsPerRun(1000, request); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}

// A panic in the middle of a request leaves no set locked: others go on.
func TestPanicsLeaveNoSetLocked(t *testing.T) {
	start := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	a, err := NewAccount(Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := func() *Set {
		s, err := a.NewSet(start, Config{Capacity: Capacity{Mode: OnDemand}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, breaks := range map[string]func(*Set){
		"clock":      func(s *Set) { s.rules = nil },
		"partitions": func(s *Set) { s.partitions = nil },
	} {
		for call, request := range map[string]func(time.Time, ...Charge){
			"Admit":  func(now time.Time, c ...Charge) { Admit(now, c...) },
			"Check":  func(now time.Time, c ...Charge) { Check(now, c...) },
			"Settle": func(now time.Time, c ...Charge) { Settle(now, c...) },
		} {
			t.Run(name+"/"+call, func(t *testing.T) {
				sound, broken := open(), open()
				breaks(broken)
				func() {
					defer func() {
						if recover() == nil {
							t.Error("no panic: the test breaks nothing")
						}
					}()
					request(start.Add(time.Minute), Charge{Set: broken, Place: make([]byte, hashLength), Write: 1}, Charge{Set: sound, Place: make([]byte, hashLength), Write: 1})
				}()
				for _, s := range []*Set{sound, broken} {
					if !s.mu.TryLock() {
						t.Fatal("a set is still locked")
					}
					s.mu.Unlock()
				}
				if throttle := Admit(start.Add(time.Minute), Charge{Set: sound, Place: make([]byte, hashLength), Write: 1}); throttle != nil {
					t.Errorf("got %v", throttle)
				}
			})
		}
	}
}

func TestReadsAndWritesAreIndependent(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{NoSplits: true}), Config{})
	accepted := map[bool]float64{}
	for n := range 40_000 { // 10 s of 4,000 requests per second in each direction
		now := at(time.Duration(n) * 250 * time.Microsecond)
		for _, reads := range []bool{true, false} {
			c := Charge{Set: s, Place: hashed(1, "k"), Read: 1}
			if !reads {
				c.Read, c.Write = 0, 1
			}
			if Admit(now, c) == nil {
				accepted[reads]++
			}
		}
	}
	if !near(accepted[true], 30_000, 0.025) || !near(accepted[false], 10_000, 0.025) {
		t.Errorf("got %v reads and %v writes in 10 s, want 30,000 and 10,000", accepted[true], accepted[false])
	}
}

// What is settled is charged at the time it is settled: it takes from what has
// flowed in until then, not from what was there when somebody last asked.
func TestSettleComesAfterWhatHasFlowedIn(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{}), Config{Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{10, 10}}})
	c := Charge{Set: s, Place: hashed(0, "a"), Write: 1}
	later := epoch.Add(24 * time.Hour) // in which 864,000 units flow in; a fraction of them is held
	settled := c
	settled.Write = 100_000
	Settle(later, settled)
	if Check(later, c) == nil {
		t.Error("more was settled than is ever held, and nothing is owed")
	}
}
