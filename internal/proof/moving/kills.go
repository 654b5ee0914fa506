package main

import "time"

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
	Moves   int `json:"moves"`   // that came to their end
	Backs   int `json:"backs"`   // that turned back in their middle
}
