package heat

import (
	"fmt"
	"sync"
	"testing"
)

// Indexes that may not exist are dropped when there are many; those that were counted, described or given stay.
func TestIndexesThatMayNotExist(t *testing.T) {
	table := newTable("orders")
	table.setKey("given", []string{"status"})
	table.index("counted").flow(Read, &Options{Entries: 1})
	for i := range 10 * mostIndexes {
		if got := table.index(fmt.Sprint("made-up-", i)); got.String() != fmt.Sprint("orders/made-up-", i) {
			t.Fatalf("got %s", got)
		}
	}
	view := table.view.Load()
	if len(view.indexes) > mostIndexes || find(view.indexes, "given") < 0 || find(view.indexes, "counted") < 0 {
		t.Errorf("%d indexes, given is %d, counted %d", len(view.indexes), find(view.indexes, "given"), find(view.indexes, "counted"))
	}
}

// However many ask at once, there is room for as many as there is room for, and both directions of one take one place.
func TestRoomIsTakenOnce(t *testing.T) {
	r := slots{most: 5}
	tables := make([]*table, 20)
	for i := range tables {
		tables[i] = newTableIn(&r, fmt.Sprint(i))
	}
	var all sync.WaitGroup
	for _, table := range tables {
		for _, d := range []Direction{Read, Write, Read} {
			all.Go(func() {
				table.view.Load().own.flow(d, &Options{Entries: 1}).add(1, &touch{attempts: 1}, nil)
			})
		}
	}
	all.Wait()
	counted := 0
	for _, table := range tables {
		if table.view.Load().own.counted() {
			counted++
		}
	}
	if counted != 5 || r.taken.Load() != 5 || r.left() != 3*15 {
		t.Errorf("%d counted, %d taken, %d left", counted, r.taken.Load(), r.left())
	}
}

// Forgetting a table frees a slot for the table and for each of its indexes that were counted, and no more.
func TestForgettingFreesSlots(t *testing.T) {
	r, err := NewRecorder(Options{NoDescribe: true})
	if err != nil {
		t.Fatal(err)
	}
	see := func(table, index string) {
		r.Observe(Observation{Resource: Resource{table, index}, Direction: Write, KeyNames: []string{"pk"}, Key: []string{"a"}, Units: 1})
	}
	see("kept", "")
	see("gone", "")
	see("gone", "byStatus")
	see("gone", "byStatus")
	r.table("gone").index("byNothing") // never counted
	for _, step := range []struct {
		forget string
		want   int64
	}{{"", 3}, {"none", 3}, {"gone", 1}, {"gone", 1}, {"kept", 0}} {
		if r.Forget(step.forget); r.tables.slots.taken.Load() != step.want {
			t.Errorf("after forgetting %q: %d slots are taken, want %d", step.forget, r.tables.slots.taken.Load(), step.want)
		}
	}
}
