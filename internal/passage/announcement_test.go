package passage

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// sharp is a move that refuses keys which items have now: a#7 reads as a shard of a.
func sharp() (from, to Arrangement) {
	return Arrangement{Layout: layout.Layout{Strategy: layout.Calculated}}, Arrangement{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.PlainNumber()}}
}

// An announcement changes which keys may be used, and nothing else. The move ends it, or it is withdrawn.
func TestAnnounce(t *testing.T) {
	from, to := sharp()
	rest := First(from, t0, "host")
	later := t0.Add(time.Minute)
	r, err := rest.Announce(to, later)
	if err != nil || r.Generation != 2 || r.Stage != clean || r.Next != nil || !equal(r.Announced, &to) || r.At != later.UnixMilli() {
		t.Fatalf("got %+v, %v", r, err)
	}
	if r.Equal(rest) {
		t.Error("it equals the record of before")
	}
	begun, err := r.Enter(split, &to, later)
	if err != nil || begun.Announced != nil || !equal(begun.Next, &to) {
		t.Errorf("begun: got %+v, %v", begun, err)
	}
	withdrawn, err := r.Withdraw(later)
	if err != nil || withdrawn.Announced != nil || withdrawn.Generation != 3 {
		t.Errorf("withdrawn: got %+v, %v", withdrawn, err)
	}
	for i, one := range []Record{rest, r, begun, withdrawn} {
		taken := i == 0 || i == 3
		if err := one.Check("a#7"); (err == nil) != taken || err != nil && !errors.Is(err, layout.ErrKey) {
			t.Errorf("record %d: a#7 got %v, want it taken: %t", i, err, taken)
		}
		if err := one.Check("a"); err != nil {
			t.Errorf("record %d: a got %v", i, err)
		}
	}
	if err := r.Check("a#7"); !strings.Contains(err.Error(), "about to move to") {
		t.Errorf("got %v, want the announcement in it", err)
	}
	for key, one := range map[string]Record{"a#7": rest, "a": r} { // items are where they were
		c, err := NewCourse(&one, key)
		if err != nil || len(c.Old.Keys) != 1 || c.Old.Keys[0] != key || c.New.Keys != nil {
			t.Errorf("the course of %s: %+v, %v", key, c, err)
		}
	}
}

func TestAnnounceRefuses(t *testing.T) {
	from, to := sharp()
	other, bad := calculated(16), calculated(-1)
	rest := First(from, t0, "host")
	announced, err := rest.Announce(to, t0)
	if err != nil {
		t.Fatal(err)
	}
	moved := rest
	moved.Former = &Arrangement{Layout: calculated(4).Layout}
	former := announced
	former.Former = &Arrangement{Layout: to.Layout}
	away := announced
	away.Now.Table = "users-2"
	pointer, err := NewPointer("users-2", to, 0, t0, "host")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func() (Record, error)
		says   string
	}{
		"twice":                 {func() (Record, error) { return announced.Announce(to, t0) }, "is announced since 2026-01-02T03:04:05Z"},
		"another one":           {func() (Record, error) { return announced.Announce(other, t0) }, "(--back)"},
		"another one begins":    {func() (Record, error) { return announced.Enter(split, &other, t0) }, "but a move to"},
		"while items move":      {func() (Record, error) { return at(split).Announce(other, t0) }, "only while nothing moves"},
		"with marks of a move":  {func() (Record, error) { return at(deads).Announce(other, t0) }, "only while nothing moves"},
		"elsewhere":             {func() (Record, error) { return pointer.Announce(other, t0) }, "name that table"},
		"the same place":        {func() (Record, error) { return rest.Announce(from, t0) }, "the same arrangement"},
		"a wrong place":         {func() (Record, error) { return rest.Announce(bad, t0) }, "Layout.Shards"},
		"a third layout":        {func() (Record, error) { return moved.Announce(to, t0) }, "finish that move first"},
		"withdraw nothing":      {func() (Record, error) { return rest.Withdraw(t0) }, "nothing to withdraw"},
		"finish the one before": {func() (Record, error) { return former.Finish(t0) }, "withdraw it (--back)"},
		"hand the record over":  {func() (Record, error) { return away.Retire(t0) }, "withdraw it (--back)"},
	} {
		if r, err := test.change(); !errors.Is(err, ErrStage) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %+v, %v, want ErrStage that says %q", name, r, err, test.says)
		}
	}
}

// An announcement is stored under the condition that the record has not changed, and others see it.
func TestBookAnnounces(t *testing.T) {
	from, to := sharp()
	client := start(t)
	one, two := newBook(client, from), newBook(client, from)
	v, w := view(t, one), view(t, two)
	announced, err := one.Announce(t.Context(), v, to, "hot")
	if err != nil || !equal(announced.Record.Announced, &to) || announced.Record.Why != "hot" {
		t.Fatalf("got %+v, %v", announced, err)
	}
	if _, err := two.Announce(t.Context(), w, to, "hot"); !errors.Is(err, ErrChanged) {
		t.Errorf("a second one got %v, want ErrChanged", err)
	}
	seen, err := two.Renew(t.Context(), w)
	if err != nil || !seen.Record.Equal(announced.Record) {
		t.Fatalf("got %+v, %v", seen, err)
	}
	if after, err := two.Withdraw(t.Context(), seen, "cold"); err != nil || after.Record.Announced != nil {
		t.Errorf("got %+v, %v", after, err)
	}
	if _, err := one.Advance(t.Context(), announced, split, &to, "late"); !errors.Is(err, ErrChanged) {
		t.Errorf("it begins when it is withdrawn: got %v, want ErrChanged", err)
	}
}
