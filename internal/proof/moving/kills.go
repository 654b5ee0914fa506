package main

import (
	"context"
	"fmt"
	"time"
)

// How long movers and clients live, on average or at most.
const (
	clientLife = 10 * time.Second
	moverLife  = 25 * time.Second
	killWCU    = 15.0 // so that a move of the items takes minutes

	waitingLife = 200 // times as long as that live clients while a mover waits
)

// killsResult is what became of a table whose movers and clients are killed.
type killsResult struct {
	shapeResult
	Movers  int `json:"movers"`  // that were killed
	Clients int `json:"clients"` // likewise
	Lost    int `json:"lost"`    // calls whose outcome their clients did not learn
	Moves   int `json:"moves"`   // that came to their end
	Backs   int `json:"backs"`   // that turned back in their middle
}

// showKills kills movers and clients.
func showKills(ctx context.Context, p *proof) error {
	r := &killsResult{}
	cpu, err := p.inBubble(ctx, r, "TestKills", "-items", fmt.Sprint(killItems), "-rate", "20", "-kills", fmt.Sprint(p.kills))
	if err != nil {
		return err
	}
	p.Kills = r
	p.Must("movers that are killed in the middle of their work", fmt.Sprint(r.Movers), fmt.Sprintf(">= %d", p.kills), r.Movers >= p.kills)
	p.Must("clients that are killed", fmt.Sprint(r.Clients), fmt.Sprintf(">= %d", p.kills), r.Clients >= p.kills)
	p.Must("calls whose outcome a killed client did not learn", fmt.Sprint(r.Lost), "> 0", r.Lost > 0)
	p.Must("moves to their end, and back from their middle", fmt.Sprintf("%d and %d", r.Moves, r.Backs), "> 0 each", r.Moves > 0 && r.Backs > 0)
	p.None("reads that show something else than the last acknowledged write", r.Faults.Stale, r.Reads)
	p.None("acknowledged items that a read or a list does not have", r.Faults.Lost, r.Reads+r.Listed)
	p.None("items that a list has twice", r.Faults.Doubled, r.Listed)
	p.None("calls and movers that fail for no reason, or ends of moves at which Verify finds damage", r.Faults.Errors, r.Calls)
	p.None("items with marks, in wrong places, or that nobody has written, in the end", r.Left+int(r.Damaged), r.Items)
	if r.Faults.First != "" {
		p.Tell("the first fault", r.Faults.First)
	}
	p.Tell("CPU", fmt.Sprintf("%.0f s", cpu.Seconds()))
	return nil
}
