package partition

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// hashLength is how much of a place is its hash.
const hashLength = 8

// bound is a place as a border: the first place of a partition. rest is empty
// unless the border runs through an item collection.
type bound struct {
	hash uint64
	rest []byte
}

// boundOf splits a place into its hash and the rest. A place that is too short
// is filled up with zeros.
func boundOf(place []byte) bound {
	if len(place) >= hashLength {
		return bound{binary.BigEndian.Uint64(place), place[hashLength:]}
	}
	var filled [hashLength]byte
	copy(filled[:], place)
	return bound{hash: binary.BigEndian.Uint64(filled[:])}
}

func (b bound) compare(other bound) int {
	if c := cmp.Compare(b.hash, other.hash); c != 0 {
		return c
	}
	return bytes.Compare(b.rest, other.rest)
}

// place is the inverse of boundOf. The first place of all is nil.
func (b bound) place() []byte {
	if b.hash == 0 && len(b.rest) == 0 {
		return nil
	}
	return append(binary.BigEndian.AppendUint64(nil, b.hash), b.rest...)
}

// border returns the shortest bound that is above left and not above right:
// between two collections a hash alone, within one as much of right as differs
// from left. left must be below right.
func border(left, right bound) bound {
	if left.hash != right.hash {
		return bound{hash: right.hash}
	}
	n := 0
	for n < len(left.rest) && left.rest[n] == right.rest[n] {
		n++
	}
	return bound{right.hash, bytes.Clone(right.rest[:n+1])}
}

// middle returns the hash in the middle between two bounds, the second of which
// may be missing at the end of all hashes. It reports false if there is no whole
// hash between them: both lie in one collection.
func middle(lower bound, upper bound, last bool) (bound, bool) {
	end := uint64(math.MaxUint64)
	if !last {
		end = upper.hash
	}
	mid := bound{hash: lower.hash + (end-lower.hash)/2}
	if last {
		mid.hash += (end - lower.hash) & 1 // the range goes one further than end
	}
	if mid.compare(lower) <= 0 {
		mid.hash++
	}
	if mid.hash <= lower.hash || !last && mid.compare(upper) >= 0 {
		return bound{}, false
	}
	return mid, true
}
