package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// tally counts differences by their class.
type tally struct {
	Requests int            `json:"requests"`
	Known    int            `json:"known"`    // differences that the table explains
	Outvoted map[string]int `json:"outvoted"` // those of each peer that has all other engines against it
	Unknown  int            `json:"unknown"`  // those that nothing explains
	Facts    map[string]int `json:"facts"`    // how often each row of the table explained one

	classes map[class]*example
	told    map[string]map[class]*example // what each fact explained
}

// class is a kind of difference. Two findings with the same class have the same cause, as far as their answers tell.
type class struct {
	peer, operation string
	answer.Difference
}

// example is the first finding of a class.
type example struct {
	finding
	sequence sequence
	times    int
}

func newTally() *tally {
	return &tally{Outvoted: map[string]int{}, Facts: map[string]int{}, classes: map[class]*example{}, told: map[string]map[class]*example{}}
}

// note counts a finding of a sequence.
func (t *tally) note(f finding, s sequence) {
	c := class{peer: f.peer, operation: f.op.Name, Difference: f.Difference}
	if k := explain(f); k != nil {
		t.Known++
		t.Facts[k.name]++
		if t.told[k.name] == nil {
			t.told[k.name] = map[class]*example{}
		}
		count(t.told[k.name], c, f, nil)
		return
	}
	if f.outvoted {
		t.Outvoted[f.peer]++
		return
	}
	t.Unknown++
	if e := count(t.classes, c, f, s[:f.at+1]); e.times == 1 {
		scenario.Progress("%s", e.describe())
	}
}

// count counts a finding among those of its class.
func count(classes map[class]*example, c class, f finding, s sequence) *example {
	e := classes[c]
	if e == nil {
		e = &example{finding: f, sequence: s}
		classes[c] = e
	}
	e.times++
	return e
}

// show tells what was found. Of each unknown class, as long as there are few, it makes the example as short as it can.
func (t *tally) show(ctx context.Context, p *proof, all *panel) error {
	p.Must("requests that every engine got", fmt.Sprint(t.Requests), fmt.Sprintf("at least %d", p.requests), t.Requests >= p.requests)
	for _, s := range all.peers {
		p.Tell(s.name+" alone, the others agree", fmt.Sprintf("%d times", t.Outvoted[s.name]))
		if s.starts > 0 {
			p.Tell(s.name+" was started again", fmt.Sprintf("%d times", s.starts))
		}
	}
	p.Tell("differences that a fact explains", fmt.Sprintf("%d, by %d facts", t.Known, len(t.Facts)))
	for _, k := range known {
		if n := t.Facts[k.name]; n > 0 {
			p.Tell(k.name, fmt.Sprintf("%d times; %s", n, k.fact))
			if p.explain {
				explained(t.told[k.name])
			}
		}
	}
	p.Must("differences that nothing explains", fmt.Sprintf("%d, in %d classes", t.Unknown, len(t.classes)), "0, in 0 classes", t.Unknown == 0)
	for i, c := range byTimes(t.classes) {
		e := t.classes[c]
		if i < p.examples && ctx.Err() == nil {
			short, err := shrink(ctx, all.only(c.peer), e.sequence, c)
			if err != nil {
				return err
			}
			e.sequence = short
			scenario.Progress("%s", e.describe())
		}
		p.Must(fmt.Sprintf("%s, %s, %s", c.peer, c.operation, c.Kind), fmt.Sprintf("%d times: we: %s; they: %s", e.times, c.Ours, c.Theirs), "a fact that explains it", false)
	}
	return nil
}

// byTimes are the classes, those with the most findings first.
func byTimes(classes map[class]*example) []class {
	return slices.SortedFunc(maps.Keys(classes), func(a, b class) int {
		return cmp.Or(cmp.Compare(classes[b].times, classes[a].times), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
}

// explained shows what a fact has explained, so that one sees whether it explains too much.
func explained(classes map[class]*example) {
	for _, c := range byTimes(classes) {
		scenario.Progress("---- %d times: %s, %s, %s\nwe:   %s\nthey: %s", classes[c].times, c.peer, c.operation, c.Kind, c.Ours, c.Theirs)
		scenario.Progress("%s", classes[c].describe())
	}
}

// describe shows an example to somebody who is to find out who is right.
func (e *example) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "---- %s, %s, %s\n", e.peer, e.op.Name, e.Kind)
	for i, op := range e.sequence {
		if i < len(e.sequence)-1 && len(e.sequence) <= 6 {
			fmt.Fprintf(&b, "before: %s %s\n", op.Name, answer.JSON(op.Body))
		}
	}
	fmt.Fprintf(&b, "request: %s %s\nwe:   %s\nthey: %s\n", e.op.Name, answer.JSON(e.op.Body), show(e.ours), show(e.theirs))
	return b.String()
}

func show(a answer.Answer) string {
	text := answer.JSON(a.Body)
	if a.Capacity != nil {
		text += " capacity " + answer.JSON(a.Capacity)
	}
	if a.Type != "" {
		text = a.Type + ": " + a.Message + " " + text
	}
	return text
}
