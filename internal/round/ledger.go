package round

import (
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// Ledger is how wide a key of an adaptive collection is, and how it came to be. Its fields are those of heatsink.Ledger, so that one
// can be converted to the other.
type Ledger struct {
	Key    string    `json:"key"`
	Bucket time.Time `json:"bucket,omitzero"`

	Width      layout.Width `json:"width"`
	Generation int64        `json:"generation"` // 0: it is not stored
	Frozen     bool         `json:"frozen,omitempty"`

	Why string    `json:"why,omitempty"` // of the last change, as By and At
	By  string    `json:"by,omitempty"`
	At  time.Time `json:"at,omitzero"`

	History []layout.Width `json:"history,omitempty"` // the oldest first
}

// Ledger returns the ledger of a key, nil if it has none.
func (r *Round) Ledger(of heat.Resource, key string) *Ledger {
	all := r.Ledgers[of.String()]
	for i := range all {
		if all[i].Key == key {
			return &all[i]
		}
	}
	return nil
}
