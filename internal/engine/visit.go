package engine

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// What one partition takes in a second, which is how many of them a table has
// that nobody counts partitions of.
const (
	partitionReads  = 3000
	partitionWrites = 1000
)

// visited is how many partitions a page of a Scan comes to. Each costs at least
// the smallest read, also if it holds nothing: a new table on demand has four.
func (r *read) visited() int {
	from, to := r.hashOf(r.within.Lower, 0), r.hashOf(r.within.Upper, 0)-1
	if r.out.LastEvaluatedKey != nil {
		to = r.hashOf(r.keyOf(r.out.LastEvaluatedKey), math.MaxUint64)
	}
	if set := r.partitions(); set != nil {
		return set.Between(time.Now(), binary.BigEndian.AppendUint64(nil, from), binary.BigEndian.AppendUint64(nil, to))
	}
	warm := r.table.record.Description.Warm
	if r.index != nil && !r.index.local {
		warm = r.table.record.Description.global(r.index.name).Warm
	}
	n := uint64(max(1, (warm.Read+partitionReads-1)/partitionReads, (warm.Write+partitionWrites-1)/partitionWrites))
	first, _ := bits.Mul64(from, n)
	last, _ := bits.Mul64(to, n)
	return int(last-first) + 1
}

// hashOf is the hash that a key in what is read begins with, and end for one
// behind it.
func (r *read) hashOf(key []byte, end uint64) uint64 {
	prefix := store.AppendIndex(nil, r.table.record.ID, r.indexID())
	place, ok := bytes.CutPrefix(key, prefix)
	if !ok {
		return end
	}
	var hash [hashLength]byte
	copy(hash[:], place)
	return binary.BigEndian.Uint64(hash[:])
}
