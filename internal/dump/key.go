package dump

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// tableKey is the key that a table has, and what the lines of an export are held against.
type tableKey struct {
	names []string
	kinds []attr.Kind
}

func keyOf(schema []types.KeySchemaElement, definitions []types.AttributeDefinition) (k tableKey) {
	for _, part := range schema {
		k.names = append(k.names, aws.ToString(part.AttributeName))
		kind := attr.Invalid
		for _, d := range definitions {
			if aws.ToString(d.AttributeName) == aws.ToString(part.AttributeName) {
				kind = attr.KindOf(string(d.AttributeType))
			}
		}
		k.kinds = append(k.kinds, kind)
	}
	return k
}

// String is the key as the options of an import spell it.
func (k tableKey) String() string {
	parts := make([]string, len(k.names))
	for i := range k.names {
		parts[i] = k.names[i] + ":" + k.kinds[i].String()
	}
	return strings.Join(parts, " and ")
}

// check returns what keeps the row of a line from having this key.
func (k tableKey) check(r *row) error {
	in := r.item
	if r.change {
		in = r.key
	}
	for i, name := range k.names {
		switch got := in.Get(name).Kind; {
		case got == attr.Invalid:
			return fmt.Errorf("it has no attribute %q, but the key of the table is %v", name, k)
		case got != k.kinds[i]:
			return fmt.Errorf("its attribute %q is of type %v, but the key of the table is %v", name, got, k)
		}
	}
	return nil
}

// recentKeys finds keys that an export has twice, which it has not: the key of the table would be another one. Items of one partition
// key lie together in an export, so that the keys of the last lines suffice.
type recentKeys struct {
	seed maphash.Seed
	at   map[uint64]string // where a key was, by its hash
	last []uint64          // a ring
	next int
	text []byte
}

// recent is how many keys are remembered.
const recent = 1 << 16

func newRecentKeys() *recentKeys {
	return &recentKeys{seed: maphash.MakeSeed(), at: map[uint64]string{}}
}

// add notes the key of a row that fits it. It returns where the same key was before, or nothing.
func (n *recentKeys) add(k tableKey, r *row, where string) (before string) {
	in := r.item
	if r.change {
		in = r.key
	}
	n.text = n.text[:0]
	for _, name := range k.names {
		n.text = attr.AppendKey(n.text, in.Get(name))
	}
	hash := maphash.Bytes(n.seed, n.text)
	if before, ok := n.at[hash]; ok {
		return before
	}
	if len(n.last) < recent {
		n.last = append(n.last, hash)
	} else {
		delete(n.at, n.last[n.next])
		n.last[n.next] = hash
		n.next = (n.next + 1) % recent
	}
	n.at[hash] = where
	return ""
}
