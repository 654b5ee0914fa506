package store

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ram is what the files of a store in memory lie on. Table files have almost all of
// the bytes. In Go's heap they would take twice their size, as the collector lets
// the heap double before it looks for garbage. So they are outside of it.
type ram struct {
	FS     // has all names, and what other files contain
	mu     sync.Mutex
	tables map[string]*pages // what table files contain, by name
}

func newRAM() *ram { return &ram{FS: vfs.NewMem(), tables: map[string]*pages{}} }

// release returns all memory to the system. Files that are still open cannot be
// read any more.
func (r *ram) release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var faults []error
	for name, p := range r.tables {
		delete(r.tables, name)
		faults = append(faults, p.free())
	}
	return errors.Join(faults...)
}

// Unwrap returns what has the names.
func (r *ram) Unwrap() FS { return r.FS }

// Create makes a file.
func (r *ram) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := r.FS.Create(name, category)
	if err != nil || !strings.HasSuffix(name, ".sst") {
		return f, err
	}
	p := &pages{uses: 2} // its name, and this file
	r.mu.Lock()
	former := r.tables[name]
	r.tables[name] = p
	r.mu.Unlock()
	return &tableFile{File: f, pages: p}, former.done()
}

// Open opens a file for reading.
func (r *ram) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	f, err := r.FS.Open(name, options...)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.tables[name]
	if p == nil {
		return f, nil
	}
	p.use()
	return &tableFile{File: f, pages: p}, nil
}

// Remove removes a file. Its memory is returned when nobody has it open.
func (r *ram) Remove(name string) error {
	if err := r.FS.Remove(name); err != nil {
		return err
	}
	r.mu.Lock()
	p := r.tables[name]
	delete(r.tables, name)
	r.mu.Unlock()
	return p.done()
}

// Link, Rename and ReuseForWrite are for files that the store's database never
// makes of table files. Those are refused, so that none comes to be empty.

// Link gives a file a second name.
func (r *ram) Link(oldName, newName string) error {
	if r.isTable(oldName) {
		return errors.ErrUnsupported
	}
	return r.FS.Link(oldName, newName)
}

// Rename gives a file another name.
func (r *ram) Rename(oldName, newName string) error {
	if r.isTable(oldName) {
		return errors.ErrUnsupported
	}
	return r.FS.Rename(oldName, newName)
}

// ReuseForWrite gives a file that is no longer needed another name.
func (r *ram) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if r.isTable(oldName) {
		return nil, errors.ErrUnsupported
	}
	return r.FS.ReuseForWrite(oldName, newName, category)
}

func (r *ram) isTable(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables[name] != nil
}

// tableFile is an open table file.
type tableFile struct {
	vfs.File // of the name
	pages    *pages
	at       int64 // what Read comes to next
}

func (t *tableFile) Write(p []byte) (int, error) { return t.pages.append(p) }

func (t *tableFile) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }

func (t *tableFile) ReadAt(p []byte, at int64) (int, error) { return t.pages.readAt(p, at) }

func (t *tableFile) Read(p []byte) (int, error) {
	n, err := t.pages.readAt(p, t.at)
	t.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (t *tableFile) Stat() (vfs.FileInfo, error) {
	info, err := t.File.Stat()
	return sized{info, t.pages.length()}, err
}

// sized is what is known of a file, with the size of what it contains.
type sized struct {
	vfs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

func (t *tableFile) Close() error { return errors.Join(t.pages.done(), t.File.Close()) }

// pages are bytes outside of Go's heap. They are freed with their last use.
type pages struct {
	mu     sync.RWMutex
	chunks [][]byte // all full but the last
	size   int64
	uses   int
	freed  bool
}

// chunkSize is how much memory is asked for at once. The system provides it when it
// is first touched, so that a small file takes little of it.
const chunkSize = 1 << 20

func (p *pages) use() {
	p.mu.Lock()
	p.uses++
	p.mu.Unlock()
}

// done ends a use, nil has none.
func (p *pages) done() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	p.uses--
	last := p.uses == 0
	p.mu.Unlock()
	if last {
		return p.free()
	}
	return nil
}

func (p *pages) free() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var faults []error
	for _, c := range p.chunks {
		faults = append(faults, freePages(c))
	}
	p.chunks, p.freed = nil, true
	return errors.Join(faults...)
}

func (p *pages) length() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.size
}

func (p *pages) append(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n < len(b) {
		if p.freed {
			return n, os.ErrClosed
		}
		at := p.size % chunkSize
		if at == 0 {
			chunk, err := newPages(chunkSize)
			if err != nil {
				return n, err
			}
			p.chunks = append(p.chunks, chunk)
		}
		m := copy(p.chunks[len(p.chunks)-1][at:], b[n:])
		n += m
		p.size += int64(m)
	}
	return n, nil
}

func (p *pages) readAt(b []byte, at int64) (n int, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.freed {
		return 0, os.ErrClosed
	}
	for n < len(b) && at < p.size {
		chunk := p.chunks[at/chunkSize][at%chunkSize:]
		m := copy(b[n:], chunk[:min(int64(len(chunk)), p.size-at)])
		n += m
		at += int64(m)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
