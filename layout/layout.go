package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/quote"
)

const (
	// MaxShards is the largest number of shards of a layout.
	MaxShards = 1 << 16

	// MaxShardKeys is how many shard keys ShardKeys returns at most: buckets times shards.
	MaxShardKeys = 100_000

	// maxKeyBytes is the longest partition key that DynamoDB takes.
	maxKeyBytes = 2048
)

// Strategy says how the shard of an item is chosen.
type Strategy uint8

// The strategies. The zero value is Random.
const (
	// Random draws the shard of every write: the most even, but an item cannot be found again without asking all shards.
	Random Strategy = iota

	// Calculated takes the shard from a hash of the item's id: an item is read, changed and deleted with one request, as
	// long as there is one shard that it can be in. BareZero, Older layouts and Widths add others.
	Calculated
)

var strategyNames = [...]string{"random", "calculated"}

// String returns the strategy's name in lower case.
func (s Strategy) String() string {
	if s.valid() {
		return strategyNames[s]
	}
	return fmt.Sprintf("Strategy(%d)", uint8(s))
}

// MarshalText returns the strategy's name, as String does. The error wraps ErrInvalid.
func (s Strategy) MarshalText() ([]byte, error) {
	return marshalName("strategy", s, strategyNames[:])
}

// UnmarshalText reads the name of a strategy. The error wraps ErrInvalid, and leaves the strategy as it was.
func (s *Strategy) UnmarshalText(text []byte) error {
	return unmarshalName("strategy", s, text, strategyNames[:])
}

func (s Strategy) valid() bool { return int(s) < len(strategyNames) }

// Layout says how a key becomes the shard keys that are stored, and back. It is a plain value, the same one for writing,
// reading and parsing; it can be compared, copied and kept in a constant place. The zero Layout leaves keys as they are.
//
// Its law: for every key, time and shard, either ShardKey refuses, or Parse of what it returns gives the same key, the
// start of the bucket and the same shard. Which keys are refused depends on Format and Bucket, never on Shards, so a
// layout that grows goes on taking the keys it took, unless a longer number makes one too long.
type Layout struct {
	// Shards is the number of shards, MaxShards at most. With 0 the key is not spread: it is stored as it is, with the
	// bucket if there is one. From 1 on every shard key has a suffix, but for shard 0 of a format with BareZero.
	Shards int

	// Strategy says how a shard is chosen.
	Strategy Strategy

	// Bucket is the stretch of time that shares shard keys.
	Bucket Bucket

	// Hash finds the shard of an id if the strategy is Calculated.
	Hash Hash

	// Format says how shard keys are spelt.
	Format Format
}

// Place is what a shard key says.
type Place struct {
	Key    string
	Bucket time.Time // when the bucket starts, in UTC; the zero time without a bucket
	Shard  int       // counted from 0, whatever the format counts from
}

// Validate reports everything that is wrong with the layout. The error wraps ErrInvalid.
func (l Layout) Validate() error { return l.validate() }

// validate, like all that is on the way to a shard key, has a pointer to the layout: copying it costs as much as the work.
func (l *Layout) validate() error {
	var faults []error
	if l.Shards < 0 || l.Shards > MaxShards {
		faults = append(faults, fmt.Errorf("there may be 0 to %d shards, not %d", MaxShards, l.Shards))
	}
	if !l.Strategy.valid() {
		faults = append(faults, fmt.Errorf("unknown strategy %s", l.Strategy))
	}
	if !l.Bucket.valid() {
		faults = append(faults, fmt.Errorf("unknown bucket %s", l.Bucket))
	}
	if !l.Hash.valid() {
		faults = append(faults, fmt.Errorf("unknown hash %s", l.Hash))
	}
	if err := l.Format.validate(); err != nil {
		faults = append(faults, err)
	}
	if faults != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(faults...))
	}
	return nil
}

// WithShards returns the layout with another number of shards.
func (l Layout) WithShards(n int) Layout {
	l.Shards = n
	return l
}

// String describes the layout in a line, such as
// "calculated by xxhash over 10 shards per day: {key}#{bucket}#SHARD_{shard}".
func (l Layout) String() string {
	var b strings.Builder
	if l.Shards == 0 {
		b.WriteString("not sharded")
	} else {
		b.WriteString(l.Strategy.String())
		if l.Strategy == Calculated {
			b.WriteString(" by " + l.Hash.String())
		}
		b.WriteString(" over " + countShards(l.Shards))
	}
	if l.Bucket != NoBucket {
		b.WriteString(" per " + l.Bucket.String())
	}
	b.WriteString(": " + l.Template())
	return b.String()
}

// Template returns how the layout spells shard keys, as ParseFormat reads it: "{key}#{bucket}#SHARD_{shard}". There is no
// {bucket} without a bucket, and no {shard} without shards.
func (l Layout) Template() string { return l.Format.template(l.Bucket != NoBucket, l.Shards != 0) }

func countShards(n int) string {
	if n == 1 {
		return "1 shard"
	}
	return fmt.Sprintf("%d shards", n)
}

// Shard returns the shard that the item with this id has in a Calculated layout.
func (l Layout) Shard(id string) int { return l.Hash.Shard(id, l.Shards) }

// Draw returns a shard at random, as a write to a Random layout does, each with the same probability. The draws of a
// seeded r can be repeated; a nil r is the generator of the process. r must not be used concurrently.
func (l Layout) Draw(r *rand.Rand) int {
	switch {
	case l.Shards < 2:
		return 0
	case r == nil:
		return rand.IntN(l.Shards)
	}
	return r.IntN(l.Shards)
}

// Turn returns the shard of the nth write, counted from 0, if shards take turns: after any number of writes, no shard has
// more than one more than another. Draw needs head room for chance instead, but no counter that all writers share.
func (l Layout) Turn(n uint64) int {
	if l.Shards < 2 {
		return 0
	}
	return int(n % uint64(l.Shards))
}

// ShardKey returns the partition key to store for a key. at is the time of the event that the item tells of, not of the
// write; without a bucket it is ignored. The error wraps ErrKey, ErrTime, ErrShard or ErrInvalid.
//
// Refused are the empty key, a key that is not valid UTF-8, one that would exceed the 2,048 bytes of a partition key,
// and one that already ends like a shard key or a bucket of this format: most likely a shard key was taken for a key.
func (l Layout) ShardKey(key string, at time.Time, shard int) (string, error) {
	if err := l.validate(); err != nil {
		return "", err
	}
	return l.shardKey(key, at, shard)
}

// shardKey is ShardKey of a layout that is known to be valid.
func (l *Layout) shardKey(key string, at time.Time, shard int) (string, error) {
	room := len(key) + len(l.Format.shardPrefix()) + max(l.Format.Width, numberBytes)
	if l.Bucket.timed() {
		room += len(l.Format.bucketPrefix()) + len(l.Format.hourMark()) + bucketBytes
	}
	text, err := l.appendShardKey(make([]byte, 0, room), key, at, shard)
	return textOf(text), err // nobody else has text
}

// The most bytes of a shard's number without padding, and of a bucket without its marks.
const (
	numberBytes = len("65536")
	bucketBytes = len("2006-01-0215")
)

// AppendShardKey appends what ShardKey returns to dst. If there is an error it returns dst as it was.
func (l Layout) AppendShardKey(dst []byte, key string, at time.Time, shard int) ([]byte, error) {
	if err := l.validate(); err != nil {
		return dst, err
	}
	return l.appendShardKey(dst, key, at, shard)
}

func (l *Layout) appendShardKey(dst []byte, key string, at time.Time, shard int) ([]byte, error) {
	if shard < 0 || shard >= max(1, l.Shards) {
		return dst, fmt.Errorf("%w: %d of %d, counted from 0", ErrShard, shard, max(1, l.Shards))
	}
	if fault := l.keyFault(key); fault != "" {
		return dst, keyError(key, fault)
	}
	text := append(dst, key...)
	if l.Bucket.timed() {
		var err error
		if text, err = l.appendBucket(text, key, at); err != nil {
			return dst, err
		}
	}
	if !l.bare(shard) {
		text = appendPadded(append(text, l.Format.shardPrefix()...), shard+l.Format.First, l.Format.Width)
	}
	if n := len(text) - len(dst); n > maxKeyBytes {
		return dst, keyError(key, fmt.Sprintf("its shard key has %d bytes, a partition key %d at most", n, maxKeyBytes))
	}
	return text, nil
}

// ShardKeys returns the shard keys that hold what a key has between from and to, the end excluded: every shard of the
// first bucket, then of the next. Without a bucket from and to are ignored. More than MaxShardKeys are refused with
// ErrTooManyShardKeys: read a shorter time, or in steps.
func (l Layout) ShardKeys(key string, from, to time.Time) ([]string, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	if fault := l.keyFault(key); fault != "" {
		return nil, keyError(key, fault)
	}
	n := l.Requests(from, to)
	if n > MaxShardKeys {
		return nil, fmt.Errorf("%w: %d from %s to %s, %d are allowed",
			ErrTooManyShardKeys, n, from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), MaxShardKeys)
	}
	keys := make([]string, 0, n)
	for start := range l.Bucket.Starts(from, to) {
		for shard := range max(1, l.Shards) {
			text, err := l.ShardKey(key, start, shard)
			if err != nil {
				return nil, err
			}
			keys = append(keys, text)
		}
	}
	return keys, nil
}

// Requests returns how many Query requests it takes at least to read a key between from and to: one for every shard of
// every bucket, each charged half a read unit or more even if it finds nothing. Without a bucket from and to are ignored.
func (l Layout) Requests(from, to time.Time) int {
	buckets, shards := l.Bucket.Count(from, to), max(1, l.Shards)
	if buckets > math.MaxInt/shards {
		return math.MaxInt
	}
	return buckets * shards
}

// Parse takes a shard key apart. It accepts exactly what ShardKey returns; the error wraps ErrKey or ErrInvalid.
func (l Layout) Parse(shardKey string) (Place, error) {
	if err := l.validate(); err != nil {
		return Place{}, err
	}
	place, fault := l.parse(shardKey)
	if fault != "" {
		return Place{}, fmt.Errorf("%w: %s is no shard key of %s: %s", ErrKey, quote.Text(shardKey), l, fault)
	}
	return place, nil
}

// CheckKey returns why ShardKey refuses a key, whatever its bucket and shard. The error wraps ErrKey.
func (l Layout) CheckKey(key string) error {
	if fault := l.keyFault(key); fault != "" {
		return keyError(key, fault)
	}
	return nil
}

// keyFault says why a key cannot be taken, "" if it can.
func (l *Layout) keyFault(key string) string {
	switch {
	case key == "":
		return "it is empty"
	case len(key) > maxKeyBytes:
		return "it is longer than the 2048 bytes of a partition key"
	case !ascii(key) && !utf8.ValidString(key):
		return "it is not valid UTF-8"
	case !isDigit(key[len(key)-1]):
		return "" // shards and buckets end in digits
	}
	if _, _, ok := l.cutShard(key); ok {
		return "it already ends like a shard of " + l.Format.String()
	}
	if !l.Bucket.timed() {
		return ""
	}
	if _, _, ok := l.cutBucket(key); ok {
		return "it already ends like a " + l.Bucket.String() + " of " + l.Format.String()
	}
	return ""
}

// ascii reports whether a text is ASCII, as most keys are: that takes a fraction of the time that checking UTF-8 does.
func ascii(text string) bool {
	var all uint64
	b := bytesOf(text)
	for ; len(b) >= 8; b = b[8:] {
		all |= binary.LittleEndian.Uint64(b)
	}
	for _, c := range b {
		all |= uint64(c)
	}
	return all&0x8080808080808080 == 0
}

// appendBucket appends the bucket to a text that ends in the key.
func (l *Layout) appendBucket(dst []byte, key string, at time.Time) ([]byte, error) {
	text, err := l.Bucket.appendText(append(dst, l.Format.bucketPrefix()...), at, l.Format.hourMark())
	if err != nil {
		return dst, fmt.Errorf("key %s: %w", quote.Text(key), err)
	}
	// The last digits of the bucket may look like the number of a shard: with years and PlainNumber(), A#2024 does. That
	// is no harm unless what stands before them ends in another bucket.
	if l.misread(textOf(text[len(dst)-len(key):])) {
		return dst, keyError(key, "with its bucket it would be read as a shard of another key")
	}
	return text, nil
}

// misread reports whether parse would take a shard off a text that ends in a bucket.
func (l *Layout) misread(text string) bool {
	rest, _, ok := l.cutShard(text)
	if ok {
		_, _, ok = l.cutBucket(rest)
	}
	return ok
}

// appendPadded appends n, which is not negative, with zeros in front up to width.
func appendPadded(dst []byte, n, width int) []byte {
	if n >= 10 || width > 1 {
		dst = appendPadded(dst, n/10, width-1)
	}
	return append(dst, byte('0'+n%10))
}

// Suffix returns what a shard key has behind the key and its bucket: "#SHARD_7", or nothing where the shard has the bare key.
func (l Layout) Suffix(shard int) string {
	if l.bare(shard) {
		return ""
	}
	return string(appendPadded([]byte(l.Format.shardPrefix()), shard+l.Format.First, l.Format.Width))
}

// bare reports whether a shard has no suffix.
func (l *Layout) bare(shard int) bool { return l.Shards == 0 || shard == 0 && l.Format.BareZero }

// parse returns what a shard key says, or a fault.
//
// A text may end in what looks like a shard and yet be shard 0 without a suffix, if the looks come from its bucket. It
// is read as a shard if what is left still ends in a bucket, and appendBucket refuses the keys for which that is wrong.
func (l *Layout) parse(text string) (place Place, fault string) {
	if len(text) > maxKeyBytes {
		return Place{}, "it is longer than a partition key"
	}
	if rest, number, ok := l.cutShard(text); ok {
		if key, start, ok := l.cutBucket(rest); ok {
			shard, fault := l.shardOf(number)
			if fault == "" {
				fault = l.keyFault(key)
			}
			return Place{key, start, shard}, fault
		}
	}
	if !l.bare(0) {
		return Place{}, "it does not end in a shard"
	}
	key, start, ok := l.cutBucket(text)
	if !ok {
		return Place{}, "it has no " + l.Bucket.String()
	}
	return Place{key, start, 0}, l.keyFault(key)
}

// shardOf returns the shard that a number in a shard key stands for, if ShardKey writes it so.
func (l *Layout) shardOf(number string) (shard int, fault string) {
	if len(number) > maxWidth {
		return 0, "the number of its shard is too long"
	}
	n, _ := digits(number)
	shard = n - l.Format.First
	switch {
	case shard < 0 || shard >= l.Shards:
		return 0, "it has no such shard"
	case l.bare(shard):
		return 0, "its shard 0 is written without a number"
	}
	var buf [maxWidth]byte
	if string(appendPadded(buf[:0], n, l.Format.Width)) != number {
		return 0, "the number of its shard is not padded so"
	}
	return shard, ""
}

// CutShard splits a stored key that ends like a shard of the format: into the key with its bucket, and the digits of the
// number, nine at most. Parse is strict; CutShard also takes numbers that the layout does not have or would pad otherwise.
// So it finds keys that readers of the layout miss. What it returns are parts of stored, not copies.
func (l Layout) CutShard(stored []byte) (whole, number []byte, ok bool) {
	rest, digits, ok := l.cutShard(textOf(stored))
	if !ok || len(digits) > maxWidth {
		return nil, nil, false
	}
	return stored[:len(rest)], stored[len(stored)-len(digits):], true
}

// CutBucket returns the key before the bucket that a text ends in, as what CutShard leaves does. Without a bucket that is
// the whole text. What it returns is a part of whole, not a copy.
func (l Layout) CutBucket(whole []byte) (key []byte, ok bool) {
	text, _, ok := l.cutBucket(textOf(whole))
	if !ok {
		return nil, false
	}
	return whole[:len(text)], true
}

// cutShard splits a text that ends like a shard into what is before the suffix and the number.
func (l *Layout) cutShard(text string) (rest, number string, ok bool) {
	return cutNumber(text, l.Format.shardPrefix())
}

// cutNumber splits a text that ends in prefix and digits. As no prefix ends in a digit, the number has all of them.
func cutNumber(text, prefix string) (rest, number string, ok bool) {
	i := len(text)
	for i > 0 && isDigit(text[i-1]) {
		i--
	}
	start := i - len(prefix)
	if i == len(text) || start < 0 || text[start:i] != prefix {
		return "", "", false
	}
	return text[:start], text[i:], true
}

// cutBucket splits a text that ends in a bucket into what is before it and when the bucket starts. Without a bucket
// there is nothing to cut, and the whole text is the key.
func (l *Layout) cutBucket(text string) (key string, start time.Time, ok bool) {
	if !l.Bucket.timed() {
		return text, time.Time{}, true
	}
	i := len(text) - l.Bucket.textLen(l.Format.hourMark())
	if i < 0 {
		return "", time.Time{}, false
	}
	key, ok = strings.CutSuffix(text[:i], l.Format.bucketPrefix())
	if !ok {
		return "", time.Time{}, false
	}
	start, ok = l.Bucket.parseText(text[i:], l.Format.hourMark())
	return key, start, ok
}

func keyError(key, fault string) error {
	return fmt.Errorf("%w %s: %s", ErrKey, quote.Text(key), fault)
}

// ShardNumber returns the number at the end of a shard key that says of itself that it is one, #SHARD_7 or #SHARD#7,
// whatever layout wrote it, and false if it does not. It is for looking at keys of unknown origin, in a stream or a log;
// where the layout is known, Parse says more and is strict. Leading zeros are allowed, nine digits at most.
func ShardNumber(shardKey string) (n int, ok bool) {
	for _, prefix := range [...]string{defaultShardPrefix, sharpPrefix} {
		if _, number, ok := cutNumber(shardKey, prefix); ok && len(number) <= maxWidth {
			return digits(number)
		}
	}
	return 0, false
}
