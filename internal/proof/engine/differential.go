package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// sequenceLength is how many requests engines get before their tables are emptied: enough for items to be changed often, and few
// enough to be made fewer when two engines differ.
const sequenceLength = 100

// showDifferential sends random requests to the engine and to those of its peers that are to be had on this machine.
func showDifferential(ctx context.Context, p *proof) (err error) {
	panel, err := p.assemble(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, panel.stop()) }()
	t := newTally()
	p.Differential = t
	lastWord := time.Now()
	for seed := p.seed; t.Requests < p.requests; seed++ {
		s := drawn(seed, sequenceLength)
		if err := panel.run(ctx, s, func(f finding) { t.note(f, s) }); err != nil {
			return errors.Join(fmt.Errorf("seed %d: %w", seed, err), t.show(ctx, p, panel))
		}
		t.Requests += len(s)
		if time.Since(lastWord) > 15*time.Second {
			lastWord = time.Now()
			scenario.Progress("  %d requests, %d known and %d unknown differences", t.Requests, t.Known, t.Unknown)
		}
	}
	return t.show(ctx, p, panel)
}

// assemble starts the engine and its peers. A peer that is not to be had is not run, which the verdict says.
func (p *proof) assemble(ctx context.Context) (*panel, error) {
	engine, err := p.heatsink(ctx)
	if err != nil {
		return nil, err
	}
	all := &panel{}
	if all.engine, err = newSubject(ctx, engine); err != nil {
		return nil, err
	}
	var names []string
	for _, find := range []struct {
		name string
		as   func() (peer.Engine, error)
	}{
		{"dynoxide", func() (peer.Engine, error) { return peer.DynoxideEngine(ctx, "") }},
		{"dynalite", func() (peer.Engine, error) { return peer.Dynalite(p.peers) }},
		{"dynamodb-local", func() (peer.Engine, error) { return peer.DynamoDBLocal(ctx, "") }},
	} {
		e, err := find.as()
		if err == nil {
			var s *subject
			if s, err = newSubject(ctx, e); err == nil {
				all.peers = append(all.peers, s)
				names = append(names, s.name+" "+s.version)
				continue
			}
		}
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), all.stop())
		}
		p.Must(find.name, "not run: "+err.Error(), "it takes part", false)
	}
	if len(all.peers) == 0 {
		return nil, errors.Join(errors.New("there is no peer to compare with"), all.stop())
	}
	p.Tell("peers", strings.Join(names, ", "))
	return all, nil
}
