package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/wal"
)

// Pebble reads the logs that it finds, in the order of their numbers, and does not
// miss one that is gone: numbers are shared with other files, so that they have
// gaps anyway. What has none are the sequence numbers of writes. Each batch in a
// log has the first of its own and how many it takes, and the next batch goes on
// there, in the same log or in the next.
//
// Where the logs must begin is in the manifest: the number of the first log that
// is not in table files yet. Such a log may be missing in one case. Opening a store
// takes a number for the log-to-be, writes it down, and then gives the log another
// one; the first write of that log is then the one after the last that the same
// entry of the manifest names.
//
// What cannot be told from a crash is a last log that is gone or cut off: nothing
// comes after it that would be out of place.

// checkLogs returns ErrDamaged if a log is missing that others of a database in
// path go on after. Nobody writes to it meanwhile.
func checkLogs(disk FS, path string) error {
	from, err := firstLog(disk, path)
	if err != nil {
		return err
	}
	all, err := wal.Scan(wal.Dir{FS: disk, Dirname: path})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(log wal.LogicalLog) bool { return uint64(log.Num) < from.log })
	if len(all) == 0 {
		return nil
	}
	// Where the first log is the one that the manifest names, it may have begun
	// before the manifest was written, and so may the next, but none after it.
	next, exact := from.next, uint64(all[0].Num) != from.log
	previous := logName(from.log)
	for i, log := range all {
		first, end, err := sequence(log, i == len(all)-1)
		if err != nil {
			return err
		}
		if end == 0 {
			continue // nothing was written to it
		}
		if next != 0 && (first > next || exact && first < next) {
			return fmt.Errorf("a log is missing: %s should continue after %s with write %d, but begins with write %d",
				logName(uint64(log.Num)), previous, next, first)
		}
		next, previous, exact = end, logName(uint64(log.Num)), false
	}
	return nil
}

func logName(n uint64) string { return fmt.Sprintf("%06d.log", n) }

// sequence returns the sequence number of a log's first write and the one after
// that of its last, 0 if it has none. Of the last log the first write is enough.
func sequence(log wal.LogicalLog, last bool) (first, end uint64, err error) {
	r := log.OpenForRead()
	defer func() { err = errors.Join(err, r.Close()) }()
	var head [batchrepr.HeaderLen]byte
	for {
		batch, _, err := r.NextRecord()
		if err == nil {
			_, err = io.ReadFull(batch, head[:])
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, record.ErrUnexpectedEOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil // Pebble has found that it may end so
			}
			return first, end, err
		}
		h, _ := batchrepr.ReadHeader(head[:])
		if h.Count == 0 {
			continue // a mark in the log
		}
		if end == 0 {
			first = uint64(h.SeqNum)
		}
		end = uint64(h.SeqNum) + uint64(h.Count)
		if last {
			return first, end, nil
		}
	}
}

// logStart is where a manifest says that the logs begin.
type logStart struct {
	log  uint64 // the number of the first log
	next uint64 // the sequence number after the last when that was written; 0: not known
}

// The fields of a manifest's entry that come before its files.
const (
	fieldComparer     = 1
	fieldLog          = 2
	fieldNextFile     = 3
	fieldLastSequence = 4
	fieldPreviousLog  = 9
)

// firstLog reads where the logs begin from the manifest.
func firstLog(disk FS, path string) (start logStart, err error) {
	about, err := pebble.Peek(path, disk)
	if err != nil {
		return start, err
	}
	f, err := disk.Open(about.ManifestFilename)
	if err != nil {
		return start, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	entries := record.NewReader(f, 0)
	for {
		entry, err := entries.Next()
		var text []byte
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(entry, 1<<10))
		}
		if err != nil {
			if errors.Is(err, io.EOF) || record.IsInvalidRecord(err) {
				err = nil // as Pebble takes it
			}
			return start, err
		}
		start.read(text)
	}
}

// read takes the fields of an entry that matter. Pebble writes them in this order
// and before those that have other shapes, at which it stops.
func (s *logStart) read(entry []byte) {
	changed, whole := false, false
	number := func() (n uint64) {
		n, size := binary.Uvarint(entry)
		entry = entry[max(size, 0):]
		if size <= 0 {
			n, entry = math.MaxUint64, nil
		}
		return n
	}
	for len(entry) > 0 {
		switch number() {
		case fieldComparer:
			whole = true // the first entry, which sums up an earlier manifest
			entry = entry[min(number(), uint64(len(entry))):]
		case fieldLog:
			if n := number(); n != s.log {
				s.log, s.next, changed = n, 0, true
			}
		case fieldNextFile, fieldPreviousLog:
			number()
		case fieldLastSequence:
			if n := number(); changed && !whole {
				s.next = n + 1
			}
		default:
			return
		}
	}
}
