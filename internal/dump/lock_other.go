//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package dump

import (
	"errors"
	"io/fs"
	"os"
)

// openLock gives everybody a lock: the system has none.
func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

func closeLock(f *os.File) error {
	err := f.Close()
	if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
