package gather

import (
	"context"
	"fmt"
	"testing"
)

// Stages that hold little are opened further and further ahead; those with more than a page only one ahead.
func TestStagesAhead(t *testing.T) {
	for _, test := range []struct {
		name    string
		entries int
		config  Config
		want    string // how many stages are open, that in which an entry is returned included
	}{
		{"little", 1, Config{}, "2 2 3 5 9 9 9 9 9 9 9 9 8 7 6 5 4 3 2 1"},
		{"much", 3, Config{Memory: 4 * 4096}, "2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 1"},
		{"three asked for", 1, Config{Prefetch: 3}, "4 7 9 9 9 9 9 9 9 9 9 9 8 7 6 5 4 3 2 1"},
		{"a limit that the first may meet", 3, Config{Limit: 2}, "1"},
		{"a limit, and two asked for", 3, Config{Limit: 2, Prefetch: 2}, "3"},
	} {
		s := &store{}
		opened := 0
		plan := Stages[item]{Count: 20, Open: func(_ context.Context, i int) ([]Source[item], error) {
			opened = i + 1
			return lists(s, false, 4096, numbers(test.entries)), nil
		}}
		g, err := New(t.Context(), test.config, plan)
		if err != nil {
			t.Fatal(err)
		}
		got, last := "", -1
		for {
			_, ok, err := g.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if at := g.Place().Stage; at != last {
				if got != "" {
					got += " "
				}
				got += fmt.Sprint(opened - at)
				last = at
			}
		}
		g.Close()
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestSharing(t *testing.T) {
	s := stages[item]{plan: Stages[item]{Count: 5}, along: make([]*cursor[item], 2)}
	first := &stage[item]{cursors: make([]*cursor[item], 10)}
	own, along := &cursor[item]{stage: first}, &cursor[item]{}
	if got := s.beside(along); got != 2 {
		t.Errorf("before any stage: %d beside, want 2", got)
	}
	s.add(first)
	for ahead, want := range []int{12, 22, 32, 42, 52, 52} {
		if got := s.sharing(own, ahead); got != want || s.sharing(along, ahead) != want {
			t.Errorf("%d ahead: %d and %d share the memory, want %d", ahead, got, s.sharing(along, ahead), want)
		}
	}
	s.add(&stage[item]{cursors: make([]*cursor[item], 10)})
	if got := s.sharing(own, 0); got != 22 || s.beside(own) != 12 {
		t.Errorf("with two open, %d share the memory and %d are merged, want 22 and 12", got, s.beside(own))
	}
}
