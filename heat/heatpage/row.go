package heatpage

import (
	"slices"

	"github.com/heatsink-go/heatsink/heat"
)

// The kinds of rows.
const (
	keyRow       = "key"
	partitionRow = "partition"
	othersRow    = "others" // all keys of a flow that have no row of their own
)

// row is a line of the picture: a stored key, a partition, or what is left of a flow.
type row struct {
	ID      int      `json:"id"`
	Flow    string   `json:"flow"`
	Kind    string   `json:"kind"`
	Key     string   `json:"key,omitempty"`     // as it is stored
	Logical string   `json:"logical,omitempty"` // the key that it is a shard of
	Shape   string   `json:"shape,omitempty"`
	Homes   []uint64 `json:"homes,omitempty"` // the partitions that have some of it
	Number  uint64   `json:"number,omitempty"`

	weight float64 // its recent units: the lightest rows are given up
}

// rowName tells rows apart.
type rowName struct {
	flow, kind, key string
	number          uint64
}

func (r *row) name() rowName { return rowName{r.Flow, r.Kind, r.Key, r.Number} }

// follow takes what a report says of a key, and reports whether anything has changed.
func (r *row) follow(k *heat.KeyHeat, logical string, homes []uint64) bool {
	if logical == k.Key {
		logical = ""
	}
	if r.Logical == logical && r.Shape == k.Shape && slices.Equal(r.Homes, homes) {
		return false
	}
	r.Logical, r.Shape, r.Homes = logical, k.Shape, slices.Clone(homes)
	return true
}
