package move

// bitmap is a set of hashes of fixed size.
type bitmap struct{ words []uint64 }

func newBitmap(bits int) *bitmap { return &bitmap{make([]uint64, (bits+63)/64)} }

func (b *bitmap) at(hash uint64) (word *uint64, bit uint64) {
	hash %= uint64(len(b.words) * 64)
	return &b.words[hash/64], 1 << (hash % 64)
}

func (b *bitmap) set(hash uint64) {
	word, bit := b.at(hash)
	*word |= bit
}

func (b *bitmap) has(hash uint64) bool {
	word, bit := b.at(hash)
	return *word&bit != 0
}
