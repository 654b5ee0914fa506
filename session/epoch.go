package session

import (
	"context"
	"fmt"

	"github.com/heatsink-go/heatsink"
)

// With StrictRevocation, a user who had all his sessions revoked has a marker: an item of the table that is in no
// index, with a number, his epoch, which every RevokeUser increments. A session has the epoch that its user had when
// it was created, in its version, and is revoked if the user's is later. As both reads and the increment are strongly
// consistent, a session whose Create returned before RevokeUser began is revoked when that returns, and one whose
// Create began afterwards is not.
//
// Markers are never deleted: without them, epochs would begin again.

// markerPrefix begins the keys of markers. No handle begins like this.
const markerPrefix = "user#"

// epoch returns the epoch of a user, 0 if there is no marker.
func (s *Store[T]) epoch(ctx context.Context, user string) (int64, error) {
	if !s.options.StrictRevocation || user == "" {
		return 0, nil
	}
	marker, err := s.read(ctx, markerPrefix+user, nil)
	if err == nil && marker != nil {
		f := fields{item: marker}
		epoch := f.number(s.options.Names.Version)
		if f.err == nil {
			return epoch, nil
		}
		err = f.err
	}
	if err != nil {
		return 0, fmt.Errorf("epoch of user %q: %w", user, err)
	}
	return 0, nil
}

// checkEpoch is ErrNotFound if a session's user had his sessions revoked since it was created.
func (s *Store[T]) checkEpoch(ctx context.Context, handle, user string, v version) error {
	epoch, err := s.epoch(ctx, user)
	if err != nil {
		return err
	}
	if v.epoch < epoch {
		return notFound(handle)
	}
	return nil
}

// nextEpoch increments the epoch of a user and returns the new one. If somebody else does so in the same moment, that
// serves both: no session has the new one yet that was there before.
func (s *Store[T]) nextEpoch(ctx context.Context, user string) (int64, error) {
	epoch, err := s.epoch(ctx, user)
	if err != nil {
		return 0, err
	}
	err = s.update(ctx, markerPrefix+user, "SET #version = :next", "attribute_not_exists(#version) OR #version < :next",
		heatsink.Item{":next": number(epoch + 1)})
	if _, prevented := refused(err); err != nil && !prevented {
		return 0, fmt.Errorf("revoke sessions of user %q: %w", user, err)
	}
	return epoch + 1, nil
}
