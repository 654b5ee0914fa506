package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// proof is one as they are.
type proof struct {
	Seeds int `json:"seeds"`
	scenario.Board
}

var all = []scenario.Scenario[*proof]{
	{Name: "1", Title: "a full disk", Run: func(_ context.Context, p *proof) error {
		time.Sleep(90 * time.Second)
		p.Note(scenario.Figure{What: "lost", Before: new("7"), After: "0", Want: "0", Holds: true})
		p.Note(scenario.Figure{What: "it said", After: "one\ntwo three", Holds: true})
		return nil
	}},
	{Name: "2", Title: "idle clients", Run: func(_ context.Context, p *proof) error {
		p.Note(scenario.Figure{What: "refused", Before: new(""), After: "3", Want: "0"})
		return errors.New("it ended")
	}},
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		name     string
		numbered bool
		most     int
		want     string
	}{
		{"names", false, 8, `
== 1: a full disk
what     before  after      want  
lost     7       0          0     
it said          one two …        
(90 s)

== 2: idle clients
what     before  after  want  
refused          3      0     MISSED
(0 s)

== verdict
2 things do not hold:
  2: it ended
  refused: 3, want 0
{"seeds":4,"figures":[{"scenario":"1","what":"lost","before":"7","after":"0","want":"0","holds":true},` +
			`{"scenario":"1","what":"it said","after":"one\ntwo three","holds":true},` +
			`{"scenario":"2","what":"refused","before":"","after":"3","want":"0","holds":false}],"missed":["2: it ended","refused: 3, want 0"],"seconds":90}
`},
		{"numbers", true, 0, `
== 1 a full disk
what       before  after  want  
lost       7       0      0     
it said            one
two three          
(90 s)

== 2 idle clients
what     before  after  want  
refused          3      0     MISSED
(0 s)

== verdict
2 things do not hold:
  2 idle clients: it ended
  refused: 3, want 0
{"seeds":4,"figures":[{"scenario":"1","what":"lost","before":"7","after":"0","want":"0","holds":true},` +
			`{"scenario":"1","what":"it said","after":"one\ntwo three","holds":true},` +
			`{"scenario":"2","what":"refused","before":"","after":"3","want":"0","holds":false}],"missed":["2 idle clients: it ended","refused: 3, want 0"],"seconds":90}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var out strings.Builder
				p := &proof{Seeds: 4, Board: scenario.New(&out)}
				p.Numbered, p.Most = c.numbered, c.most
				for _, s := range all {
					scenario.Show(t.Context(), &p.Board, p, s)
				}
				if holds := p.End(p.Out, p); holds || out.String() != c.want {
					t.Errorf("got %v, %s\nwant false, %s", holds, out.String(), c.want)
				}
			})
		})
	}
}

// A proof that was stopped runs no further scenario, and says so.
func TestShowAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	p := &proof{Board: scenario.New(&out)}
	scenario.Show(ctx, &p.Board, p, all[0])
	if p.End(p.Out, p) || len(p.Figures) > 0 || !strings.Contains(out.String(), "1: context canceled") {
		t.Errorf("got %s, want that it was canceled", out.String())
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		only     string
		numbered bool
		want     string // names, or a part of the error
	}{
		{"", false, "1 2"},
		{"2", false, "2"},
		{"2, 1", false, "2 1"},
		{"1,x", false, `-only "1,x": there is no scenario "x"; they are 1, 2`},
		{"0", true, `-only "0": there is no scenario "0"; they are 1 to 2`},
	} {
		chosen, err := scenario.Choose(&scenario.Board{Numbered: c.numbered}, all, c.only)
		var names []string
		for _, s := range chosen {
			names = append(names, s.Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.only, got, c.want)
		}
	}
}
