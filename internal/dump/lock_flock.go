//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dump

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openLock opens and locks a file. Some networks' file systems have no locks; there everybody gets one.
func openLock(path string) (*os.File, error) {
	for range 100 { // where files do not keep their identity, it would never end
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		for {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			if !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(errHeld, f.Close())
		}
		if isAt(f, path) {
			return f, nil
		}
		_ = f.Close() // whoever had it has removed it meanwhile
	}
	return nil, fmt.Errorf("%s: the lock is gone each time that it is taken: remove the file, and use another file system if that does not help", path)
}

// isAt reports whether the file still has its name.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// closeLock removes the file while it is locked, so that nobody else's is removed.
func closeLock(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }
