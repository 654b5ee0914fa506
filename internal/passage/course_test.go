package passage

import (
	"testing"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// A course has the homes of its phase: both while items move, and the new ones alone when they settle there.
func TestCourseOfAPhase(t *testing.T) {
	now, next := wide(2, map[string]int{"stays": 3}), wide(4, map[string]int{"stays": 3})
	for _, test := range []struct {
		phase, want forward.Phase
		old, new    int // shards
	}{
		{forward.Settled, forward.Settled, 2, 0},
		{forward.Split, forward.Split, 2, 4},
		{forward.Closed, forward.Closed, 2, 4},
		{forward.Back, forward.Back, 2, 4},
		{forward.Settling, forward.Settled, 4, 0},
	} {
		r := Record{Generation: 2, Stage: forward.Stage{Phase: test.phase}, Now: now, Next: &next, At: 1}
		c, err := NewCourse(&r, "K")
		if err != nil || c.Phase != test.want || len(c.Old.Keys) != test.old || len(c.New.Keys) != test.new {
			t.Errorf("%v: got %+v, %v, want %v with %d and %d shards", test.phase, c, err, test.want, test.old, test.new)
		}
		if c, err := NewCourse(&r, "stays"); err != nil || c.Phase != forward.Settled || len(c.Old.Keys) != 3 || c.New.Keys != nil {
			t.Errorf("%v: a key that stays has %+v, %v", test.phase, c, err)
		}
		next := next
		next.Table = "other"
		r.Next = &next
		table := map[bool]string{true: "other"}[test.phase == forward.Settling]
		if c, err := NewCourse(&r, "stays"); err != nil || c.Phase != test.want || c.Old.Table != table || (c.New.Table == "other") != (test.new > 0) {
			t.Errorf("%v: a key that goes to another table has %+v, %v", test.phase, c, err)
		}
	}
}
