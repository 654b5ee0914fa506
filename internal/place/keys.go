package place

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// Keys names the key attributes.
type Keys struct {
	PartitionKey, SortKey string   // of the table, or of the index if there is one; the sort key may be ""
	Index                 string   // "": the table itself is spread
	TableKey              []string // the table's key attributes if there is an index, the partition key first
	ShardAttribute        string   // of an index: holds the shard as a number; "": the partition key tells
	Stamped               bool     // items carry the generation of a ledger
}

// KeyNames returns the names of the table's key attributes, "" where there is none.
func (k *Keys) KeyNames() (names [2]string) {
	if k.Index == "" {
		return [2]string{k.PartitionKey, k.SortKey}
	}
	copy(names[:], k.TableKey)
	return names
}

// AllKeys returns the names of the key attributes, of the table and of the index.
func (k *Keys) AllKeys() []string {
	names := slices.Clone(k.TableKey)
	for _, name := range []string{k.PartitionKey, k.SortKey} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// checkKey returns an error if an item lacks a key attribute of the table.
func (k *Keys) checkKey(item Item) error {
	for _, name := range k.KeyNames() {
		if name == "" {
			continue
		}
		empty := false
		switch v := item[name].(type) {
		case *types.AttributeValueMemberS:
			if name == k.KeyNames()[0] && layout.IsControl(v.Value) {
				return controlError(name, v.Value)
			}
			empty = v.Value == ""
		case *types.AttributeValueMemberN:
		case *types.AttributeValueMemberB:
			empty = len(v.Value) == 0
		default:
			return fmt.Errorf("%w: key attribute %q is %s, want a string, a number or a binary", ErrItem, name, attribute.Describe(v))
		}
		if empty { // DynamoDB refuses it, too, and would not say which item it is
			return fmt.Errorf("%w: key attribute %q is empty: set it", ErrItem, name)
		}
	}
	return nil
}

// controlError is the error of a key that only control items may have.
func controlError(name, key string) error {
	return fmt.Errorf("%w: key attribute %q is %s, which is the key of a control item: data must not begin with %q", ErrItem, name, quote.Text(key), layout.ControlPrefix)
}

// KeyOf returns the table's key attributes of an item, with the logical partition key.
func (k *Keys) KeyOf(item Item) (Item, error) {
	if err := k.checkKey(item); err != nil {
		return nil, err
	}
	key := make(Item, 2)
	for _, name := range k.KeyNames() {
		if name != "" {
			key[name] = item[name]
		}
	}
	return key, nil
}

// KeyText returns the table's key of an item as text. Equal keys have equal texts, and different keys have different
// texts. ok is false if a key attribute has the wrong type or is an invalid number.
func (k *Keys) KeyText(item Item) (text string, ok bool) {
	var key []byte
	for _, name := range k.KeyNames() {
		if name == "" {
			continue
		}
		v, err := attribute.Canonical(item[name])
		if err != nil || v.Kind > attr.B {
			return "", false
		}
		key = attr.AppendKey(append(key, byte(v.Kind)), v) // values of two kinds may have the same bytes
	}
	return string(key), true
}

// WithKeyOf returns a copy of an item with the key attributes of other, and no other key attributes.
func (k *Keys) WithKeyOf(other, item Item) Item {
	own := make(Item, len(item)+2)
	maps.Copy(own, item)
	names := k.KeyNames()
	for _, name := range [3]string{names[0], names[1], k.PartitionKey} {
		if v := other[name]; v != nil {
			own[name] = v
		} else {
			delete(own, name)
		}
	}
	return own
}

// nameOf returns the key of an item as text for errors.
func (k *Keys) nameOf(like Item) string {
	text := fmt.Sprintf("%s %s", k.PartitionKey, attribute.DescribeKey(like, k.PartitionKey))
	if k.SortKey != "" {
		text += fmt.Sprintf(" and %s %s", k.SortKey, attribute.DescribeKey(like, k.SortKey))
	}
	return text
}

// KeyAt returns the key of an item in one of its homes.
func (k *Keys) KeyAt(key Item, home Home) Item {
	key = maps.Clone(key)
	key[k.PartitionKey] = &types.AttributeValueMemberS{Value: home.ShardKey}
	return key
}

// TableHome returns a home that names an item of an index's table in errors. Such items are not spread.
func (k *Keys) TableHome(key Item) Home {
	switch v := key[k.TableKey[0]].(type) {
	case *types.AttributeValueMemberS:
		return Home{ShardKey: v.Value}
	case *types.AttributeValueMemberN:
		return Home{ShardKey: v.Value}
	case *types.AttributeValueMemberB:
		return Home{ShardKey: string(v.Value)}
	}
	return Home{}
}

// Restore replaces the stored key by the logical key, in an item or a part of one, and removes the shard attribute.
func (k *Keys) Restore(item Item, key types.AttributeValue) {
	if item[k.PartitionKey] != nil && k.ShardAttribute == "" {
		item[k.PartitionKey] = key
	}
	k.dropShard(item)
}

// dropShard removes what heatsink has added to an item.
func (k *Keys) dropShard(item Item) {
	if k.ShardAttribute != "" {
		delete(item, k.ShardAttribute)
	}
	if k.Stamped {
		delete(item, ledger.StampName)
	}
}
