package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A data directory holds a file that says what it is, a lock, and the database:
//
//	HEATSINK   "heatsink 1\n", or "heatsink 1 new\n" until the database is there
//	LOCK       held while the store is open
//	db/        Pebble's files
const (
	markFile   = "HEATSINK"
	dbDir      = "db"
	markPrefix = "heatsink "
	formatNow  = 1
)

// Why a directory is refused.
var (
	ErrForeign = errors.New("not a heatsink data directory: it holds other files; name an empty or new directory")
	ErrNewer   = errors.New("written by a newer heatsink; use that version, or another directory")
	ErrDamaged = errors.New("damaged; restore it from a copy, or name another directory")
	ErrInUse   = errors.New("in use by another process, or open already in this one")
)

func openDir(options Options) (*Store, error) {
	dir := options.Dir
	found, err := readMark(dir)
	if err != nil {
		return nil, err
	}
	if found == markNone {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	// One name for each directory: that is how a process recognises its own lock.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	lock, err := pebble.LockDirectory(dir, vfs.Default)
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return nil, err // the lock cannot be made, which says nothing of others
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	// The mark is read again now that nobody else can be about to write it.
	found, err = readMark(dir)
	if err == nil {
		s := newStore(options, lock)
		var db *pebble.DB
		if db, err = s.openDB(dir, found, cmp.Or(options.FS, vfs.Default)); err == nil {
			return s.on(db), nil
		}
	}
	return nil, errors.Join(err, lock.Close())
}

func (s *Store) openDB(dir string, found mark, disk vfs.FS) (*pebble.DB, error) {
	path := filepath.Join(dir, dbDir)
	if found != markDone {
		if err := s.createDB(dir, path, disk); err != nil {
			return nil, err
		}
		return pebble.Open(path, s.pebbleOptions(disk))
	}
	// A look without writing first, so that a damaged store stays as it is.
	look := s.pebbleOptions(disk)
	look.ReadOnly, look.ErrorIfNotExists = true, true
	if err := openAndClose(path, look); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return pebble.Open(path, s.pebbleOptions(disk))
}

// createDB makes an empty database, and leaves it closed: Pebble starts the log
// of a new one in its oldest format, in which damage in the middle cannot be told
// from the end. The log that the next opening starts is of the newest.
func (s *Store) createDB(dir, path string, disk vfs.FS) error {
	if err := writeMark(dir, " new"); err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil { // what a creation cut short left
		return err
	}
	if err := openAndClose(path, s.pebbleOptions(disk)); err != nil {
		return err
	}
	return writeMark(dir, "")
}

func openAndClose(path string, options *pebble.Options) error {
	db, err := pebble.Open(path, options)
	if err != nil {
		return err
	}
	return db.Close()
}

type mark int

const (
	markNone mark = iota // no store yet: the directory is missing or empty
	markNew              // a creation was cut short
	markDone
)

func readMark(dir string) (mark, error) {
	text, err := os.ReadFile(filepath.Join(dir, markFile))
	if errors.Is(err, fs.ErrNotExist) {
		return markNone, checkEmpty(dir)
	}
	if err != nil {
		return markNone, err
	}
	rest, ours := strings.CutPrefix(string(text), markPrefix)
	rest, complete := strings.CutSuffix(rest, "\n")
	version, state, _ := strings.Cut(rest, " ")
	format, err := strconv.Atoi(version)
	switch {
	case !ours || !complete || err != nil || format < 1:
		return markNone, fmt.Errorf("%w: its file %s reads %.40q", ErrDamaged, markFile, text)
	case format > formatNow:
		return markNone, fmt.Errorf("%w: it has format %d, this version reads up to %d", ErrNewer, format, formatNow)
	case state == "new":
		return markNew, nil
	case state != "":
		return markNone, fmt.Errorf("%w: its file %s reads %.40q", ErrDamaged, markFile, text)
	}
	return markDone, nil
}

// checkEmpty refuses a directory with anything in it but what an Open that was
// cut short may have left.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "LOCK" && e.Name() != markFile+".tmp" {
			return fmt.Errorf("%w (it has %s)", ErrForeign, e.Name())
		}
	}
	return nil
}

// writeMark replaces the mark whole or not at all.
func writeMark(dir, state string) error {
	path := filepath.Join(dir, markFile)
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s%d%s\n", markPrefix, formatNow, state)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
