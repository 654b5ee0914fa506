package engine

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"time"
)

// iterator is a place in a shard. Clients get it as the stream's ARN, a version
// and its fields, sealed with a checksum, and are not to look inside.
type iterator struct {
	arn      string
	shard    uint32
	position uint64 // the smallest sequence number to be read
	oldest   bool   // it began with the oldest record: what is trimmed is not missed
	issued   time.Time
}

const iteratorVersion = "|1|"

func (i iterator) String() string {
	b := binary.AppendUvarint(nil, uint64(i.shard))
	b = binary.AppendUvarint(b, i.position)
	b = binary.AppendVarint(b, i.issued.UnixMilli())
	if i.oldest {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.BigEndian.AppendUint32(b, i.seal(b))
	return i.arn + iteratorVersion + base64.StdEncoding.EncodeToString(b)
}

func (i iterator) seal(fields []byte) uint32 {
	return crc32.ChecksumIEEE(append([]byte(i.arn), fields...))
}

// parseIterator reads what String wrote.
func parseIterator(s string) (i iterator, ok bool) {
	arn, text, ok := strings.Cut(s, iteratorVersion)
	b, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(b) < 4 {
		return i, false
	}
	i.arn = arn
	fields := b[:len(b)-4]
	if i.seal(fields) != binary.BigEndian.Uint32(b[len(b)-4:]) {
		return i, false
	}
	shard, n := binary.Uvarint(fields)
	fields = fields[max(n, 0):]
	position, m := binary.Uvarint(fields)
	fields = fields[max(m, 0):]
	issued, k := binary.Varint(fields)
	fields = fields[max(k, 0):]
	if n <= 0 || m <= 0 || k <= 0 || len(fields) != 1 {
		return i, false
	}
	i.shard, i.position, i.oldest = uint32(shard), position, fields[0] == 1
	i.issued = time.UnixMilli(issued)
	return i, true
}
