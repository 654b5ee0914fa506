package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

var (
	oneShard = layout.Layout{Shards: 1}
	eight    = layout.Layout{Shards: 8, Format: layout.SharpNumber()}
)

// The items of lists, which are only ever appended, move from one shard to eight of another spelling.
func TestList(t *testing.T) {
	var r shapeResult
	bubble.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fillLists(oneShard, *items)
		for n := range idProcesses {
			a := &appender{process: process{w, w.open(movable(oneShard)), w.ctx}, number: n}
			w.user(idProcesses, a.act)
			w.lister(a.list)
		}
		w.quiet()
		m := w.move(move.Options{Collection: movable(oneShard), To: eight})
		w.stop()
		w.checkLists(m)
		if err := m.Finish(w.ctx); err != nil {
			w.wrong("finish: %v", err)
		}
		r = w.sum()
	})
	writeResult(t, r)
	judgeShape(t, r)
}

func (w *world) fillLists(now layout.Layout, n int) {
	if err := w.db.CreateTable(w.ctx, table, "pk", "sk"); err != nil {
		w.Fatal(err)
	}
	c, err := heatsink.Open[heatsink.Item](w.db.Client(), movable(now))
	if err != nil {
		w.Fatal(err)
	}
	const most = 10_000 // items of one call
	var batch []heatsink.Item
	for i := range n {
		at, value := name{keyOf(i), fmt.Sprintf("item-%08d", i)}, w.value()
		batch = append(batch, w.item(at, value))
		w.add(at, value)
		if len(batch) == most || i == n-1 {
			if err := c.BatchPut(w.ctx, batch); err != nil {
				w.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	w.result.Items = n
}

// appender is a program that appends to lists and reads their ends.
type appender struct {
	process
	number int
	last   int
}

func (p *appender) act(random *rand.Rand) {
	key := keyOf(random.IntN(keys))
	if random.IntN(10) > 0 { // appends that come while the move is split are moves that no forecast knows
		p.page(random, key)
		return
	}
	p.sums.Lock()
	p.last++
	at := name{key, fmt.Sprintf("new-%d-%08d", p.number, p.last)}
	p.sums.Unlock()
	c := p.add(at, 0)
	p.write("append", c, p.value(), func(value int) error {
		_, err := p.c.Put(p.ctx, p.item(at, value))
		return err
	})
}

// page reads a page somewhere in a list. Its items are one after the other, so none may be missing in between.
func (p *appender) page(random *rand.Rand, key string) {
	s := p.surveyAfter(random, key)
	var page heatsink.Page[heatsink.Item]
	err := p.call("page", func() (err error) {
		page, err = p.c.Page(p.ctx, heatsink.Query{Key: key, Consistent: true, Limit: 10, Sort: heatsink.Greater(s.after)}, "")
		return err
	})
	if err != nil {
		p.killed("a page", name{key: key}, err)
		return
	}
	p.checked()
	var all []shown
	for _, item := range page.Items {
		all = append(all, shown{textOf(item, "sk"), valueOf(item)})
	}
	p.judgePage(s, all)
}

// stretch is a part of a list that a page must have: the ids that were there before it was read, in their order.
type stretch struct {
	after string
	must  []*cell
}

// surveyAfter returns what a page of ten must begin with, somewhere among the items that were there when the move began.
func (p *appender) surveyAfter(random *rand.Rand, key string) stretch {
	p.oracle.mu.Lock()
	defer p.oracle.mu.Unlock()
	from := random.IntN(p.result.Items)
	s := stretch{after: fmt.Sprintf("item-%08d", from)}
	for i := from + 1; i < p.result.Items && len(s.must) < 10; i++ {
		if c := p.cells[i]; c.key == key {
			s.must = append(s.must, c)
		}
	}
	return s
}

// judgePage compares a page with what it must begin with.
func (p *appender) judgePage(s stretch, all []shown) {
	p.oracle.mu.Lock()
	defer p.oracle.mu.Unlock()
	for i, c := range s.must {
		switch {
		case i >= len(all) || all[i].id > c.id:
			p.faults.note(&p.faults.Lost, "a page behind %q misses %q", s.after, c.id)
			return
		case all[i].id < c.id:
			p.faults.note(&p.faults.Doubled, "a page behind %q has %q before %q", s.after, all[i].id, c.id)
			return
		}
	}
}

// list reads a whole list, and compares.
func (p *appender) list(random *rand.Rand) {
	key := keyOf(random.IntN(keys))
	s := p.survey(key)
	var all []shown
	for item, err := range p.c.Query(p.ctx, heatsink.Query{Key: key, Consistent: true}) {
		if err != nil {
			p.forget(s)
			p.killed("a list", name{key: key}, err)
			return
		}
		all = append(all, shown{textOf(item, "sk"), valueOf(item)})
	}
	if strangers := p.listed(s, all); strangers > 0 {
		p.fail("a list of %q has %d ids that nobody has written", key, strangers)
	}
	p.sums.Lock()
	defer p.sums.Unlock()
	p.result.Lists++
	p.result.Listed += len(all)
}

// checkLists compares everything that is stored with what was acknowledged.
func (w *world) checkLists(m *move.Mover) {
	w.verify(m)
	stored := map[string][]shown{}
	w.scan(func(item heatsink.Item) {
		pk, sk := textOf(item, "pk"), textOf(item, "sk")
		if layout.IsControl(pk) {
			return
		}
		at, err := eight.Parse(pk)
		if err != nil || item["_hs_f"] != nil || item["_hs_d"] != nil {
			w.result.Left++
			return
		}
		stored[at.Key] = append(stored[at.Key], shown{sk, valueOf(item)})
	})
	for i := range keys {
		w.result.Left += w.whole(keyOf(i), stored[keyOf(i)])
	}
}
