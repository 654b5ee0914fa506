package replica

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/attribute"
)

const (
	// keep is how long an item stays in the table when it is over. A request that was sent twice and arrives late must
	// find that it is: DynamoDB takes requests whose signature is up to 15 minutes off, and clocks may differ by as much.
	keep = time.Hour

	maxItemBytes = 400 << 10

	// reserve is for attributes whose size is not known exactly: DynamoDB documents the size of numbers roughly.
	reserve = 64
)

// record is an item as it is stored, as its primary or as a copy.
type record struct {
	version Version
	data    types.AttributeValue // nil if the item was deleted
	expires time.Time
	write   string    // of a primary
	checked time.Time // of a copy: the primary had this content then, or later
}

// lives reports whether a record is an item that readers find. A nil record does not.
func (r *record) lives(now time.Time) bool {
	return r != nil && r.data != nil && (r.expires.IsZero() || now.Before(r.expires))
}

// newWrite returns a text that no other write has.
func newWrite() string { return rand.Text()[:12] }

// primary returns the item of a primary. It is deleted an hour after it has expired or was deleted.
func (n *Names) primary(id string, r record) heatsink.Item {
	item := n.common(id, r)
	item[n.Write] = text(r.write)
	switch {
	case r.data == nil:
		written := time.UnixMicro(int64(r.version)) // whoever writes next may have a clock that is behind this
		item[n.TTL] = number(written.Add(keep).Unix())
	case !r.expires.IsZero():
		item[n.TTL] = number(r.expires.Add(keep).Unix())
	}
	return item
}

// copy returns the item of a copy. It is deleted if nobody refreshes it.
func (n *Names) copy(key string, r record, maxStale time.Duration) heatsink.Item {
	item := n.common(key, r)
	item[n.Checked] = number(r.checked.UnixMilli())
	item[n.TTL] = number(r.checked.Add(maxStale + keep).Unix())
	return item
}

func (n *Names) common(key string, r record) heatsink.Item {
	item := heatsink.Item{n.ID: text(key), n.Version: number(int64(r.version))}
	if r.data != nil {
		item[n.Data] = r.data
	}
	if !r.expires.IsZero() {
		item[n.Expires] = number(r.expires.Unix())
	}
	return item
}

// record reads an item, nil if there is none.
func (n *Names) record(item heatsink.Item) (*record, error) {
	if item == nil {
		return nil, nil
	}
	r := &record{data: item[n.Data]}
	version, err := integer(item, n.Version)
	if err != nil {
		return nil, err
	}
	if r.version = Version(version); r.version < 1 || r.version > maxVersion {
		return nil, fmt.Errorf("attribute %q is %d, want a version from 1 to %d", n.Version, version, maxVersion)
	}
	if item[n.Expires] != nil {
		seconds, err := integer(item, n.Expires)
		if err != nil {
			return nil, err
		}
		r.expires = time.Unix(seconds, 0).UTC()
	}
	if item[n.Checked] != nil {
		milliseconds, err := integer(item, n.Checked)
		if err != nil {
			return nil, err
		}
		r.checked = time.UnixMilli(milliseconds)
	}
	if write, ok := item[n.Write].(*types.AttributeValueMemberS); ok {
		r.write = write.Value
	}
	return r, nil
}

// parsePrimary is record for a primary, which another program may have stored.
func (n *Names) parsePrimary(item heatsink.Item) (*record, error) {
	r, err := n.record(item)
	if err == nil && r != nil && r.write == "" {
		err = fmt.Errorf("attribute %q is missing: another program wrote the item", n.Write)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// parseCopy is record for a copy, which another program may have stored.
func (n *Names) parseCopy(item heatsink.Item) (*record, error) {
	r, err := n.record(item)
	if err == nil && r != nil && r.checked.IsZero() {
		err = fmt.Errorf("attribute %q is missing: another program wrote the item", n.Checked)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// integer reads a number of an item.
func integer(item heatsink.Item, name string) (int64, error) {
	v, ok := item[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("attribute %q is %s, want a number: another program wrote the item", name, attribute.Describe(item[name]))
	}
	i, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("attribute %q is %q, want an integer: another program wrote the item", name, v.Value)
	}
	return i, nil
}

// checkSize refuses data that would fit in the primary and not in a copy, whose key is longer. Such a copy would lag for
// ever.
func (s *Store[T]) checkSize(id string, r record) error {
	n := &s.options.Names
	longest := time.UnixMicro(9_999_999_999_999_999) // a number without zeros at its end takes the most bytes, and each write has others
	r.version, r.expires, r.checked = maxVersion-1, longest, longest
	for _, item := range []heatsink.Item{n.primary(id, r), n.copy(s.copyKey(id, s.options.Copies-1), r, s.options.MaxStale)} {
		canonical, err := attribute.Canonical(&types.AttributeValueMemberM{Value: item})
		if err != nil {
			return fmt.Errorf("%w: its data: %w", ErrInput, err)
		}
		if size := canonical.Map.Size() + reserve; size > maxItemBytes {
			return fmt.Errorf("%w: the item or a copy of it has %d bytes, want at most %d: divide the data into several items",
				ErrInput, size, maxItemBytes)
		}
	}
	return nil
}

// decode makes an item of a record. Data that do not fit T are a heatsink.DecodeError.
func decode[T any](id string, r *record) (Item[T], error) {
	item := Item[T]{ID: id, Version: r.version, Expires: r.expires}
	if err := attributevalue.Unmarshal(r.data, &item.Data); err != nil {
		err = &heatsink.DecodeError{Item: heatsink.Item{"data": r.data}, Err: err}
		return item, fmt.Errorf("item %q: its data: %w", id, err)
	}
	return item, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
