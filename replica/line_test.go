package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// A line is forgotten when nobody is in it, also if a turn was overtaken, ended twice or never came.
func TestLinesAreForgotten(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := turns{by: make(map[string]*line)}
		take := func(ctx context.Context) func() {
			end, err := all.take(ctx, "a")
			if err != nil {
				t.Fatal(err)
			}
			return end
		}
		slow := take(t.Context())
		short, cancel := context.WithTimeout(t.Context(), overtime/2)
		defer cancel()
		if _, err := all.take(short, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v while it is another's turn", err)
		}
		second := take(t.Context()) // when the first has taken too long
		third := make(chan func())
		go func() { third <- take(t.Context()) }()
		synctest.Wait()
		slow()
		slow()
		if l := all.by["a"]; l == nil || len(l.waiting) != 1 {
			t.Errorf("an overtaken turn has ended the one that overtook it: %+v", l)
		}
		began := time.Now()
		second()
		end := <-third
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the third had to wait %v for its turn", waited)
		}
		end()
		if len(all.by) != 0 {
			t.Errorf("lines are left: %v", all.by)
		}
	})
}
