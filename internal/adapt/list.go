package adapt

import (
	"context"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

// Scanner is the part of the SDK's client that lists control items.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Found is a ledger that is stored.
type Found struct {
	Key    Key
	Record ledger.Record
}

// All scans the table for the collection's ledgers. An error about one of them comes with its key, and the loop may continue.
// Any other error is the last.
func (b *Book) All(ctx context.Context, client Scanner) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if err := b.Ready(ctx); err != nil {
			yield(Found{}, err)
			return
		}
		c := b.control
		prefix := layout.ControlKey{Role: layout.RoleLedger, Collection: c.Collection}.String()
		prefix = prefix[:len(prefix)-1] // behind the collection's name
		filter := "begins_with(#pk, :prefix)"
		in := &dynamodb.ScanInput{
			TableName: &c.Table, FilterExpression: &filter,
			ExpressionAttributeNames:  map[string]string{"#pk": c.PartitionKey},
			ExpressionAttributeValues: Item{":prefix": &types.AttributeValueMemberS{Value: prefix}},
			ReturnConsumedCapacity:    meter.Of(ctx).Wanted(),
		}
		for {
			var out *dynamodb.ScanOutput
			_, err := c.Reads.Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) (err error) {
				out, err = client.Scan(ctx, in, dispatch.Once)
				return err
			}})
			if err != nil {
				yield(Found{}, fmt.Errorf("list ledgers: Scan %s: %w", c.Table, err))
				return
			}
			meter.Read(ctx, 0, out.ConsumedCapacity)
			for _, item := range out.Items {
				if !yield(b.found(item)) {
					return
				}
			}
			if len(out.LastEvaluatedKey) == 0 {
				return
			}
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
}

// found reads a ledger's item with its key.
func (b *Book) found(item Item) (f Found, err error) {
	text, _ := item[b.control.PartitionKey].(*types.AttributeValueMemberS)
	if text == nil {
		return f, fmt.Errorf("%w: a ledger without the attribute %q", ErrLedger, b.control.PartitionKey)
	}
	k, err := layout.ParseControlKey(text.Value)
	if err != nil {
		return f, fmt.Errorf("%w: %w", ErrLedger, err)
	}
	f.Key.Text = k.Key
	if by := b.options.Layout.Bucket; by != layout.NoBucket {
		if f.Key.Bucket, err = by.ParseText(k.Bucket); err != nil {
			return f, fmt.Errorf("%w: ledger of %q: %w", ErrLedger, k.Key, err)
		}
	}
	if f.Record, err = b.control.parse(item, b.absent()); err != nil {
		err = fmt.Errorf("%w: ledger of %q: %w", ErrLedger, k.Key, err)
	}
	return f, err
}
