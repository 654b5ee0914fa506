package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// AwaitDurable returns once all that could be read before is durable. Who tells somebody else what was read calls it first: batches are visible
// a little before that, and a crash would take back what was told.
//
// It costs a sync of the disk while others wait for theirs, and nothing otherwise.
func (s *Store) AwaitDurable() error {
	if s.pending.Load() == 0 {
		return nil
	}
	defer s.mustGoOn()
	// A record without content has a place in the log behind all that is visible.
	if err := s.db.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("wait for the log: %w", err)
	}
	return nil
}
