package heatpage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// sharded is a round in which a key is seen in so many shards.
func sharded(at time.Time, shards int) Round {
	var keys []heat.KeyHeat
	for s := range shards {
		keys = append(keys, heat.KeyHeat{Key: fmt.Sprintf("VIEWS#SHARD_%d", s), Low: 10, Second: 10})
	}
	return reportOf(at, float64(10*shards), keys...)
}

// A ledger is read when the shards of its key change, and now and then. What has changed in it is told once, with its reason.
func TestLedgersAreFollowed(t *testing.T) {
	stored, asked := Ledger{Key: "VIEWS", Width: layout.Width{Write: 4, Read: 4}, Generation: 1, At: noon, Why: "hot", By: "a", History: []layout.Width{{Write: 1, Read: 1}}}, 0
	now, shards := noon, 0
	page, err := New(Options{
		Source: func(context.Context) (Round, error) { return sharded(now, shards), nil },
		Ledger: func(_ context.Context, of heat.Resource, key string) (Ledger, error) {
			asked++
			if of.Table != "t" || key != "VIEWS" {
				t.Errorf("asked for %v %q", of, key)
			}
			return stored, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	step := func(after time.Duration, seen, want int) {
		t.Helper()
		now, shards = now.Add(after), seen
		if page.step(context.Background()); asked != want {
			t.Errorf("at %v the ledger was read %d times, want %d", now, asked, want)
		}
	}
	step(time.Second, 1, 0) // one shard is no sharded key
	step(time.Second, 4, 1)
	step(time.Second, 4, 1)
	stored.Width, stored.Generation, stored.At, stored.Why = layout.Width{Write: 16, Read: 16}, 2, now, "hotter"
	stored.History = append(stored.History, layout.Width{Write: 4, Read: 4})
	step(time.Second, 16, 2)
	stored.Generation, stored.Frozen, stored.At, stored.Why = 3, true, now.Add(time.Minute), "enough"
	step(lookEvery, 16, 3)
	var texts []string
	for _, e := range page.frame.Events {
		texts = append(texts, e.Key+" "+e.Text+" | "+e.Short)
	}
	want := []string{"VIEWS grew from 4 to 16 shards: hotter | 4 → 16 shards", "VIEWS is frozen at 16 shards: enough | frozen at 16"}
	if !slices.Equal(texts[max(0, len(texts)-2):], want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	p := page.frame.Ledgers
	if len(p) != 1 || !slices.Equal(p[0].Widths, []int{1, 4, 16}) || !p[0].Frozen || p[0].Why != "enough" || p[0].Resource != "t" {
		t.Errorf("got %+v", p)
	}
}

// Changes of a ledger that follow each other soon are all told. Only what was decided or seen before gives way to them.
func TestLedgersThatGrowTwiceAtOnce(t *testing.T) {
	of := heat.Resource{Table: "t"}
	e := newEvents()
	e.decide([]heat.Decision{{Resource: of, Key: "VIEWS", Reason: heat.DecidedGrow, From: 1, To: 8, At: noon}})
	l := Ledger{Key: "VIEWS", Width: layout.Width{Write: 8, Read: 8}, Generation: 1, At: noon.Add(time.Second), History: []layout.Width{{Write: 1, Read: 1}}}
	e.store(of.String(), []Ledger{l})
	l.History = append(l.History, l.Width)
	l.Width, l.Generation, l.At = layout.Width{Write: 16, Read: 16}, 2, l.At.Add(10*time.Second)
	e.store(of.String(), []Ledger{l})
	var texts []string
	for _, v := range e.all {
		texts = append(texts, v.Short)
	}
	if want := []string{"1 → 8 shards", "8 → 16 shards"}; !slices.Equal(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
}

func TestLedgersThatCannotBeRead(t *testing.T) {
	page, err := New(Options{
		Source: func(context.Context) (Round, error) { return sharded(noon, 4), nil },
		Ledger: func(context.Context, heat.Resource, string) (Ledger, error) { return Ledger{}, errors.New("no access") },
	})
	if err != nil {
		t.Fatal(err)
	}
	page.step(context.Background())
	if notes := fmt.Sprint(page.frame.Notes); page.frame.Lost != "" || !strings.Contains(notes, "no access") {
		t.Errorf("got notes %q, lost %q", notes, page.frame.Lost)
	}
}

func TestLedgersAreRedacted(t *testing.T) {
	page, err := New(Options{
		Redact: func(dst, _ []byte) []byte { return append(dst, "hidden"...) },
		Source: func(context.Context) (Round, error) { return sharded(noon, 4), nil },
		Ledger: func(context.Context, heat.Resource, string) (Ledger, error) {
			return Ledger{Key: "VIEWS", Width: layout.Width{Write: 4, Read: 4}, Generation: 1, At: noon, Why: "VIEWS is hot", By: "VIEWS"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	page.step(context.Background())
	data, err := page.whole()
	if err != nil || strings.Contains(string(data), "VIEWS") || len(page.frame.Ledgers) != 1 {
		t.Errorf("got %s, %v", data, err)
	}
}

// accessDenied is an error as the SDK has them. It quotes a key, as those of heatsink.Ledgers do.
type accessDenied struct{}

func (accessDenied) Error() string     { return `read "SECRET": no access` }
func (accessDenied) ErrorCode() string { return "AccessDeniedException" }

// Errors quote keys, so a page that hides keys shows no more than their code.
func TestErrorsAreRedacted(t *testing.T) {
	hide := func(dst, _ []byte) []byte { return append(dst, "hidden"...) }
	for _, test := range []struct {
		name   string
		source error // fails instead of the ledger
		want   string
	}{
		{"ledger", nil, "AccessDeniedException"},
		{"source", fmt.Errorf("read: %w", accessDenied{}), "AccessDeniedException"},
		{"source without a code", errors.New(`read "SECRET"`), "hidden"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page, err := New(Options{
				Redact: hide,
				Source: func(context.Context) (Round, error) { return sharded(noon, 4), test.source },
				Ledger: func(context.Context, heat.Resource, string) (Ledger, error) { return Ledger{}, accessDenied{} },
			})
			if err != nil {
				t.Fatal(err)
			}
			page.step(context.Background())
			data, err := page.whole()
			if said := fmt.Sprint(page.frame.Lost, page.frame.panels); err != nil || strings.Contains(string(data), "SECRET") || !strings.Contains(string(data), test.want) {
				t.Errorf("got %s, %v", said, err)
			}
		})
	}
}
