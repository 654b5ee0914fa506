package store

import (
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is what a store's files lie on.
type FS = vfs.FS

// What belongs to a store is for its owner alone: items may be secrets.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// The names that Pebble gives to what it writes.
const (
	flushWrites      = "pebble-memtable-flush"
	compactionWrites = "pebble-compaction"
)

// disk is what Pebble's files lie on, with four things added: files are for their
// owner alone, what is written is counted against the free space, table files are
// not begun at once after one failed, and it can be given up.
//
// Giving up is how an Open ends that cannot succeed. Pebble's waits until what was
// in the logs is in table files, for ever if those cannot be written, and takes no
// context. On a disk that was given up reads fail, and writes seem to succeed but
// change nothing. So Pebble's Open comes to an end, and the files are as they were
// before it gave up.
type disk struct {
	FS
	space   *space
	trouble *trouble
	lost    atomic.Pointer[error] // why it was given up; nil: it was not
	opening atomic.Bool           // files that are read must notice when it is given up
	nowhere FS                    // has the files that are made afterwards
}

func newDisk(on FS, space *space, trouble *trouble) *disk {
	return &disk{FS: on, space: space, trouble: trouble, nowhere: vfs.NewMem()}
}

// giveUp makes everything that waits for the disk end. The first reason counts.
func (d *disk) giveUp(why error) { d.lost.CompareAndSwap(nil, &why) }

// givenUp returns why the disk was given up, nil if it was not.
func (d *disk) givenUp() error {
	if why := d.lost.Load(); why != nil {
		return *why
	}
	return nil
}

// Unwrap returns what the disk adds to.
func (d *disk) Unwrap() FS { return d.FS }

// Create makes a file. It may pause before, if table files failed.
func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	switch category {
	case flushWrites:
		d.trouble.flush.wait()
	case compactionWrites:
		d.trouble.compaction.wait()
	}
	if d.givenUp() != nil {
		return d.newNowhere(name, category)
	}
	f, err := d.FS.Create(name, category)
	return d.opened(f, err, name, category)
}

// ReuseForWrite gives a file that is no longer needed another name.
func (d *disk) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.givenUp() != nil {
		return d.newNowhere(newName, category)
	}
	f, err := d.FS.ReuseForWrite(oldName, newName, category)
	return d.opened(f, err, newName, category)
}

// OpenReadWrite opens a file, and makes it if there is none.
func (d *disk) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	if d.givenUp() != nil {
		return d.newNowhere(name, category)
	}
	f, err := d.FS.OpenReadWrite(name, category, options...)
	return d.opened(f, err, name, category)
}

// opened makes a file that was opened for writing one of the store's.
func (d *disk) opened(f vfs.File, err error, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	d.tighten(name, fileMode)
	return &file{File: f, disk: d, compaction: category == compactionWrites}, nil
}

func (d *disk) newNowhere(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.nowhere.Create(d.PathBase(name), category)
	if err != nil {
		return nil, err
	}
	return &file{File: f, disk: d}, nil
}

// Open opens a file for reading.
func (d *disk) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	if err := d.givenUp(); err != nil {
		return nil, err
	}
	f, err := d.FS.Open(name, options...)
	if err != nil || !d.opening.Load() {
		return f, err
	}
	return &file{File: f, disk: d}, nil
}

// Lock locks a file, which it makes if there is none.
func (d *disk) Lock(name string) (io.Closer, error) {
	lock, err := d.FS.Lock(name)
	if err == nil {
		d.tighten(name, fileMode)
	}
	return lock, err
}

// OpenDir opens a directory, to be synced.
func (d *disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, disk: d}, nil
}

// MkdirAll makes a directory, whatever the mode asked for, for its owner alone.
func (d *disk) MkdirAll(dir string, _ os.FileMode) error {
	if d.givenUp() != nil {
		return nil
	}
	return d.FS.MkdirAll(dir, dirMode)
}

// Link gives a file a second name.
func (d *disk) Link(oldName, newName string) error {
	if d.givenUp() != nil {
		return nil
	}
	return d.FS.Link(oldName, newName)
}

// Remove removes a file.
func (d *disk) Remove(name string) error {
	if d.givenUp() != nil {
		return nil
	}
	return d.FS.Remove(name)
}

// RemoveAll removes a directory with everything in it.
func (d *disk) RemoveAll(name string) error {
	if d.givenUp() != nil {
		return nil
	}
	return d.FS.RemoveAll(name)
}

// Rename gives a file another name.
func (d *disk) Rename(oldName, newName string) error {
	if d.givenUp() != nil {
		return nil
	}
	return d.FS.Rename(oldName, newName)
}

// tighten takes a file's permissions from everybody but its owner. It is of no
// consequence where that is not possible: the directory keeps others out, and who
// opened the store was told if it does not.
func (d *disk) tighten(name string, mode fs.FileMode) {
	if vfs.Root(d.FS) == vfs.Default {
		_ = os.Chmod(name, mode)
	}
}

// file is one of the store's files.
type file struct {
	vfs.File
	disk       *disk
	compaction bool
}

// Write appends to the file. A compaction may not take the space that flushes
// need: it is the one writer that can wait.
func (f *file) Write(p []byte) (int, error) {
	if f.disk.givenUp() != nil {
		return len(p), nil
	}
	if f.compaction {
		if err := f.disk.space.ask(forUpkeep); err != nil {
			return 0, err
		}
	}
	n, err := f.File.Write(p)
	f.disk.space.took(n)
	return n, err
}

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	if f.disk.givenUp() != nil {
		return len(p), nil
	}
	n, err := f.File.WriteAt(p, at)
	f.disk.space.took(n)
	return n, err
}

func (f *file) Preallocate(at, length int64) error {
	if f.disk.givenUp() != nil {
		return nil
	}
	return f.File.Preallocate(at, length)
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.disk.givenUp(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *file) ReadAt(p []byte, at int64) (int, error) {
	if err := f.disk.givenUp(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

func (f *file) Sync() error {
	if f.disk.givenUp() != nil {
		return nil
	}
	return f.File.Sync()
}

func (f *file) SyncData() error {
	if f.disk.givenUp() != nil {
		return nil
	}
	return f.File.SyncData()
}

func (f *file) SyncTo(length int64) (bool, error) {
	if f.disk.givenUp() != nil {
		return true, nil
	}
	return f.File.SyncTo(length)
}
