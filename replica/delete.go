package replica

import (
	"context"
	"fmt"
)

// Delete deletes an item, and returns the version of its end: Get with AtLeast of it does not find the item. It is no error
// if there is no item, unless IfVersion is given. It costs what Put costs for an item of that size.
//
// Primary and copies become tombstones, without data, so that no late write brings the item back. DynamoDB deletes them
// after an hour. The errors are those of Put.
func (s *Store[T]) Delete(ctx context.Context, id string, options ...WriteOption) (Version, error) {
	t := newTerms(options)
	err := s.check(id)
	switch {
	case err != nil:
	case !t.expires.IsZero():
		err = fmt.Errorf("%w: ExpireAt: a deleted item does not expire", ErrInput)
	case t.conditional && t.on == 0:
		err = fmt.Errorf("%w: IfVersion(0): there is nothing to delete if there is no item", ErrInput)
	}
	if err != nil {
		return 0, fmt.Errorf("delete: item %q: %w", id, err)
	}
	version, err := s.write(ctx, id, record{}, t)
	if err != nil {
		return version, fmt.Errorf("delete: %w", err)
	}
	return version, nil
}
