package express

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
)

// Item is an item, its key or its content, as the AWS SDK has them. A content has all attributes but the marks.
type Item = map[string]types.AttributeValue

// The errors of this package. Errors of DynamoDB are returned as they are.
var (
	// ErrRequest says that a request cannot be made for items that may move. It was not sent.
	ErrRequest = errors.New("not possible for items that may move")
	// ErrStored says that a stored item has marks that heatsink does not write.
	ErrStored = errors.New("an item has marks that heatsink has not written")
)

// reserved begins the attributes that belong to heatsink.
const reserved = "_hs_"

// Table is what requests need to know of a table.
type Table struct {
	name, partition, sort string
}

// NewTable returns a table with the names of its key attributes. sort is "" if it has none.
func NewTable(name, partition, sort string) (Table, error) {
	switch {
	case name == "" || partition == "" || partition == sort:
		return Table{}, fmt.Errorf("table %q with key %q and %q: want a name and the names of one or two key attributes", name, partition, sort)
	case strings.HasPrefix(partition, reserved) || strings.HasPrefix(sort, reserved):
		return Table{}, fmt.Errorf("table %q with key %q and %q: attributes that begin with %s belong to heatsink", name, partition, sort, reserved)
	}
	return Table{name, partition, sort}, nil
}

// Name returns the name of the table.
func (t Table) Name() string { return t.name }

// Show returns a key for people.
func (t Table) Show(key Item) string {
	text := t.partition + " " + attribute.DescribeKey(key, t.partition)
	if t.sort != "" {
		text += ", " + t.sort + " " + attribute.DescribeKey(key, t.sort)
	}
	return text
}

// SameContent reports whether two contents are those of one item, whose partition key depends on where it is stored.
func (t Table) SameContent(a, b Item) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, t.partition)
	delete(b, t.partition)
	return attribute.Same(a, b)
}

// checkKey refuses what is no key of the table. The partition key may be any text or bytes, for shards have suffixes.
func (t Table) checkKey(what string, key Item) error {
	want := 1
	if t.sort != "" {
		want = 2
	}
	switch key[t.partition].(type) {
	case *types.AttributeValueMemberS, *types.AttributeValueMemberB:
		if len(key) == want && (t.sort == "" || key[t.sort] != nil) {
			return nil
		}
	}
	return fmt.Errorf("%s: the key has %d attributes, and %q is %s: want %d, which is a string or a binary %q%s",
		what, len(key), t.partition, attribute.Describe(key[t.partition]), want, t.partition, t.andSort())
}

// Same returns a text that is the same for two items, or keys, if and only if both have the same key in this table. name is the table
// that the item is in, or its ARN. ok is false if that is another table, or if the item has no key.
func (t Table) Same(name string, item Item) (text string, ok bool) {
	own := lastPart(t.name)
	if lastPart(name) != own {
		return "", false
	}
	var key []byte
	for _, part := range []string{t.partition, t.sort} {
		if part == "" {
			break
		}
		v, err := attribute.Canonical(item[part])
		if err != nil {
			return "", false
		}
		key = attr.AppendKey(key, v)
	}
	return own + "\x00" + string(key), true
}

// lastPart returns the name of a table that is given by its name or by its ARN.
func lastPart(table string) string { return table[strings.LastIndexByte(table, '/')+1:] }

// andSort returns the sort key for an error.
func (t Table) andSort() string {
	if t.sort == "" {
		return ""
	}
	return fmt.Sprintf(" and %q", t.sort)
}

// sameID reports whether a request is about the id of a key: the sort keys are the same.
func (t Table) sameID(request, key Item) bool {
	return t.sort == "" || attribute.Same(Item{t.sort: request[t.sort]}, Item{t.sort: key[t.sort]})
}

// isKey reports whether an attribute is part of the key.
func (t Table) isKey(name string) bool { return name == t.partition || t.sort != "" && name == t.sort }
