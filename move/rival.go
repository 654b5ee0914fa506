package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// defaultName is the name of a collection without an index that has no name of its own.
const defaultName = "table"

// rivals refuses a move that would take the items of another collection, as far as that can be known without reading the table: by the
// default name in the given tables, and by the charters of the control table. It costs a read or two, and a scan of the control table.
func (t *trip) rivals(ctx context.Context, tables ...string) error {
	o := &t.options.Collection
	if collectionName(&t.options) != defaultName {
		for _, in := range slices.Compact(tables) {
			if err := t.rival(ctx, in, "", defaultName); err != nil {
				return err
			}
		}
	}
	if o.ControlTable == "" {
		return nil
	}
	in := &dynamodb.ScanInput{
		TableName: &o.ControlTable, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		ProjectionExpression: aws.String("#k"), FilterExpression: aws.String("begins_with(#k, :charters)"),
		ExpressionAttributeNames: map[string]string{"#k": adapt.TableKey}, ExpressionAttributeValues: place.Item{":charters": text(charterPrefix)},
	}
	for {
		var out *dynamodb.ScanOutput
		err := t.send(ctx, t.reads, 1, func(ctx context.Context) (_ *types.ConsumedCapacity, err error) {
			if out, err = t.client.Scan(ctx, in, dispatch.Once); err != nil {
				return nil, err
			}
			return out.ConsumedCapacity, nil
		})
		if err != nil {
			return fmt.Errorf("look for other collections in the control table: Scan %s: %w", o.ControlTable, err)
		}
		for _, item := range out.Items {
			key, err := layout.ParseControlKey(storedKey(item, adapt.TableKey))
			if err != nil || key.Collection == collectionName(&t.options) {
				continue
			}
			if err := t.rival(ctx, "", o.ControlTable, key.Collection); err != nil {
				return err
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return nil
		}
	}
}

// rivalIn refuses a move that would take the items of another collection, if an item of a table is the charter of one.
func (t *trip) rivalIn(ctx context.Context, in string, item place.Item) error {
	key, err := layout.ParseControlKey(storedKey(item, t.options.Collection.PartitionKey))
	if err != nil || key.Role != layout.RoleCharter || t.options.Collection.ControlTable == "" && key.Collection == collectionName(&t.options) {
		return nil
	}
	return t.rival(ctx, in, "", key.Collection)
}

// rival returns an error if a name is that of another collection which spreads the keys of this table. Nothing in an item says whose
// it is, so a move of all keys would take that collection's items as well.
func (t *trip) rival(ctx context.Context, table, controlTable, name string) error {
	stored, found, err := t.charterIn(ctx, t.work.table, t.name(table), controlTable, name)
	switch {
	case err != nil:
		return fmt.Errorf("charter of collection %q, which is in the table as well: %w", name, err)
	case !found || stored.Index.Name != "":
		return nil
	case controlTable != "" && lastPart(stored.Table) != lastPart(t.options.Collection.Table):
		return nil
	}
	in := t.name(table)
	if controlTable != "" {
		in = controlTable
	}
	return fmt.Errorf("%w: table %s also has the items of collection %q, and nothing in an item says whose it is, so a move of all keys would take them as well: "+
		"move single keys (Options.Widths, --keys) or those with a prefix (Options.Prefixes, --prefix), or give each collection a table of its own; if no program uses that collection any more, delete the item %q of table %s",
		ErrUnsupported, t.name(table), name, layout.ControlKey{Role: layout.RoleCharter, Collection: name}, in)
}

// lastPart returns the name of a table that is given by its name or by its ARN.
func lastPart(table string) string { return table[strings.LastIndexByte(table, '/')+1:] }
