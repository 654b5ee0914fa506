package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
	"github.com/heatsink-go/heatsink/internal/proof/engine/draw"
)

// sequence is a number of requests that engines get one after the other, from empty tables on.
type sequence []draw.Op

// drawn is the sequence of a seed. At its end all tables are read.
func drawn(seed uint64, length int) sequence {
	d := draw.New(seed)
	var s sequence
	for range length {
		s = append(s, d.Op())
	}
	for _, t := range draw.Tables {
		s = append(s, draw.Op{Name: "Scan", Body: draw.Body{"TableName": t.Name}, Pages: true})
	}
	return s
}

// finding is a difference between the engine and a peer.
type finding struct {
	peer string
	at   int // the request of the sequence
	op   draw.Op
	answer.Difference
	ours, theirs answer.Answer
	alone        bool // all peers, which are two at least, agree on another answer than the engine's
	outvoted     bool // another peer answers as the engine does, and no other answer has as many engines on its side
}

// panel is the engine and its peers.
type panel struct {
	engine *subject
	peers  []*subject
}

// stop stops all of them.
func (p *panel) stop() error {
	var errs []error
	for _, s := range p.all() {
		errs = append(errs, s.stop())
	}
	return errors.Join(errs...)
}

func (p *panel) all() []*subject {
	if p.engine == nil {
		return p.peers
	}
	return slices.Concat([]*subject{p.engine}, p.peers)
}

// only is a panel with one of the peers.
func (p *panel) only(name string) *panel {
	return &panel{engine: p.engine, peers: []*subject{p.named(name)}}
}

func (p *panel) named(peer string) *subject {
	i := slices.IndexFunc(p.peers, func(s *subject) bool { return s.name == peer })
	return p.peers[i]
}

// run sends a sequence to all engines, each request to all of them at once, and hands over what differs. A peer that differs is given
// the engine's items, so that one difference is not many.
func (p *panel) run(ctx context.Context, s sequence, found func(finding)) error {
	if err := p.clear(ctx); err != nil {
		return err
	}
	for i, op := range s {
		answers, lost, err := p.ask(ctx, op)
		if err != nil {
			return err
		}
		if err := p.align(ctx, draw.Tables, lost); err != nil { // they have nothing any more
			return err
		}
		var differ []*subject
		for _, f := range p.compare(answers) {
			f.at, f.op = i, op
			found(f)
			if op.Writes() && (f.Kind == answer.Outcome || f.Kind == answer.Content) {
				differ = append(differ, p.named(f.peer))
			}
		}
		for _, peer := range p.peers {
			refused := answers[p.engine.name].Type != ""
			if !peer.has(op.Name) && op.Writes() && !refused || refused && peer.doesParts(op.Name) {
				differ = append(differ, peer) // it has missed a change, or made one
			}
		}
		if err := p.align(ctx, op.Tables(), differ); err != nil {
			return err
		}
	}
	return nil
}

// compare returns how the peers' answers to a request differ from the engine's.
func (p *panel) compare(answers map[string]answer.Answer) (all []finding) {
	ours := answers[p.engine.name]
	for _, peer := range p.peers {
		theirs, ok := answers[peer.name]
		if !ok {
			continue
		}
		for _, d := range answer.Compare(ours, theirs) {
			v := ballot{answers, d.Kind}
			all = append(all, finding{peer: peer.name, Difference: d, ours: ours, theirs: theirs, outvoted: v.outvotes(ours), alone: v.alone(ours)})
		}
	}
	return all
}

// ask sends a request to all engines that have its operation. The answers are by the names of the engines. A peer that ended instead
// of answering is started again, and is one of the lost.
func (p *panel) ask(ctx context.Context, op draw.Op) (byName map[string]answer.Answer, lost []*subject, err error) {
	all := p.all()
	answers, errs := make([]answer.Answer, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		if s.has(op.Name) {
			wg.Go(func() { answers[i], errs[i] = s.ask(ctx, op) })
		}
	}
	wg.Wait()
	byName = map[string]answer.Answer{}
	for i, s := range all {
		switch {
		case errs[i] == nil && s.has(op.Name):
			byName[s.name] = answers[i]
		case errs[i] != nil && s == p.engine:
			return nil, nil, errs[i]
		case errs[i] != nil:
			if err := s.revive(ctx); err != nil {
				return nil, nil, errors.Join(errs[i], err)
			}
			lost = append(lost, s)
		}
	}
	return byName, lost, ctx.Err()
}

// clear empties all tables of all engines.
func (p *panel) clear(ctx context.Context) error {
	for _, t := range draw.Tables {
		for _, s := range p.all() {
			if err := p.keep(ctx, s, t, nil); err != nil {
				return fmt.Errorf("empty table %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

// align gives the engine's items of some tables to peers that have others.
func (p *panel) align(ctx context.Context, tables []*draw.Table, peers []*subject) error {
	if len(peers) == 0 {
		return nil
	}
	for _, t := range tables {
		items, err := p.engine.items(ctx, t)
		if err != nil {
			return err
		}
		for _, s := range peers {
			if err := p.keep(ctx, s, t, items); err != nil {
				return fmt.Errorf("give table %s the items of the engine: %w", t.Name, err)
			}
		}
	}
	return nil
}

// keep makes a table of an engine have just these items. A peer that cannot is started again, with the engine's items in all tables:
// dynoxide has taken an item with an empty key, which it then refuses to delete.
func (p *panel) keep(ctx context.Context, s *subject, t *draw.Table, items []any) error {
	failed := s.keep(ctx, t, items)
	if failed == nil || s == p.engine || ctx.Err() != nil {
		return failed
	}
	if err := s.revive(ctx); err != nil {
		return errors.Join(failed, err)
	}
	for _, t := range draw.Tables {
		items, err := p.engine.items(ctx, t)
		if err == nil {
			err = s.keep(ctx, t, items)
		}
		if err != nil {
			return errors.Join(failed, err)
		}
	}
	return nil
}
