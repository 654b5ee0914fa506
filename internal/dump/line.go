package dump

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

// Item is an item as the SDK has it.
type Item = map[string]types.AttributeValue

const maxItem = 400 << 10

// maxLine is longer than the line of any item: 400 KB, and what JSON and base64 add.
const maxLine = 4 << 20

var lineType = jsonpull.Type{Shape: jsonpull.Struct, Class: "Item"}

// appendLine appends the line of an item.
func appendLine(dst []byte, it Item) ([]byte, error) {
	v, err := attribute.Canonical(&types.AttributeValueMemberM{Value: it})
	if err != nil {
		return dst, err
	}
	dst = append(dst, `{"Item":`...)
	dst = attrjson.AppendItem(dst, v.Map)
	return append(dst, "}\n"...), nil
}

// row is what a line has: an item, or how one has changed.
type row struct {
	item, key   attr.Item
	put, change bool // it has an item; it has the key of one that has changed
}

// parseLine reads the line of an item. What DynamoDB would not store is refused.
func parseLine(line string) (Item, error) {
	r, err := parseRow(line)
	switch {
	case err != nil:
		return nil, err
	case r.change:
		return nil, errChange
	}
	return fields(r.item), nil
}

// request is the write that the row asks for. changes says whether it is of an incremental export, and keys are the attributes of the
// table's key.
func (r *row) request(changes bool, keys []string) (w types.WriteRequest, err error) {
	switch {
	case !changes && r.change:
		return w, errChange
	case changes && !r.change:
		return w, errors.New("it has an item, but a line of an incremental export has the key of what has changed")
	case r.change && !r.put:
		w.DeleteRequest = &types.DeleteRequest{Key: fields(r.key)}
		return w, nil
	case r.change && !r.fits(keys):
		return w, errors.New("its Keys are not the key of its NewImage")
	}
	w.PutRequest = &types.PutRequest{Item: fields(r.item)}
	return w, nil
}

var errChange = errors.New("it is a line of an incremental export, which has changes instead of items")

// fits reports whether the key is that of the item.
func (r *row) fits(keys []string) bool {
	for _, name := range keys {
		if !r.key.Get(name).Equal(r.item.Get(name)) {
			return false
		}
	}
	return len(r.key) == len(keys)
}

func parseRow(line string) (r row, err error) {
	var d attrjson.Decoder
	d.Reset(line)
	for name := range d.Members(&lineType) {
		switch name {
		case "Item", "NewImage":
			r.item, r.put = d.Item(&attrjson.ItemType), true
		case "Keys":
			r.key, r.change = d.Item(&attrjson.ItemType), true
		default: // Metadata and OldImage
			d.Skip()
		}
	}
	err = d.End()
	switch {
	case err != nil:
		var wrong *jsonpull.TypeError
		if errors.As(err, &wrong) {
			err = errors.New("a value has another JSON type than DynamoDB JSON has there")
		}
		return r, err
	case d.Fault != nil && d.FaultName != "":
		return r, fmt.Errorf("attribute %q: %w", d.FaultName, d.Fault)
	case d.Fault != nil:
		return r, d.Fault
	case r.item.Size() > maxItem:
		return r, fmt.Errorf("the item has more than %d KB, the most that DynamoDB stores", maxItem>>10)
	case !r.put && !r.change:
		return r, errors.New("it has no Item")
	}
	return r, nil
}

func fields(it attr.Item) Item {
	out := make(Item, len(it))
	for _, f := range it {
		out[f.Name] = value(f.Value)
	}
	return out
}

// value returns a value as the SDK has it.
func value(v attr.Value) types.AttributeValue {
	switch v.Kind {
	case attr.S:
		return &types.AttributeValueMemberS{Value: v.Str}
	case attr.N:
		return &types.AttributeValueMemberN{Value: attr.Number(v.Str).String()}
	case attr.B:
		return &types.AttributeValueMemberB{Value: []byte(v.Str)}
	case attr.Bool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool}
	case attr.SS:
		return &types.AttributeValueMemberSS{Value: elements(v.List, func(e attr.Value) string { return e.Str })}
	case attr.NS:
		return &types.AttributeValueMemberNS{Value: elements(v.List, func(e attr.Value) string { return attr.Number(e.Str).String() })}
	case attr.BS:
		return &types.AttributeValueMemberBS{Value: elements(v.List, func(e attr.Value) []byte { return []byte(e.Str) })}
	case attr.L:
		return &types.AttributeValueMemberL{Value: elements(v.List, value)}
	case attr.M:
		return &types.AttributeValueMemberM{Value: fields(v.Map)}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}

func elements[E any](list []attr.Value, as func(attr.Value) E) []E {
	out := make([]E, len(list))
	for i, v := range list {
		out[i] = as(v)
	}
	return out
}
