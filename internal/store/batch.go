package store

import "github.com/cockroachdb/pebble/v2"

// Batch is a set of writes that become visible and durable together or not at
// all. A batch is used once: filled, applied, waited for.
type Batch struct {
	store   *Store
	b       *pebble.Batch
	crowded bool // see crowd
}

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch { return &Batch{store: s, b: s.db.NewBatch()} }

// Pebble's batches report errors of filling them only for misuse that cannot
// happen here (a nil batch, a damaged one), so these three have none to return.

// Set puts value under key.
func (b *Batch) Set(key, value []byte) {
	_ = b.b.Set(key, value, nil)
	b.crowded = b.store.crowd.add(key) || b.crowded
}

// Delete removes key.
func (b *Batch) Delete(key []byte) { _ = b.b.Delete(key, nil) }

// DeleteRange removes every key of r.
func (b *Batch) DeleteRange(r Range) { _ = b.b.DeleteRange(r.Lower, r.Upper, nil) }

// Apply makes the writes visible. They are ordered after all writes applied
// before, also after a crash, but may be lost in one until Wait returns.
func (b *Batch) Apply() error {
	apply, sync := b.store.db.Apply, pebble.NoSync
	if b.store.durable {
		apply, sync = b.store.db.ApplyNoSyncWait, pebble.Sync
	}
	if err := apply(b.b, sync); err != nil {
		return err
	}
	if b.crowded {
		return b.store.flush()
	}
	return nil
}

// flush starts a flush, which goes on in the background.
func (s *Store) flush() error {
	s.crowd.clear()
	_, err := s.db.AsyncFlush()
	return err
}

// Wait returns once the applied writes are durable; writes waiting at the same
// time share one sync of the disk. It releases the batch.
func (b *Batch) Wait() error {
	if b.store.durable {
		if err := b.b.SyncWait(); err != nil {
			return err
		}
	}
	return b.b.Close()
}

// Commit is Apply and Wait.
func (b *Batch) Commit() error {
	if err := b.Apply(); err != nil {
		return err
	}
	return b.Wait()
}

// Discard releases a batch that is not to be applied.
func (b *Batch) Discard() { _ = b.b.Close() }
