package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// locks are what a store holds of its directory, in the order in which they were
// taken: the directory itself, which nobody can delete unnoticed, and its file
// LOCK, which is all that earlier versions look at.
type locks []io.Closer

// lockDir locks a directory, known by its one name, for this store alone.
func lockDir(dir string) (locks, error) {
	var held locks
	whole, err := lockWhole(dir)
	if err != nil {
		return nil, err
	}
	if whole != nil {
		held = append(held, whole)
	}
	named, err := pebble.LockDirectory(dir, vfs.Default)
	if err == nil {
		return append(held, named), nil
	}
	if pathErr := (*fs.PathError)(nil); !errors.As(err, &pathErr) { // else the lock cannot be made, which says nothing of others
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return nil, errors.Join(err, held.Close())
}

// Close lets go of the directory.
func (l locks) Close() error {
	var all []error
	for i := len(l) - 1; i >= 0; i-- {
		all = append(all, l[i].Close())
	}
	return errors.Join(all...)
}
