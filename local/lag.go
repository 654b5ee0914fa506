package local

import (
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// Lag makes eventually consistent reads return data as it was a while ago: reads
// without ConsistentRead, and every read of a global secondary index. With it, a
// test shows that a program tolerates what DynamoDB allows.
//
// Each read returns the data of a random moment between Max and Min ago. So a
// later read may return older data. A page of a Query or a Scan is of one moment;
// a batch read chooses for each item. Transactions, conditions and reads with
// ConsistentRead are not concerned, nor are streams, item counts and backups.
// Statements of PartiQL lag as the reads that they are.
//
// If there are more than 128 writes within Max, several may become visible
// together, and then somewhat early. The engine keeps what was overwritten for
// as long as Max.
type Lag struct {
	// Min and Max are the least and the greatest age of the data. Set both to
	// the same time for a fixed lag. Min must not be negative, and Max must be
	// positive and at most an hour.
	Min, Max time.Duration

	// Seed is the seed of the random ages. Requests that come one after the
	// other get the same ages in every run; in a testing/synctest bubble they get
	// the same data as well. Default: zero, a seed as any other.
	Seed uint64
}

func (l *Lag) options() *engine.Lag {
	if l == nil {
		return nil
	}
	return &engine.Lag{Min: l.Min, Max: l.Max, Seed: l.Seed}
}
