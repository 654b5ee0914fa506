package dump

import (
	"errors"
	"os"
	"syscall"
)

const sharingViolation = syscall.Errno(32)

// openLock opens a file that nobody else can open meanwhile.
func openLock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, errHeld
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// closeLock removes the file, unless somebody else has it by then.
func closeLock(f *os.File) error {
	err := f.Close()
	_ = os.Remove(f.Name())
	return err
}
