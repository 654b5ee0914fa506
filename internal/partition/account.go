package partition

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Account is what sets have in common: the options, and the quotas on what is
// provisioned in all of them. It is safe for concurrent use.
type Account struct {
	rules *rules

	mu          sync.Mutex
	provisioned Rate
}

// ErrQuota is returned when more would be provisioned than a quota allows, for
// one table or index or for all. DynamoDB answers LimitExceededException.
var ErrQuota = errors.New("provisioned capacity beyond quota")

// QuotaError is the ErrQuota that a change of capacity met first.
type QuotaError struct {
	Resource  string // what the capacity is of
	Writes    bool   // of write units; otherwise of read units
	Account   bool   // the quota of the whole account
	Requested int64  // units a second
	Reserved  int64  // already provisioned in the account
	Quota     int64
}

func (e *QuotaError) Error() string {
	of := "one table"
	if e.Account {
		of = "the account"
	}
	return fmt.Sprintf("set %s: %v of %s: %d, allowed are %d, reserved %d", e.Resource, ErrQuota, of, e.Requested, e.Quota, e.Reserved)
}

func (e *QuotaError) Unwrap() error { return ErrQuota }

// NewAccount returns an account without sets. The error lists everything that is
// wrong with the options.
func NewAccount(o Options) (*Account, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Account{rules: newRules(o)}, nil
}

// Options returns the options with their defaults filled in.
func (a *Account) Options() Options { return a.rules.Options }

// Provisioned returns what is provisioned in all sets together.
func (a *Account) Provisioned() Rate {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.provisioned
}

// Config describes a new set.
type Config struct {
	// Resource is the ARN of the table or index.
	Resource string

	// Index says that this is a global secondary index. Local ones have no
	// partitions of their own: what they cost is charged to the table.
	Index bool

	// LocalIndexes says that the table has local secondary indexes, which keep
	// its item collections in one piece.
	LocalIndexes bool

	Capacity Capacity

	// Partitions is the exact number of partitions to start with, of equal
	// ranges. Zero: as many as Capacity needs.
	Partitions int

	// Boundaries are the places at which partitions start, but for the first,
	// as Set.Boundaries returns them: a set that is opened again. More are added
	// if Capacity needs them. Not together with Partitions.
	Boundaries [][]byte

	// Bytes is how much data there already is. It is taken to be evenly spread.
	Bytes int64

	// Owner is whatever the caller wants to find again by Set.Owner.
	Owner any
}

// maxProvisioned keeps sums of capacities within an int64.
const maxProvisioned = 1e12

var lastSet atomic.Uint64

// NewSet returns the partitions of a table or an index that is created, or
// opened again, now.
func (a *Account) NewSet(now time.Time, c Config) (*Set, error) {
	if c.Partitions < 0 || c.Partitions > maxPartitions || len(c.Boundaries) >= maxPartitions {
		return nil, fmt.Errorf("set %s: a set has between 1 and %d partitions", c.Resource, maxPartitions)
	}
	if err := a.provision(c.Resource, Capacity{}, c.Capacity); err != nil {
		return nil, err
	}
	s := &Set{
		id:       lastSet.Add(1),
		account:  a,
		rules:    a.rules,
		resource: c.Resource,
		owner:    c.Owner,
		index:    c.Index,
		whole:    c.LocalIndexes,
		capacity: c.Capacity,
		random:   a.rules.Seed,
		due:      never,
	}
	s.start(now)
	if c.Capacity.Mode == Provisioned {
		s.ever = c.Capacity.Provisioned
	}
	for d := range directions {
		s.flows[d] = a.rules.newFlow(d, c.Capacity, s.now)
	}
	if len(c.Boundaries) > 0 {
		s.divideAt(c.Boundaries)
		s.double(a.Partitions(c), CauseCapacity, s.now)
	} else {
		s.divide(a.Partitions(c))
	}
	s.spread(c.Bytes)
	return s, nil
}

// Partitions returns how many partitions a set starts with, unless its Boundaries
// make more.
func (a *Account) Partitions(c Config) int {
	if c.Partitions > 0 {
		return c.Partitions
	}
	var ever Rate
	if c.Capacity.Mode == Provisioned {
		ever = c.Capacity.Provisioned
	}
	return a.rules.partitions(c.Capacity, ever)
}

// provision holds a change of capacity against the quotas, and books it.
func (a *Account) provision(resource string, from, to Capacity) error {
	for d := range directions {
		if rate := to.Provisioned.of(d); to.Mode == Provisioned && (rate <= 0 || rate > maxProvisioned) {
			return fmt.Errorf("set %s: provisioned capacity is %+v, both must be between 1 and %d", resource, to.Provisioned, int64(maxProvisioned))
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	total := a.provisioned
	if from.Mode == Provisioned {
		total = Rate{total.Read - from.Provisioned.Read, total.Write - from.Provisioned.Write}
	}
	if to.Mode == Provisioned {
		total = Rate{total.Read + to.Provisioned.Read, total.Write + to.Provisioned.Write}
		for d := range directions {
			q := QuotaError{Resource: resource, Writes: d == write, Requested: to.Provisioned.of(d), Reserved: a.provisioned.of(d)}
			if q.Quota = a.rules.TableQuota.of(d); q.Requested > q.Quota {
				return &q
			}
			if q.Quota = a.rules.AccountQuota.of(d); total.of(d) > q.Quota && total.of(d) > q.Reserved {
				q.Account = true
				return &q
			}
		}
	}
	a.provisioned = total
	return nil
}
