package engine

import (
	"context"
	"encoding/base64"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink/internal/attempt"
	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// resource is what has partitions of its own, a table or a global index, as seen
// from its partitions.
type resource struct {
	table, index string
	keys         keySchema
	names        []string                 // of the partition key's attributes
	insights     atomic.Pointer[insights] // nil while they are off
}

func newResource(table, index string, keys keySchema) *resource {
	r := &resource{table: table, index: index, keys: keys}
	for _, part := range keys.hash {
		r.names = append(r.names, part.Name)
	}
	return r
}

func resourceOf(s *partition.Set) *resource { return s.Owner().(*resource) }

// Access is what one request took of a partition key, or was refused.
type Access struct {
	At           time.Time
	Table, Index string
	KeyNames     []string // the attributes of the partition key; not to be changed
	Key          []string // their values as text, binary ones as base64; nil for a scan
	Sort         []string // likewise of the sort key, if it was about a single item; nil if it was not

	ReadUnits, WriteUnits float64 // what was charged; what was wanted if it was refused

	// Reason is why it was refused, in DynamoDB's words. Empty: it was served.
	Reason string

	Partition uint64 // that holds the key; 0 for a scan

	Attempt int // which attempt at the request it is, as its client says
}

// observe tells of charges, or of those that were refused if throttle is not nil.
func (e *Engine) observe(ctx context.Context, now time.Time, throttle *partition.Throttle, charges ...partition.Charge) {
	if e.options.Observe == nil {
		return
	}
	for i := range charges {
		c, of := &charges[i], resourceOf(charges[i].Set)
		reason := refusal(throttle, i)
		if throttle != nil && reason == "" {
			continue
		}
		a := Access{At: now, Table: of.table, Index: of.index, KeyNames: of.names, ReadUnits: c.Read, WriteUnits: c.Write, Reason: reason, Attempt: attempt.Of(ctx)}
		if a.Key, a.Sort = of.key(c.Place); a.Key != nil {
			a.Partition = c.Set.Locate(now, c.Place)
		}
		if len(of.keys.sort) == 0 && of.index == "" {
			a.Sort = []string{} // a key is an item
		}
		e.options.Observe(&a)
	}
}

// refusal is why a charge was refused, empty if it was not.
func refusal(throttle *partition.Throttle, charge int) string {
	if throttle == nil {
		return ""
	}
	i := slices.IndexFunc(throttle.Causes, func(c partition.Cause) bool { return c.Charge == charge })
	if i < 0 {
		return ""
	}
	return string(throttle.Causes[i].Reason)
}

// key returns the values of the key at a place as text: of the partition key, nil
// if there is none, and of the sort key as far as it is there.
func (r *resource) key(place []byte) (partition, sort []string) {
	if len(place) < hashLength {
		return nil, nil
	}
	partition, rest := cutKeys(place[hashLength:], r.keys.hash)
	sort, _ = cutKeys(rest, r.keys.sort)
	return partition, sort
}

// partitionKey returns the part of a place that is the partition key's: all of it
// if there is no whole one.
func (r *resource) partitionKey(place []byte) []byte {
	if len(place) < hashLength {
		return place
	}
	_, rest := cutKeys(place[hashLength:], r.keys.hash)
	return place[:len(place)-len(rest)]
}

// cutKeys takes the values of key attributes off a place: nil if they are not all
// there, as of a scan.
func cutKeys(place []byte, parts []expr.KeyPart) (texts []string, rest []byte) {
	for _, p := range parts {
		v, after, ok := attr.CutKey(place, p.Kind)
		if !ok {
			return nil, nil
		}
		switch p.Kind {
		case attr.N:
			texts = append(texts, attr.Number(v.Str).String())
		case attr.B:
			texts = append(texts, base64.StdEncoding.EncodeToString([]byte(v.Str)))
		default:
			texts = append(texts, v.Str)
		}
		place = after
	}
	return texts, place
}
