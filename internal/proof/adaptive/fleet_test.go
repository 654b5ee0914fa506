package main

import (
	"testing"
	"time"
)

// What members tell is judged rightly: a read that misses something is found, and one that need not have it is not blamed.
func TestAccount(t *testing.T) {
	second := time.Second.Nanoseconds()
	acks := []event{
		{Kind: ackEvent, Writer: 1, Key: "k", Number: 1, At: 1 * second},
		{Kind: ackEvent, Writer: 1, Key: "k", Number: 2, At: 2 * second},
		{Kind: ackEvent, Writer: 2, Key: "k", Number: 1, At: 3 * second},
		{Kind: ackEvent, Writer: 2, Key: "other", Number: 2, At: 3 * second},
	}
	all := map[int]spans{1: {1, 2}, 2: {1, 1}}
	for _, c := range []struct {
		name string
		read event
		want bool
	}{
		{"has all", event{Kind: strongRead, Got: all, At: 10 * second}, false},
		{"lacks one", event{Kind: strongRead, Got: map[int]spans{1: {1, 2}}, At: 10 * second}, true},
		{"lacks a younger one", event{Kind: strongRead, Got: map[int]spans{1: {1, 2}}, At: 3 * second}, false},
		{"pages lack one", event{Kind: pagedRead, Got: map[int]spans{1: {2, 2}, 2: {1, 1}}, At: 10 * second}, true},
		{"eventual, lacks one that is younger than Keep", event{Kind: eventualRead, Got: map[int]spans{1: {1, 2}}, At: 5 * second}, false},
		{"eventual, lacks an older one", event{Kind: eventualRead, Got: map[int]spans{1: {1, 2}}, At: 6 * second}, true},
		{"causal, lacks one of another", event{Kind: causalRead, Writer: 1, Got: map[int]spans{1: {1, 2}}, At: 10 * second}, false},
		{"causal, lacks one of its own", event{Kind: causalRead, Writer: 2, Got: map[int]spans{1: {1, 2}}, At: 10 * second}, true},
		{"counts all", event{Kind: countRead, Number: 3, At: 10 * second}, false},
		{"counts too few", event{Kind: countRead, Number: 2, At: 10 * second}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.read.Key = "k"
			f := fleet{events: append(acks[:len(acks):len(acks)], c.read)}
			a, _ := f.account(2 * time.Second)
			if got := sum(a.missed) > 0; got != c.want || sum(a.reads) != 1 || a.acked != 4 {
				t.Errorf("missed: got %v, want %v; %+v", got, c.want, a)
			}
		})
	}
}

func TestEventNote(t *testing.T) {
	e := event{Key: "k"}
	if err := e.note([]string{"00000001/1/1", "00000002/2/1", "00000002/2/1", "00000001/1/2"}); err != nil {
		t.Fatal(err)
	}
	if e.Twice != 1 || e.Disorder != 1 || !e.Got[1].has(2) || !e.Got[2].has(1) || e.Got[2].has(2) {
		t.Errorf("got %+v", e)
	}
	if err := e.note([]string{"-"}); err == nil {
		t.Error("a control item was taken for an item")
	}
}
