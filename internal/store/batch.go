package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Batch is a set of writes that become visible and durable together or not at
// all. A batch is used once: filled, applied, waited for.
type Batch struct {
	store   *Store
	b       *pebble.Batch // nil once released
	crowded bool          // see crowd
	use     use           // what of the disk's space it is for
	counts  []difference
}

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch { return &Batch{store: s, b: s.db.NewBatch(), use: forDeletions} }

// Pebble's batches report errors of filling them only for misuse that cannot
// happen here (a nil batch, a damaged one), so these three have none to return.

// Set puts value under key.
func (b *Batch) Set(key, value []byte) {
	_ = b.b.Set(key, value, nil)
	b.use = min(b.use, forGrowth)
	b.crowded = b.store.crowd.add(key) || b.crowded
}

// Delete removes key.
func (b *Batch) Delete(key []byte) { _ = b.b.Delete(key, nil) }

// DeleteRange removes every key of r.
func (b *Batch) DeleteRange(r Range) { _ = b.b.DeleteRange(r.Lower, r.Upper, nil) }

// Upkeep marks a full batch as a small one that the store's own books need. It is
// taken on a disk that is too full for the writes of users.
func (b *Batch) Upkeep() { b.use = forUpkeep }

// Frees marks a full batch as one that makes room, although it stores a small record
// as well. It is taken as if it only deleted.
func (b *Batch) Frees() { b.use = forDeletions }

// Apply makes the writes visible. They are ordered after all writes applied
// before, also after a crash, but may be lost in one until Wait returns. If it
// fails, nothing was written, and the batch is released. The error is ErrNoWrites
// if it is the disk that cannot take it for now.
func (b *Batch) Apply() error {
	if err := b.store.ask(b.use); err != nil {
		b.Discard()
		return err
	}
	defer b.store.mustGoOn()
	b.count()
	apply, sync := b.store.db.Apply, pebble.NoSync
	if b.store.durable {
		apply, sync = b.store.db.ApplyNoSyncWait, pebble.Sync
		b.store.pending.Add(1)
		if b.b.Empty() {
			// Nothing to write is an answer too, to someone who saw what others
			// wrote. A record without content, which Pebble would not make of an
			// empty batch, has a place in the log after theirs to wait for.
			_ = b.b.LogData(nil, nil)
		}
	}
	writes, bytes := b.b.Count(), b.b.Len()
	if err := apply(b.b, sync); err != nil {
		if b.store.durable {
			b.store.pending.Add(-1)
		}
		b.Discard()
		return err
	}
	b.store.trouble.took(bytes)
	b.store.crowd.applied(writes)
	if b.crowded {
		b.store.flush()
	}
	return nil
}

// Room returns ErrNoWrites if a batch would be refused that frees space, as one does
// that only deletes, or one that does not. It is for those who must know before they
// fill it.
func (s *Store) Room(frees bool) error {
	if frees {
		return s.ask(forDeletions)
	}
	return s.ask(forGrowth)
}

func (s *Store) ask(what use) error {
	if !s.durable {
		return nil
	}
	if what != forUpkeep {
		if err := s.trouble.refusal(); err != nil {
			return err
		}
	}
	return s.space.ask(what)
}

// flush starts a flush, which goes on in the background. What is flushed has been
// written before, so that trouble with it is nothing to tell the writer.
func (s *Store) flush() {
	defer s.mustGoOn()
	s.crowd.clear()
	if _, err := s.db.AsyncFlush(); err != nil {
		pebbleLog{s.logger}.Errorf("start a flush: %v", err)
	}
}

// Wait returns once the applied writes are durable; writes waiting at the same
// time share one sync of the disk. It releases the batch.
//
// There is no error of writing to return: the writes are visible, others may have
// built on them, and there is no way back.
func (b *Batch) Wait() error {
	if b.store.durable {
		if err := b.b.SyncWait(); err != nil {
			fatal(b.store.logger, fmt.Sprint("write the log: ", err))
		}
		b.store.pending.Add(-1)
	}
	err := b.b.Close()
	b.b = nil
	return err
}

// Commit is Apply and Wait.
func (b *Batch) Commit() error {
	if err := b.Apply(); err != nil {
		return err
	}
	return b.Wait()
}

// Discard releases a batch that is not to be applied. It does nothing if the
// batch is released already.
func (b *Batch) Discard() {
	if b.b != nil {
		_ = b.b.Close()
		b.b = nil
	}
}
