package main

import (
	"testing"
	"time"
)

func TestHistory(t *testing.T) {
	acks := []ack{{"d", 40}, {"a", 10}, {"c", 30}, {"b", 20}}
	written := map[string]bool{"a": true, "b": true, "c": true, "d": true, "late": true}
	for _, c := range []struct {
		name string
		page page
		want faults
	}{
		{"all", page{began: 50, items: []string{"a", "b", "c", "d"}, last: true}, faults{Pages: 1, Items: 4}},
		{"one is missing", page{began: 50, items: []string{"a", "c", "d"}, last: true}, faults{Missed: 1, Wrong: 1, Pages: 1, Items: 3}},
		{"the last is missing", page{began: 50, items: []string{"a", "b", "c"}, last: true}, faults{Missed: 1, Wrong: 1, Pages: 1, Items: 3}},
		{"the last is for the next page", page{began: 50, items: []string{"a", "b", "c"}}, faults{Pages: 1, Items: 3}},
		{"the first was on the page before", page{began: 50, after: "a", items: []string{"b", "c", "d"}, last: true}, faults{Pages: 1, Items: 3}},
		{"the first again", page{began: 50, after: "a", items: []string{"a", "b", "c", "d"}, last: true}, faults{Unasked: 1, Wrong: 1, Pages: 1, Items: 4}},
		{"too young", page{began: 40, items: []string{"a", "b", "c"}, last: true}, faults{Pages: 1, Items: 3}},
		{"within grace", page{began: 50, grace: 30, items: []string{"a", "d"}, last: true}, faults{Pages: 1, Items: 2}},
		{"beyond grace", page{began: 50, grace: 30, items: []string{"b", "c", "d"}, last: true}, faults{Missed: 1, Wrong: 1, Pages: 1, Items: 3}},
		{"twice", page{began: 50, items: []string{"a", "b", "b", "c", "d"}, last: true}, faults{Twice: 1, Wrong: 1, Pages: 1, Items: 5}},
		{"out of order", page{began: 50, items: []string{"b", "a", "c", "d"}, last: true}, faults{Wrong: 1, Pages: 1, Items: 4}},
		{"not acknowledged", page{began: 50, items: []string{"a", "b", "c", "d", "late"}, last: true}, faults{Pages: 1, Items: 5}},
		{"never written", page{began: 50, items: []string{"a", "b", "c", "d", "x"}, last: true}, faults{Unasked: 1, Wrong: 1, Pages: 1, Items: 5}},
		{"an empty last page", page{began: 50, after: "d", last: true}, faults{Pages: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := history{acks: acks, pages: []page{c.page}}
			if got := h.check(written); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	two := history{acks: acks, pages: []page{{began: time.Second, last: true}, {began: time.Second, last: true}}}
	if got := two.check(nil); got.Missed != 8 || got.Wrong != 2 || got.Pages != 2 {
		t.Errorf("two empty pages: got %+v", got)
	}
}
