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
	"github.com/heatsink-go/heatsink/internal/bubble"
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

// seconds lets a recorder see so many seconds of writes, 300 of ten units each, of which some are throttled. The page looks once a
// second.
func seconds(page *Page, recorder *heat.Recorder, n, throttled int, keys ...string) {
	for range n {
		for i := range 300 {
			o := heat.Observation{
				Resource: heat.Resource{Table: "orders"}, Direction: heat.Write, KeyNames: []string{"status"}, Key: []string{keys[i%len(keys)]}, Sort: []string{fmt.Sprint(i)}, Units: 10,
			}
			if i%300 < throttled {
				o.Throttled, o.Reason = true, "TableWriteKeyRangeThroughputExceeded"
			}
			recorder.Observe(o)
		}
		time.Sleep(time.Second)
		page.step(context.Background())
	}
}

// Five seconds after a key has grown, which only its ledger tells, the page has no advice for the key as it was. If it is throttled
// on, it gets no plan for a fixed number of shards, which would hide its items.
func TestPageJustAfterAGrowth(t *testing.T) {
	shards := []string{"OPEN"}
	for i := 1; i < 8; i++ {
		shards = append(shards, fmt.Sprintf("OPEN#SHARD_%d", i))
	}
	for _, test := range []struct {
		name      string
		throttled int // of the 300 writes a second after the growth
		want      string
	}{
		{"served", 0, "[info key-grew OPEN]"},
		{"throttled on", 200, "[critical hot-key OPEN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				recorder, err := heat.NewRecorder(heat.Options{NoDescribe: true})
				if err != nil {
					t.Fatal(err)
				}
				var stored Ledger
				page, err := New(Options{Source: Of(recorder), Ledger: func(context.Context, heat.Resource, string) (Ledger, error) { return stored, nil }})
				if err != nil {
					t.Fatal(err)
				}
				seconds(page, recorder, 20, 200, "OPEN")
				if f := page.frame.Findings; len(f) == 0 || f[0].Severity != heat.Critical || !strings.Contains(f[0].Snippet, "Shards:") || strings.Contains(f[0].Plan, "heatsink.Options") {
					t.Fatalf("a throttled key has %+v", f)
				}
				stored = Ledger{
					Key: "OPEN", Width: layout.Width{Write: 8, Read: 8}, Generation: 1, At: time.Now(), Why: "it was hot", History: []layout.Width{{Write: 1, Read: 1}},
				}
				hot := shards
				if test.throttled > 0 {
					hot = shards[:2] // too few of them are written
				}
				seconds(page, recorder, 6, test.throttled, hot...)
				var kinds []string
				for _, f := range page.frame.Findings {
					kinds = append(kinds, fmt.Sprint(f.Severity, " ", f.Kind, " ", f.Key))
					if f.Snippet != "" || strings.Contains(f.Plan, "Do not shard") {
						t.Errorf("%s has the plan %s %s", f.Message, f.Plan, f.Snippet)
					}
				}
				if got := fmt.Sprint(kinds); !strings.HasPrefix(got, test.want) {
					t.Errorf("got %s, want %s: %+v", got, test.want, page.frame.Findings)
				}
				for _, k := range page.frame.Keys {
					if (k.Refused > 0) != (test.throttled > 0) || (k.Words != "") != (test.throttled > 0) {
						t.Errorf("the list of keys says %+v", k)
					}
				}
			})
		})
	}
}

// The last change of a ledger may be another one than a growth. Then only who saw the growth knows when it was.
func TestGrowthsOfLedgers(t *testing.T) {
	of := heat.Resource{Table: "t"}
	one, four := layout.Width{Write: 1, Read: 1}, layout.Width{Write: 4, Read: 4}
	grown := Ledger{Key: "K", Width: four, Generation: 1, At: noon, History: []layout.Width{one}}
	frozen := Ledger{Key: "K", Width: four, Generation: 2, Frozen: true, At: noon.Add(time.Minute), History: []layout.Width{one}}
	again := Ledger{Key: "K", Width: layout.Width{Write: 16, Read: 16}, Generation: 3, At: noon.Add(2 * time.Minute), History: []layout.Width{one, four}}
	for _, test := range []struct {
		name string
		read []Ledger
		want string // the growth in the end
	}{
		{"a growth", []Ledger{grown}, "1 to 4 at 12:00:00"},
		{"a freeze after it", []Ledger{grown, frozen}, "1 to 4 at 12:00:00"},
		{"a freeze alone", []Ledger{frozen}, "none"},
		{"a growth after it", []Ledger{frozen, again}, "4 to 16 at 12:02:00"},
		{"a growth that was not seen", []Ledger{grown, again}, "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var known looked
			for _, stored := range test.read {
				known = known.read(noon, &candidate{of: of, key: "K"}, stored)
			}
			got := "none"
			if d := known.grew; d.Reason == heat.DecidedGrow {
				got = fmt.Sprintf("%d to %d at %s", d.From, d.To, d.At.Format(time.TimeOnly))
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	r := Round{Report: heat.Report{To: noon.Add(time.Minute), Decisions: []heat.Decision{{Resource: of, Key: "K", Reason: heat.DecidedGrow, From: 1, To: 4, Rate: 7, At: noon.Add(time.Millisecond)}}}}
	addGrowth(&r, heat.Decision{Resource: of, Key: "K", Reason: heat.DecidedGrow, From: 1, To: 4, At: noon})
	addGrowth(&r, heat.Decision{Resource: of, Key: "L", Reason: heat.DecidedGrow, From: 1, To: 4, At: noon})
	if len(r.Decisions) != 2 || r.Decisions[0].Rate != 7 {
		t.Errorf("got %+v", r.Decisions)
	}
}
