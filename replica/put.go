package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// WriteOption changes the settings of one write.
type WriteOption func(*terms)

// terms are how an item is written.
type terms struct {
	conditional bool
	on          Version // with conditional: the version that is replaced, 0 if there must be none
	expires     time.Time
	kept        bool // expires is what the stored item has
	lazy        bool
}

// IfVersion makes a write happen only if the item has this version; 0 means that there must be no item. Otherwise the
// error is ErrConflict, or ErrNotFound if there is no item. The version may come from a client. One that no Store gives,
// negative or 2⁶¹ and more, is ErrConflict without a request.
func IfVersion(v Version) WriteOption { return func(t *terms) { t.conditional, t.on = true, v } }

// ExpireAt ends the item at a time, rounded up to seconds. From then on it is not found. DynamoDB deletes it later.
func ExpireAt(at time.Time) WriteOption { return func(t *terms) { t.expires = at } }

// Lazy makes a write return when the primary has it, without writing the copies. Readers refresh them as they do any
// old copy, so Get may return an older version for up to MaxStale. The write costs 1 write unit for each KB, however many
// copies there are. It is for items that change often.
func Lazy(t *terms) { t.lazy = true }

// Put stores an item under an id, over whatever is there, and returns its version. It writes the primary and then all
// copies at once, and returns when they are written. It costs 1 write unit for each KB of the primary and of each copy,
// and a request for each. If another process has a clock that is ahead, it may take another request.
//
// If the error is a LaggingError, the item is stored, but some copies are old: do not repeat the write. If it is a heatsink.UnknownOutcomeError, the
// item may be stored; to be certain, put it again. With any other error, nothing has changed.
func (s *Store[T]) Put(ctx context.Context, id string, data T, options ...WriteOption) (Version, error) {
	version, err := s.put(ctx, id, data, newTerms(options))
	if err != nil {
		return version, fmt.Errorf("put: %w", err)
	}
	return version, nil
}

func newTerms(options []WriteOption) (t terms) {
	for _, option := range options {
		option(&t)
	}
	return t
}

func (s *Store[T]) put(ctx context.Context, id string, data T, t terms) (Version, error) {
	r, err := s.newRecord(id, data, t)
	if err != nil {
		return 0, fmt.Errorf("item %q: %w", id, err)
	}
	return s.write(ctx, id, r, t)
}

// lastYear is that of the latest expiry: the last one that RFC 3339 can write.
const lastYear = 9999

// newRecord returns an item as it is to be stored, but for its version.
func (s *Store[T]) newRecord(id string, data T, t terms) (r record, err error) {
	if err := s.check(id); err != nil {
		return r, err
	}
	if !t.expires.IsZero() {
		if year := t.expires.UTC().Year(); year > lastYear && !t.kept {
			return r, fmt.Errorf("%w: the expiry is in the year %d, want %d at most: leave it out for an item that stays", ErrInput, year, lastYear)
		}
		r.expires = roundUp(t.expires)
		passed := !time.Now().Before(r.expires)
		if passed && t.kept {
			return r, ErrNotFound // it has expired since it was read
		}
		if passed {
			return r, fmt.Errorf("%w: the expiry %s has passed: use Delete", ErrInput, t.expires.Format(time.RFC3339))
		}
	}
	if r.data, err = attributevalue.Marshal(data); err != nil {
		return r, fmt.Errorf("%w: its data: %w", ErrInput, err)
	}
	if r.data == nil { // a record without data is that of a deleted item
		return r, fmt.Errorf("%w: its data of type %T has no DynamoDB form", ErrInput, data)
	}
	return r, s.checkSize(id, r)
}

// roundUp rounds a time up to seconds, as it is stored. A zero time stays what it is.
func roundUp(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(time.Second - 1).Truncate(time.Second).UTC()
}

// write writes a record to the primary and to the copies.
func (s *Store[T]) write(ctx context.Context, id string, r record, t terms) (Version, error) {
	r, err := s.writePrimary(ctx, id, r, t)
	if err != nil {
		return 0, fmt.Errorf("item %q: %w", id, err)
	}
	if t.lazy {
		return r.version, nil
	}
	return r.version, s.writeCopies(ctx, id, r)
}

// maxRounds is how often a write is tried with another version before it gives up. Each time it fails, somebody else has
// written.
const maxRounds = 100

// writePrimary writes a record to the primary, and returns it with its version and the time when it was sent.
func (s *Store[T]) writePrimary(ctx context.Context, id string, r record, t terms) (record, error) {
	n := &s.options.Names
	stored := t.on
	if stored < 0 || stored >= maxVersion {
		return r, fmt.Errorf("%w: IfVersion(%d): no Store gives this version; take one that a write or Get has returned", ErrConflict, stored)
	}
	for range maxRounds {
		var err error
		if r.version, err = s.next(stored); err != nil {
			return r, err
		}
		r.write, r.checked = newWrite(), time.Now()
		err = s.table.Put(ctx, n.primary(id, r), func(in *dynamodb.PutItemInput) { s.restrict(in, r, t) })
		item, prevented := refused(err)
		if !prevented {
			return r, err
		}
		there, fault := n.parsePrimary(item)
		switch {
		case fault != nil:
			return r, fault
		case there != nil && there.write == r.write: // an attempt whose answer was lost has written it
			return r, nil
		case lost(err):
			return r, err // somebody has written after it, or instead of it
		}
		if err := s.conflict(there, t); err != nil {
			return r, err
		}
		stored = there.version
	}
	return r, fmt.Errorf("%d attempts met a newer version each: %w", maxRounds, ErrConflict)
}

// restrict gives the write of a primary its condition. What another program has stored under that key is left alone.
func (s *Store[T]) restrict(in *dynamodb.PutItemInput, r record, t terms) {
	n := &s.options.Names
	condition := "attribute_not_exists(#id) OR #version < :version AND attribute_exists(#write)"
	in.ExpressionAttributeNames = map[string]string{"#id": n.ID, "#version": n.Version, "#write": n.Write}
	in.ExpressionAttributeValues = heatsink.Item{":version": number(int64(r.version))}
	if t.conditional {
		in.ExpressionAttributeNames["#data"], in.ExpressionAttributeNames["#expires"] = n.Data, n.Expires
		in.ExpressionAttributeValues[":now"] = number(time.Now().Unix())
		condition += " AND (attribute_not_exists(#data) OR #expires <= :now)"
	}
	if t.conditional && t.on != 0 {
		delete(in.ExpressionAttributeNames, "#id")
		delete(in.ExpressionAttributeValues, ":version")
		in.ExpressionAttributeValues[":on"] = number(int64(t.on))
		condition = "#version = :on AND attribute_exists(#write) AND attribute_exists(#data) AND (attribute_not_exists(#expires) OR #expires > :now)"
	}
	in.ConditionExpression = &condition
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
}

// conflict says why a write did not happen, nil if it only needs a greater version.
func (s *Store[T]) conflict(there *record, t terms) error {
	living := there.lives(time.Now())
	switch {
	case t.conditional && t.on == 0 && living:
		return fmt.Errorf("%w: it must not exist, and has version %d", ErrConflict, there.version)
	case t.conditional && t.on != 0 && !living:
		return ErrNotFound
	case t.conditional && t.on != 0:
		return fmt.Errorf("%w: %d, want %d", ErrConflict, there.version, t.on)
	case there == nil: // only if it was deleted in this moment, and not by this package
		return fmt.Errorf("%w: it was there, and is not any more", ErrConflict)
	}
	return nil
}

// maxWriters is how many copies one write writes at the same time.
const maxWriters = 25

// writeCopies writes a record to all copies. The error is a LaggingError.
func (s *Store[T]) writeCopies(ctx context.Context, id string, r record) error {
	faults := make([]error, s.options.Copies)
	s.each(func(copy int) {
		key := s.copyKey(id, copy)
		faults[copy] = s.writeCopy(ctx, s.table, key, r, nil)
		if item, prevented := refused(faults[copy]); prevented {
			if _, faults[copy] = s.options.Names.parseCopy(item); faults[copy] != nil {
				faults[copy] = fmt.Errorf("copy %q: %w", key, faults[copy])
			}
		}
	})
	return s.lagging(id, r.version, faults)
}

// each calls a function for every copy, some at a time, and returns when all have returned.
func (s *Store[T]) each(do func(copy int)) {
	turns := make(chan struct{}, maxWriters)
	var all sync.WaitGroup
	for copy := range s.options.Copies {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			do(copy)
		})
	}
	all.Wait()
}

// lagging returns a LaggingError if there are faults of copies.
func (s *Store[T]) lagging(id string, version Version, faults []error) error {
	lag := &LaggingError{ID: id, Version: version, Copies: s.options.Copies, MaxStale: s.options.MaxStale, Err: errors.Join(faults...)}
	for _, fault := range faults {
		if fault != nil {
			lag.Lagging++
		}
	}
	if lag.Lagging == 0 {
		return nil
	}
	return lag
}
