package adapt

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// Freeze keeps all processes from growing any key of the collection.
func (b *Book) Freeze(ctx context.Context, why string) error {
	if err := b.Ready(ctx); err != nil {
		return err
	}
	return b.control.freeze(ctx, charter.Freeze{On: true, Why: why, By: b.by, At: b.clock.read().UnixMilli()})
}

// Thaw ends what Freeze began.
func (b *Book) Thaw(ctx context.Context) error {
	if err := b.Ready(ctx); err != nil {
		return err
	}
	return b.control.freeze(ctx, charter.Freeze{})
}

// freeze changes nothing of the charter but its freeze, so that it does not undo what others write meanwhile. To send it twice
// does no harm.
func (c *Control) freeze(ctx context.Context, f charter.Freeze) error {
	in := &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: c.key(charterKey), ReturnConsumedCapacity: meter.Of(ctx).Wanted(),
		ConditionExpression:      aws.String("attribute_exists(#pk)"),
		ExpressionAttributeNames: map[string]string{"#pk": c.PartitionKey},
	}
	stored := Item{}
	for _, v := range f.Encode() {
		if v.Number {
			stored[v.Name] = &types.AttributeValueMemberN{Value: v.Text}
		} else {
			stored[v.Name] = &types.AttributeValueMemberS{Value: v.Text}
		}
	}
	verb, parts := "REMOVE ", []string(nil)
	for i, name := range charter.FreezeNames() {
		alias := fmt.Sprint("#", i)
		in.ExpressionAttributeNames[alias] = name
		if v, ok := stored[name]; ok {
			verb = "SET "
			if in.ExpressionAttributeValues == nil {
				in.ExpressionAttributeValues = Item{}
			}
			in.ExpressionAttributeValues[fmt.Sprint(":", i)] = v
			alias = fmt.Sprintf("#%d = :%d", i, i)
		}
		parts = append(parts, alias)
	}
	in.UpdateExpression = aws.String(verb + strings.Join(parts, ", "))
	_, err := c.Writes.Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) error {
		out, err := c.Client.UpdateItem(ctx, in, dispatch.Once)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		return err
	}})
	if err != nil {
		return notUsable(ctx, fmt.Errorf("UpdateItem %s %q: %w", c.Table, c.name(charterKey), err))
	}
	return nil
}

// held returns the freeze of the collection as it is now. A growth asks first, for 1 RCU: what the process has read of the
// charter up to a minute ago would let keys grow that were to stay as they are.
func (b *Book) held(ctx context.Context) (charter.Freeze, error) {
	stored, _, err := b.checkCharter(ctx)
	return stored.Frozen, err
}

// mayGrow returns an error that wraps ledger.ErrFrozen if the collection is frozen. A growth that makes nothing wider may
// always be.
func (b *Book) mayGrow(ctx context.Context, p *page, g ledger.Growth) error {
	p.mu.Lock()
	known, _ := p.view.Record()
	p.mu.Unlock()
	if g.To <= known.Write {
		return nil
	}
	frozen, err := b.held(ctx)
	if err == nil && frozen.On {
		err = fmt.Errorf("%w: collection %q of table %s is %s: thaw it first", ledger.ErrFrozen, b.control.Collection, b.control.Table, frozen)
	}
	if err != nil {
		return fmt.Errorf("grow %q to %d shards: %w", p.name, g.To, err)
	}
	return nil
}
