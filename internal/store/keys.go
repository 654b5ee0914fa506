package store

import "encoding/binary"

// A key's first byte says what it is the key of.
const (
	tableSpace  = 0x01 // name -> description of the table
	itemSpace   = 0x02 // table, index, key -> item
	streamSpace = 0x03 // stream -> description of the stream
	recordSpace = 0x04 // stream, sequence number -> stream record
	tokenSpace  = 0x05 // expiry, token -> outcome of a transaction
	_           = 0x06 // what tables held, in directories of format 1 while closed
	borderSpace = 0x07 // table, index -> where its partitions meet, while closed

	backupSpace  = 0x08 // backup -> description of the backup
	historySpace = 0x09 // table, time, sequence number -> an item as it was before
)

// TableKey is the key of a table's description.
func TableKey(name string) []byte { return append([]byte{tableSpace}, name...) }

// Tables are the descriptions of all tables.
func Tables() Range { return prefixRange([]byte{tableSpace}) }

// BaseIndex is the index number of a table's own items.
const BaseIndex = 0

// AppendIndex appends the prefix of all keys of one table's items (BaseIndex),
// or of one of its indexes. What follows is the item's place in it.
func AppendIndex(dst []byte, table uint32, index uint16) []byte {
	dst = append(dst, itemSpace)
	dst = binary.BigEndian.AppendUint32(dst, table)
	return binary.BigEndian.AppendUint16(dst, index)
}

// Place returns what follows the prefix that AppendIndex makes.
func Place(key []byte) []byte { return key[1+4+2:] }

// Index is everything in one table's items or in one of its indexes.
func Index(table uint32, index uint16) Range {
	return prefixRange(AppendIndex(nil, table, index))
}

// Items is everything a table holds, its indexes included.
func Items(table uint32) Range {
	return prefixRange(binary.BigEndian.AppendUint32([]byte{itemSpace}, table))
}

// Derived is everything a table holds besides its own items: its indexes.
func Derived(table uint32) Range {
	return Range{AppendIndex(nil, table, BaseIndex+1), Items(table).Upper}
}

// StreamKey is the key of a stream's description.
func StreamKey(stream uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{streamSpace}, stream)
}

// Streams are the descriptions of all streams.
func Streams() Range { return prefixRange([]byte{streamSpace}) }

// RecordKey is the key of a stream record.
func RecordKey(stream uint32, sequence uint64) []byte {
	key := binary.BigEndian.AppendUint32([]byte{recordSpace}, stream)
	return binary.BigEndian.AppendUint64(key, sequence)
}

// RecordSequence returns the sequence number in a RecordKey.
func RecordSequence(key []byte) uint64 { return binary.BigEndian.Uint64(key[5:]) }

// Records are a stream's records with sequence numbers from first up to but not
// including end.
func Records(stream uint32, first, end uint64) Range {
	return Range{RecordKey(stream, first), RecordKey(stream, end)}
}

// TokenKey is the key of a transaction's outcome; the soonest to expire sorts
// first.
func TokenKey(expiry int64, token string) []byte {
	key := binary.BigEndian.AppendUint64([]byte{tokenSpace}, uint64(expiry))
	return append(key, token...)
}

// Token returns the token in a TokenKey.
func Token(key []byte) string { return string(key[1+8:]) }

// Tokens are the outcomes of all transactions still remembered.
func Tokens() Range { return prefixRange([]byte{tokenSpace}) }

// BordersKey is the key of the borders between the partitions of a table or index.
func BordersKey(table uint32, index uint16) []byte {
	key := binary.BigEndian.AppendUint32([]byte{borderSpace}, table)
	return binary.BigEndian.AppendUint16(key, index)
}

// Borders are the borders of all tables' and indexes' partitions.
func Borders() Range { return prefixRange([]byte{borderSpace}) }

// BackupKey is the key of a backup's description.
func BackupKey(backup uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{backupSpace}, backup)
}

// Backups are the descriptions of all backups.
func Backups() Range { return prefixRange([]byte{backupSpace}) }

// HistoryKey is the key of what a table's item was before a change, by the time of
// the change, in nanoseconds since 1970, and its sequence number.
func HistoryKey(table uint32, at, sequence uint64) []byte {
	key := binary.BigEndian.AppendUint32([]byte{historySpace}, table)
	key = binary.BigEndian.AppendUint64(key, at)
	return binary.BigEndian.AppendUint64(key, sequence)
}

// HistoryTime returns the time and the sequence number in a HistoryKey.
func HistoryTime(key []byte) (at, sequence uint64) {
	return binary.BigEndian.Uint64(key[5:]), binary.BigEndian.Uint64(key[13:])
}

// History is what a table's items were before the changes since from, up to but not
// including end.
func History(table uint32, from, end uint64) Range {
	return Range{HistoryKey(table, from, 0), HistoryKey(table, end, 0)}
}

// Range is the keys from Lower up to but not including Upper.
type Range struct{ Lower, Upper []byte }

func prefixRange(prefix []byte) Range { return Range{prefix, After(prefix)} }

// After returns the smallest key that is greater than every key that starts with
// prefix. The prefixes here never consist of FF alone.
func After(prefix []byte) []byte {
	end := len(prefix)
	for end > 0 && prefix[end-1] == 0xFF {
		end--
	}
	after := append([]byte(nil), prefix[:end]...)
	after[end-1]++
	return after
}
