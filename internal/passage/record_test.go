package passage

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/layout"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// at returns a record of a stage, as a move from 4 to 16 shards has it.
func at(s forward.Stage) Record {
	from, to := calculated(4), calculated(16)
	r := Record{Generation: 7, Stage: s, Now: from, Next: &to, At: t0.UnixMilli(), Why: "why", By: "host/1/1"}
	switch s {
	case clean:
		r.Next = nil
	case deads:
		r.Now, r.Next, r.Former = to, nil, &from
	}
	return r
}

func TestRecordsOfAMoveAreValid(t *testing.T) {
	for _, s := range stages {
		if err := at(s.stage).Validate(); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	four := calculated(4)
	bad := calculated(-1)
	single := wide(4, map[string]int{"a": 2})
	for name, c := range map[string]struct {
		stage forward.Stage
		edit  func(*Record)
		says  string
	}{
		"generation 0":                   {clean, func(r *Record) { r.Generation = 0 }, "generation 0"},
		"an unknown phase":               {clean, func(r *Record) { r.Stage.Phase = 9 }, "it is none of a move"},
		"a trace while items move":       {split, func(r *Record) { r.Stage.Trace = forward.Deads }, "it is none of a move"},
		"no time":                        {clean, func(r *Record) { r.At = 0 }, "began at 0"},
		"a time that is far away":        {clean, func(r *Record) { r.At = math.MaxInt64 }, "year 9999"},
		"a long text":                    {clean, func(r *Record) { r.Why = strings.Repeat("x", 201) }, "200 bytes"},
		"a text that is not UTF-8":       {clean, func(r *Record) { r.By = "\xff" }, "UTF-8"},
		"a wrong place":                  {clean, func(r *Record) { r.Now = bad }, "where items are"},
		"nowhere to move to":             {split, func(r *Record) { r.Next = nil }, "without an arrangement"},
		"nowhere that items return from": {returned, func(r *Record) { r.Next = nil }, "without an arrangement"},
		"a wrong place to move to":       {split, func(r *Record) { r.Next = &bad }, "where items move to"},
		"the same place to move to":      {split, func(r *Record) { r.Next = &four }, "the same arrangement"},
		"another strategy":               {split, func(r *Record) { r.Next = &Arrangement{Layout: layout.Layout{Shards: 16}} }, "same strategy"},
		"a place to move to at rest":     {clean, func(r *Record) { r.Next = &single }, "want none"},
		"a place to move to, moved":      {deads, func(r *Record) { r.Next = &four }, "want none"},
		"an announcement while it moves": {split, func(r *Record) { r.Announced = &single }, "unless nothing moves"},
		"an announcement at the end":     {deads, func(r *Record) { r.Announced = &single }, "unless nothing moves"},
		"an announcement elsewhere":      {clean, func(r *Record) { r.Seat, r.Now.Table, r.Announced = Retired, "users-2", &single }, "retired with the announcement"},
		"a wrong announcement":           {clean, func(r *Record) { r.Announced = &bad }, "the announcement of a move: where items move to"},
		"an announcement of nothing":     {clean, func(r *Record) { r.Announced = &four }, "the same arrangement"},
		"a former layout while it moves": {split, func(r *Record) { r.Former = &Arrangement{Layout: calculated(8).Layout} }, "while items move"},
		"a former layout with widths":    {deads, func(r *Record) { r.Former = &single }, "1 keys"},
		"a former layout of now":         {deads, func(r *Record) { r.Former = &Arrangement{Layout: calculated(16).Layout} }, "the one of now"},
		"a wrong former layout":          {deads, func(r *Record) { r.Former = &bad }, "an earlier move: "},
	} {
		r := at(c.stage)
		c.edit(&r)
		if err := r.Validate(); !errors.Is(err, ErrRecord) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
}

// Each stage is followed by one other, most of them after a wait. All others are refused.
func TestEnter(t *testing.T) {
	to := calculated(16)
	follows := map[forward.Stage]map[forward.Stage]time.Duration{ // with how long it has to wait
		clean:    {split: 0},
		split:    {closed: lease.Wait, back: 0},
		closed:   {settling: 0},
		settling: {deads: lease.Wait},
		deads:    {clean: lease.Wait},
		back:     {returned: lease.Wait},
		returned: {clean: lease.Wait},
	}
	for _, from := range stages {
		for _, then := range stages {
			t.Run(fmt.Sprint(from.name, " to ", then.name), func(t *testing.T) {
				r := at(from.stage)
				var next *Arrangement
				if then.stage == split {
					next = &to
				}
				wait, may := follows[from.stage][then.stage]
				after := t0.Add(wait)
				n, err := r.Enter(then.stage, next, after)
				if !may {
					if !errors.Is(err, ErrStage) {
						t.Fatalf("got %+v, %v, want ErrStage", n, err)
					}
					return
				}
				if err != nil || n.Generation != 8 || n.Stage != then.stage || n.At != after.UnixMilli() || n.Validate() != nil {
					t.Fatalf("got %+v, %v", n, err)
				}
				if wait == 0 {
					return
				}
				if n, err := r.Enter(then.stage, next, after.Add(-time.Millisecond)); !errors.Is(err, ErrEarly) {
					t.Errorf("a moment before: got %+v, %v, want ErrEarly", n, err)
				}
			})
		}
	}
}

// A list waits at one stage more, and does not go back.
func TestEnterOfAList(t *testing.T) {
	r, to := First(Arrangement{Layout: layout.Layout{Shards: 16}}, t0, "host"), Arrangement{Layout: layout.Layout{Shards: 4}}
	next := &to
	for _, then := range []forward.Stage{split, closed, settling, deads, clean} {
		if then != split {
			if n, err := r.Enter(then, nil, time.UnixMilli(r.At).Add(lease.Wait-time.Millisecond)); !errors.Is(err, ErrEarly) {
				t.Errorf("%v too early: got %+v, %v, want ErrEarly", then, n, err)
			}
		}
		if r.Stage == split {
			if _, err := r.Enter(back, nil, t0.Add(lease.Wait)); !errors.Is(err, ErrStage) || !errors.Is(err, ErrListBack) {
				t.Errorf("back: got %v, want ErrListBack", err)
			}
		}
		var err error
		if r, err = r.Enter(then, next, time.UnixMilli(r.At).Add(lease.Wait)); err != nil {
			t.Fatal(err)
		}
		next = nil
	}
	if !r.Now.Equal(to) {
		t.Errorf("it is %v, want %v", r.Now, to)
	}
}

// Where items are changes once in a move, and what processes may be configured with does not become less before it is finished.
func TestEnterKeepsLayouts(t *testing.T) {
	from, to := calculated(4), wide(16, map[string]int{"a": 2})
	after := func(n int) time.Time { return t0.Add(time.Duration(n) * lease.Wait) }
	r := First(from, t0, "host")
	walk := func(r Record, next *Arrangement, then ...forward.Stage) Record {
		t.Helper()
		for i, s := range then {
			var err error
			if r, err = r.Enter(s, next, time.UnixMilli(r.At).Add(lease.Wait)); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			next = nil
		}
		return r
	}
	moved := walk(r, &to, split, closed, settling, deads, clean)
	if !moved.Now.Equal(to) || moved.Next != nil || !equal(moved.Former, &from) {
		t.Errorf("got %+v", moved)
	}
	third := calculated(8)
	if _, err := moved.Enter(split, &third, after(9)); !errors.Is(err, ErrStage) || !strings.Contains(err.Error(), "not finished") {
		t.Errorf("a move to a third layout: got %v, want ErrStage", err)
	}
	if again := walk(moved, &from, split); again.Former != nil || !equal(again.Next, &from) {
		t.Errorf("a move to where items came from: got %+v", again)
	}
	finished, err := moved.Finish(after(9))
	if err != nil || finished.Former != nil || finished.Generation != moved.Generation+1 || finished.At != after(9).UnixMilli() {
		t.Errorf("got %+v, %v", finished, err)
	}
	for name, r := range map[string]Record{"finished already": finished, "moving": walk(finished, &third, split), "not clean": walk(r, &to, split, closed, settling, deads)} {
		if _, err := r.Finish(after(9)); !errors.Is(err, ErrStage) {
			t.Errorf("%s: got %v, want ErrStage", name, err)
		}
	}
	if single := walk(r, &third, split, back, returned, clean); !single.Now.Equal(from) || !equal(single.Former, &third) {
		t.Errorf("back: got %+v", single)
	}
	keys := wide(16, map[string]int{"a": 2, "b": 3})
	if widened := walk(finished, &keys, split, closed, settling, deads); widened.Former != nil {
		t.Errorf("single keys alone have moved: got %+v, want no former layout", widened)
	}
}

func TestEnterRefuses(t *testing.T) {
	to, bad, random := calculated(16), calculated(-1), Arrangement{Layout: layout.Layout{Shards: 16}}
	same := calculated(4)
	for name, c := range map[string]struct {
		r    Record
		then forward.Stage
		next *Arrangement
		says string
	}{
		"nowhere to move to":           {at(clean), split, nil, "where items move to is <nil>"},
		"a place that changes":         {at(split), back, &to, "want it for split alone"},
		"a wrong place":                {at(clean), split, &bad, "Layout.Shards"},
		"another strategy":             {at(clean), split, &random, "same strategy"},
		"the same place":               {at(clean), split, &same, "the same arrangement"},
		"no generation after the last": {func() Record { r := at(clean); r.Generation = math.MaxInt64; return r }(), split, &to, "the last"},
	} {
		if n, err := c.r.Enter(c.then, c.next, t0); !errors.Is(err, ErrStage) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %+v, %v, want %q", name, n, err, c.says)
		}
	}
}

// During a move a key must suit both arrangements, and have no shard of another key.
func TestRecordCheck(t *testing.T) {
	from := Arrangement{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Format: layout.SharpNumber()}}
	to := Arrangement{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Format: layout.PlainNumber()}}
	rest := First(from, t0, "")
	moving, err := rest.Enter(split, &to, t0)
	if err != nil {
		t.Fatal(err)
	}
	back, err := First(to, t0, "").Enter(split, &from, t0)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][2]bool{ // at rest, and while items move
		"a": {true, true}, "a#SHARD#1": {false, false}, "a#7": {true, false}, "a#SHARD": {true, false}, "a#SHARDS": {true, true},
	} {
		for i, r := range []Record{rest, moving, back} {
			if i == 2 && !want[0] {
				continue
			}
			if err := r.Check(key); (err == nil) != want[min(i, 1)] || err != nil && !errors.Is(err, layout.ErrKey) {
				t.Errorf("%s in record %d: got %v, want it taken: %v", key, i, err, want[min(i, 1)])
			}
		}
	}
	if a, b := shardKey(t, from, "a", 2), shardKey(t, to, "a#SHARD", 2); a != b {
		t.Errorf("%s and %s differ: this test shows nothing", a, b)
	}
}

func shardKey(t *testing.T, a Arrangement, key string, shard int) string {
	t.Helper()
	text, err := a.For(key).ShardKey(key, time.Time{}, shard)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
