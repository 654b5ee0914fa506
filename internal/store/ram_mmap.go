//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"fmt"
	"syscall"
)

// newPages returns memory that the garbage collector knows nothing of.
func newPages(size int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("get %d bytes of memory: %w", size, err)
	}
	return b, nil
}

func freePages(b []byte) error { return syscall.Munmap(b) }
