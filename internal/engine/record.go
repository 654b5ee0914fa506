package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// A stream record is stored as
//
//	uvarint(shard) flags [uvarint(len) old image] [uvarint(len) new image] keys
//
// with the images that the stream's view holds.
const (
	hadOld    = 1 << iota // there was an item before
	hasNew                // there is one after
	byTTL                 // its time to live deleted it
	keepsOld              // the old image follows
	keepsNew              // the new image follows
	flagsUsed = iota
)

var errDamagedRecord = errors.New("stored stream record is damaged")

func appendRecord(dst []byte, shard uint32, viewType string, keys attr.Item, old, next attr.Raw, expired bool) []byte {
	both := viewType == "NEW_AND_OLD_IMAGES"
	var flags byte
	if old != nil {
		flags |= hadOld
		if both || viewType == "OLD_IMAGE" {
			flags |= keepsOld
		}
	}
	if next != nil {
		flags |= hasNew
		if both || viewType == "NEW_IMAGE" {
			flags |= keepsNew
		}
	}
	if expired {
		flags |= byTTL
	}
	dst = append(binary.AppendUvarint(dst, uint64(shard)), flags)
	if flags&keepsOld != 0 {
		dst = append(binary.AppendUvarint(dst, uint64(len(old))), old...)
	}
	if flags&keepsNew != 0 {
		dst = append(binary.AppendUvarint(dst, uint64(len(next))), next...)
	}
	return attr.AppendRaw(dst, keys, keys.Size())
}

// recordShard returns the number of a stored record's shard.
func recordShard(stored []byte) uint32 {
	n, _ := binary.Uvarint(stored)
	return uint32(n)
}

// decodeRecord returns a stored record as it is answered.
func decodeRecord(stored []byte, sequence uint64, m *streamRecord) (StreamRecord, error) {
	r := StreamRecord{
		EventID:  eventID(m.ARN, sequence),
		Created:  time.UnixMicro(int64(sequence)).UTC().Truncate(time.Second),
		Sequence: showSequence(sequence),
		ViewType: m.ViewType,
	}
	rest := bytes.Clone(stored)
	_, n := binary.Uvarint(rest)
	if n <= 0 || n >= len(rest) || rest[n]>>flagsUsed != 0 {
		return r, errDamagedRecord
	}
	flags := rest[n]
	rest = rest[n+1:]
	image := func() (attr.Raw, error) {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return nil, errDamagedRecord
		}
		raw := rest[n : n+int(size)]
		rest = rest[n+int(size):]
		return raw, nil
	}
	var err error
	if flags&keepsOld != 0 {
		if r.OldImage, err = image(); err != nil {
			return r, err
		}
	}
	if flags&keepsNew != 0 {
		if r.NewImage, err = image(); err != nil {
			return r, err
		}
	}
	r.Keys = rest
	r.Expired = flags&byTTL != 0
	r.SizeBytes = int64(r.Keys.Size() + r.OldImage.Size() + r.NewImage.Size())
	switch {
	case flags&hadOld == 0:
		r.EventName = "INSERT"
	case flags&hasNew == 0:
		r.EventName = "REMOVE"
	default:
		r.EventName = "MODIFY"
	}
	return r, nil
}

// eventID is the same for the same record, however often it is read, and
// different for different ones.
func eventID(arn string, sequence uint64) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s %d", arn, sequence)
	return hex.EncodeToString(h.Sum(nil))
}

// A sequence number is shown with 21 digits, the fewest that it may have: a 1,
// and its own twenty.
const shownSequence = "1%020d"

func showSequence(n uint64) string { return fmt.Sprintf(shownSequence, n) }

// parseSequence reads what showSequence wrote.
func parseSequence(s string) (n uint64, ok bool) {
	digits, ok := strings.CutPrefix(s, "1")
	if !ok || len(digits) != 20 {
		return 0, false
	}
	for _, d := range []byte(digits) {
		digit := uint64(d) - '0'
		if digit > 9 || n > (maxSequence-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, true
}
