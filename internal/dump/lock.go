package dump

import (
	"errors"
	"fmt"
	"os"
)

// lock is an empty file that keeps others from the same export or import. It is gone when it is let go; one that a killed process has
// left is taken over.
type lock struct{ file *os.File }

// errHeld says that somebody has the lock, in this process or another one.
var errHeld = errors.New("somebody has the lock")

func takeLock(path string) (*lock, error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf("%s: not a lock: it is not empty", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lock{f}, nil
}

func (l *lock) release() error { return closeLock(l.file) }
