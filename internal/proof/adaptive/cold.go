package main

import (
	"context"
	"fmt"
	"time"
)

// coldResult is what TestCold counted.
type coldResult struct {
	Keys    int `json:"keys"`
	Reads   int `json:"reads"`   // Query calls of cold keys
	Queries int `json:"queries"` // requests that they took
	Ledgers int `json:"ledgers"` // reads of ledgers of cold keys
	Most    int `json:"most"`    // of these, the most of one key and one process within coldKeep
	Put     int `json:"put"`     // Put calls of cold keys
	Puts    int `json:"puts"`    // PutItem requests that they took
	Wrong   int `json:"wrong"`   // reads that did not return exactly what was put
	Control int `json:"control"` // control items in the table that are of cold keys
	Others  int `json:"others"`  // control items of the hot key and of the collection
	Hot     int `json:"hot"`     // the width of the hot key
}

// coldBeside counts the requests that cold keys take beside a hot one. It runs in virtual time: see TestCold.
func coldBeside(ctx context.Context, p *proof) error {
	var r coldResult
	if _, err := p.bubble.Run(ctx, &r, "TestCold", "-cold", fmt.Sprint(coldKeys)); err != nil {
		return err
	}
	p.Must("cold keys, and the width of the hot one beside them", fmt.Sprintf("%d, %d", r.Keys, r.Hot), fmt.Sprintf("%d, more than 1", coldKeys), r.Keys == coldKeys && r.Hot > 1)
	p.Must("Query requests for each read of a cold key", ratio(r.Queries, r.Reads), "1", r.Queries == r.Reads && r.Reads > 0)
	p.Must(fmt.Sprintf("most ledger reads of a cold key by one process within %v", coldKeep.Round(time.Second)), fmt.Sprint(r.Most), "<= 1", r.Most <= 1)
	p.Tell("ledger reads for each read of a cold key", ratio(r.Ledgers, r.Reads))
	p.Must("PutItem requests for each Put of a cold key", ratio(r.Puts, r.Put), "1", r.Puts == r.Put && r.Put > 0)
	p.None("reads of cold keys that are wrong", r.Wrong, r.Reads)
	p.Must("control items of cold keys", fmt.Sprint(r.Control), "0", r.Control == 0)
	p.Tell("control items of the hot key and of the collection", fmt.Sprint(r.Others))
	return nil
}

// ratio writes a quotient.
func ratio(n, of int) string {
	return fmt.Sprintf("%.4f (%d of %d)", float64(n)/float64(max(1, of)), n, of)
}
