package store

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrFull refuses to open a directory on a disk that is too full for it. Nothing
// is lost: what was acknowledged is in the directory's files.
var ErrFull = errors.New("the disk is too full to open the store")

// openSpace is what opening takes besides the content of the logs: a manifest, the
// options, and a new log with something in it.
const openSpace = 1 << 20

// makeRoom removes what a process that ended in the middle of things has left
// behind, if the disk is too full to open the database otherwise: table files that
// are not part of it, and space behind the ends of logs. Pebble would do it too,
// but last of all, when it has written what it needs the space for.
func (s *Store) makeRoom(path string, live map[uint64]bool) error {
	need, err := s.toOpen(path)
	if err != nil || s.free() >= need || vfs.Root(s.disk.FS) != vfs.Default {
		return err
	}
	names, err := s.disk.List(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		file := s.disk.PathJoin(path, name)
		switch stem, kind, _ := strings.Cut(name, "."); kind {
		case "sst":
			if n, err := strconv.ParseUint(stem, 10, 64); err != nil || live[n] {
				continue
			}
			if err := s.disk.Remove(file); err != nil {
				return err
			}
		case "log":
			info, err := os.Stat(file)
			if err == nil {
				err = os.Truncate(file, info.Size())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// toOpen is how much space it takes to open the database: at most what its logs
// hold, which are moved to table files.
func (s *Store) toOpen(path string) (bytes int64, err error) {
	names, err := s.disk.List(path)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			info, err := s.disk.Stat(s.disk.PathJoin(path, name))
			if err != nil {
				return 0, err
			}
			bytes += info.Size()
		}
	}
	return bytes + openSpace, nil
}

// free is how much space the disk has now, as much as there can be if it does not
// tell.
func (s *Store) free() int64 {
	usage, err := s.disk.GetDiskUsage(s.space.dir)
	if err != nil {
		return 1<<63 - 1
	}
	return int64(usage.AvailBytes)
}

// unopened is the error of an Open that was given up.
func (s *Store) unopened(why error) error {
	if !errors.Is(why, syscall.ENOSPC) && !errors.Is(why, ErrNoWrites) {
		return why
	}
	need, err := s.toOpen(s.disk.PathJoin(s.space.dir, dbDir))
	if err != nil {
		return why
	}
	return fmt.Errorf("%w: %s are free, but replaying the logs may need up to %s: free space on that disk and start again (%w)",
		ErrFull, size(s.free()), size(need+s.space.reserve/int64(forUpkeep)), why)
}
