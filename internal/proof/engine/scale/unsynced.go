package scale

import "github.com/cockroachdb/pebble/v2/vfs"

// unsynced is a file system that leaves it to the system when it writes to the disk.
type unsynced struct{ vfs.FS }

func (u unsynced) Unwrap() vfs.FS { return u.FS }

func (u unsynced) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := u.FS.Create(name, category)
	return lazy(f, err)
}

func (u unsynced) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := u.FS.ReuseForWrite(oldName, newName, category)
	return lazy(f, err)
}

func (u unsynced) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	f, err := u.FS.OpenReadWrite(name, category, options...)
	return lazy(f, err)
}

func lazy(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return lazyFile{f}, nil
}

type lazyFile struct{ vfs.File }

func (lazyFile) Sync() error                { return nil }
func (lazyFile) SyncData() error            { return nil }
func (lazyFile) SyncTo(int64) (bool, error) { return false, nil }
