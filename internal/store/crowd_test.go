package store

import (
	"testing"
	"time"
)

func TestDeletedKeysAreNotSteppedOverForever(t *testing.T) {
	s := open(t, "")
	defer closed(t, s)
	const keys = maxDead
	r := putAndDelete(t, s, keys)
	if dead := readEmpty(t, s, r); dead < keys {
		t.Fatalf("the first read passed %d keys, not %d: this tests nothing", dead, keys)
	}
	for deadline := time.Now().Add(time.Minute); readEmpty(t, s, r) > maxDead/8; {
		if time.Now().After(deadline) {
			t.Fatalf("reads still pass %d keys", readEmpty(t, s, r))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestReadsFlushOnlyWhatHelps(t *testing.T) {
	c := newCrowd()
	c.applied(3 * maxDead)
	for _, step := range []struct {
		why        string
		live, dead int
		want       bool
	}{
		{"few", 0, maxDead, false},
		{"in good company", 2 * maxDead, 2 * maxDead, false},
		{"more than can be new", 0, 6*maxDead + 1, false},
		{"new", 0, 2 * maxDead, true},
		{"flushed already", 0, 2 * maxDead, false},
	} {
		if got := c.passed(step.live, step.dead); got != step.want {
			t.Errorf("%s: a read past %d keys between %d wants a flush: %t", step.why, step.dead, step.live, got)
		}
	}
}
