package store

import (
	"context"
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
//	HEATSINK   "heatsink 2\n", or "heatsink 2 new\n" until the database is there
//	LOCK       held while the store is open
//	db/        Pebble's files
//
// Format 1 had no tallies (see Tally), no backups and no history. A directory of it
// becomes one of format 2 when it is opened: whoever knows format 1 alone would
// neither keep tallies right nor add to the history.
const (
	markFile   = "HEATSINK"
	dbDir      = "db"
	markPrefix = "heatsink "
	formatNow  = 2
)

// Why a directory is refused.
var (
	ErrForeign = errors.New("not a heatsink data directory: it contains other files; use an empty or new directory")
	ErrNewer   = errors.New("written by a newer version of heatsink; use that version, or another directory")
	ErrDamaged = errors.New("damaged; restore it from a backup, or use another directory")
	ErrInUse   = errors.New("in use by another process, or already open in this one")
)

func openDir(ctx context.Context, options Options) (*Store, error) {
	dir := options.Dir
	found, err := readMark(dir)
	if err != nil {
		return nil, err
	}
	if found == markNone {
		if err := os.MkdirAll(dir, dirMode); err != nil {
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
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	// The mark is read again now that nobody else can be about to write it.
	found, err = readMark(dir)
	if err == nil {
		s := newStore(options, lock)
		if err = s.openOn(ctx, dir, found, options); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, lock.Close())
}

// openOn opens the store in a directory that it has locked.
func (s *Store) openOn(ctx context.Context, dir string, found mark, options Options) error {
	var on FS = vfs.Default
	if options.FS != nil {
		on = options.FS
	}
	space, total, err := newSpace(on, dir, options.Reserve, s.logger)
	if err != nil {
		return err
	}
	s.space, s.disk = space, newDisk(on, space, s.trouble)
	if total > 0 {
		s.table = uint64(min(max(total/reservePart/(2*memTables), minMemTableSize), memTableSize))
	}
	s.trouble.allowed = int64(s.table)
	s.tighten(dir)
	stop := context.AfterFunc(ctx, func() { s.disk.giveUp(context.Cause(ctx)) })
	s.disk.opening.Store(true)
	db, err := s.openDB(dir, found)
	s.disk.opening.Store(false)
	stop()
	if lost := s.disk.givenUp(); lost != nil {
		if db != nil {
			s.trouble.end()
			_ = db.Close() // of what it could not do, lost tells
		}
		return s.unopened(lost)
	}
	if err != nil {
		if db != nil {
			s.trouble.end()
			err = errors.Join(err, db.Close())
		}
		return err
	}
	s.on(db)
	_ = s.space.ask(forGrowth) // says so if there is too little space to begin with
	if s.space.ask(forUpkeep) == nil {
		return nil
	}
	s.trouble.end()
	return errors.Join(fmt.Errorf("%w: %s are free, but a quarter of the reserve, %s, must be: free space on that disk, or set a smaller reserve",
		ErrFull, size(s.free()), size(s.space.reserve/int64(forUpkeep))), db.Close())
}

// tighten makes what the store has in the directory its owner's alone, also what
// earlier versions left open. The directory itself keeps its mode: who made it may
// have others use it, and nothing of the store can be read through it.
func (s *Store) tighten(dir string) {
	err := os.Chmod(filepath.Join(dir, dbDir), dirMode)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && s.logger != nil {
		s.logger.Warn("store: other users may be able to read the data", "dir", dir, "error", err.Error())
	}
	for _, pattern := range []string{markFile, "LOCK", filepath.Join(dbDir, "*")} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range paths {
			_ = os.Chmod(path, fileMode)
		}
	}
}

func (s *Store) openDB(dir string, found mark) (*pebble.DB, error) {
	path := filepath.Join(dir, dbDir)
	if found == markNone || found == markNew {
		if err := s.createDB(dir, path); err != nil {
			return nil, err
		}
		return pebble.Open(path, s.pebbleOptions(s.disk))
	}
	// A look without writing first, so that a damaged store stays as it is.
	live, err := s.lookAt(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := s.makeRoom(path, live); err != nil {
		return nil, err
	}
	db, err := pebble.Open(path, s.pebbleOptions(s.disk))
	if err == nil && found == markFormer && s.disk.givenUp() == nil {
		err = writeMark(dir, "")
	}
	return db, err
}

// lookAt opens a database without changing it, and returns the numbers of its table
// files.
func (s *Store) lookAt(path string) (live map[uint64]bool, err error) {
	look := s.pebbleOptions(s.disk)
	look.ReadOnly, look.ErrorIfNotExists = true, true
	db, err := pebble.Open(path, look)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	levels, err := db.SSTables()
	if err != nil {
		return nil, err
	}
	live = map[uint64]bool{}
	for _, level := range levels {
		for i := range level {
			live[uint64(level[i].FileNum)], live[uint64(level[i].BackingSSTNum)] = true, true
		}
	}
	return live, checkLogs(s.disk, path)
}

// createDB makes an empty database, and leaves it closed: Pebble starts the log
// of a new one in its oldest format, in which damage in the middle cannot be told
// from the end. The log that the next opening starts is of the newest.
func (s *Store) createDB(dir, path string) error {
	if err := writeMark(dir, " new"); err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil { // what a creation cut short left
		return err
	}
	if err := openAndClose(path, s.pebbleOptions(s.disk)); err != nil {
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
	markNone   mark = iota // no store yet: the directory is missing or empty
	markNew                // a creation was cut short
	markFormer             // a store of a former format
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
		return markNone, fmt.Errorf("%w: its format is %d, but this version reads up to %d", ErrNewer, format, formatNow)
	case state == "new":
		return markNew, nil
	case state != "":
		return markNone, fmt.Errorf("%w: its file %s reads %.40q", ErrDamaged, markFile, text)
	case format < formatNow:
		return markFormer, nil
	}
	return markDone, nil
}

// lostAndFound is in the root of a new volume.
const lostAndFound = "lost+found"

// checkEmpty refuses a directory with anything in it but what an Open that was
// cut short may have left, or whoever made the volume.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "LOCK" && e.Name() != markFile+".tmp" && e.Name() != lostAndFound {
			return fmt.Errorf("%w (it has %s)", ErrForeign, e.Name())
		}
	}
	return nil
}

// writeMark replaces the mark whole or not at all.
func writeMark(dir, state string) error {
	path := filepath.Join(dir, markFile)
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
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
