package eventlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// Receipt is the result of an append.
type Receipt struct {
	// At and ID are the time and id of the stored event, given or generated. They are also set if the append failed
	// after it was sent.
	At time.Time
	ID string

	// Duplicate is set if another append had already stored the event, which was then left unchanged. With
	// Options.Mark, exactly one of several Appends of an event gets a receipt without Duplicate, even if answers are
	// lost.
	Duplicate bool

	// Unsure is set if the event is stored, but an answer was lost and Duplicate may be wrong. Duplicate is then set if
	// the stored event differs from this one. An equal event of another append cannot be distinguished. With
	// Options.Mark, a receipt is never Unsure.
	Unsure bool

	// Late is set if the append was acknowledged later than Options.Settle after the event's time. Tails may have
	// passed the event.
	Late bool
}

// Append adds an event to its log with one write request. If DynamoDB throttles the request, Append retries it, on
// another shard if the id is not from the caller. If the append may have happened, the error is a
// heatsink.UnknownOutcomeError.
//
// An event whose time and id come from the caller is stored once, however often and by whichever process it is
// appended; the first body stays.
func (l *Log[T]) Append(ctx context.Context, event Event[T]) (Receipt, error) {
	c := l.core
	r, err := newRecord(c, event, time.Now(), true)
	if err != nil {
		return Receipt{}, err
	}
	if err := c.settle(ctx, r); err != nil {
		return r.Receipt, err
	}
	if r.known {
		err = c.putOnce(ctx, r)
	} else {
		_, err = c.shards.Put(ctx, r.item)
	}
	if err != nil {
		return r.Receipt, fmt.Errorf("append to log %q: %w", event.Log, err)
	}
	c.acknowledge(ctx, r)
	return r.Receipt, nil
}

// putOnce writes a record unless it is there, and notes if it was. After a lost answer it may have been there because of
// the lost attempt: the mark says whose it is, if there is one.
func (c *core) putOnce(ctx context.Context, r *record) error {
	err := c.known.Put(ctx, r.item, func(in *dynamodb.PutItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(#pk)")
		in.ExpressionAttributeNames = map[string]string{"#pk": c.options.PartitionKey}
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	})
	there, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return err
	}
	switch lost := errors.As(err, new(*heatsink.UnknownOutcomeError)); {
	case !lost:
		r.Duplicate = true
	case there.Item == nil:
		return err // something on the way has dropped it, so nobody knows whose it is
	case c.options.Mark == "":
		r.Unsure, r.Duplicate = true, !reflect.DeepEqual(there.Item, r.item)
	default:
		r.Duplicate = !sameText(there.Item[c.options.Mark], r.item[c.options.Mark])
	}
	return nil
}

func sameText(a, b types.AttributeValue) bool {
	s, ok := a.(*types.AttributeValueMemberS)
	t, also := b.(*types.AttributeValueMemberS)
	return ok && also && s.Value == t.Value
}

// AppendAll adds events to their logs as Append does, up to 25 per request, and returns a receipt for each. If one of
// them is invalid, nothing is sent. If some could not be written, the error is a heatsink.BatchError that lists them;
// all others were written.
//
// AppendAll does not check whether an event with an id from the caller exists. It replaces the event, which should be
// the same, and the receipt does not say so. If events contains the same event twice, the first is written.
func (l *Log[T]) AppendAll(ctx context.Context, events []Event[T]) ([]Receipt, error) {
	c, now := l.core, time.Now()
	records := make([]*record, len(events))
	for i, event := range events {
		var err error
		if records[i], err = newRecord(c, event, now, false); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	failed, err := c.writeAll(ctx, records)
	receipts := make([]Receipt, len(records))
	for i, r := range records {
		if err == nil && failed[i] == nil {
			c.acknowledge(ctx, r)
		}
		receipts[i] = r.Receipt
	}
	if err != nil {
		return receipts, fmt.Errorf("append %d events: %w", len(events), err)
	}
	return receipts, batchError(failed, len(events))
}

// writeAll writes records with as few requests as it can, and returns why some are not written, by their place. An
// error means that none is known to be.
func (c *core) writeAll(ctx context.Context, records []*record) (map[int]error, error) {
	var drawn, known []int // the places of events without an id of the caller's, and with one
	first, failed := make(map[[2]string]int), make(map[int]error)
	for i, r := range records {
		name := [2]string{r.log, r.key}
		if _, there := first[name]; there {
			r.Duplicate = true
			continue
		}
		first[name] = i
		if err := c.settle(ctx, r); errors.Is(err, ErrEvent) {
			return nil, err
		} else if err != nil {
			failed[i] = err
		} else if r.known {
			known = append(known, i)
		} else {
			drawn = append(drawn, i)
		}
	}
	items := func(places []int) []heatsink.Item {
		list := make([]heatsink.Item, len(places))
		for n, i := range places {
			list[n] = records[i].item
		}
		return list
	}
	if err := c.shards.BatchPut(ctx, items(drawn)); err != nil {
		batch, ok := errors.AsType[*heatsink.BatchError](err)
		if !ok {
			return nil, err
		}
		for _, f := range batch.Failed {
			failed[drawn[f.Position]] = f.Err
		}
	}
	for n, err := range c.known.PutAll(ctx, items(known)) {
		if err != nil {
			failed[known[n]] = err
		}
	}
	for i, r := range records {
		if err := failed[first[[2]string{r.log, r.key}]]; err != nil {
			failed[i] = err // a duplicate fares like the first
		}
	}
	return failed, nil
}

func batchError(failed map[int]error, of int) error {
	if len(failed) == 0 {
		return nil
	}
	all := &heatsink.BatchError{Of: of}
	for i, err := range failed {
		all.Failed = append(all.Failed, heatsink.BatchFailure{Position: i, Err: err})
	}
	slices.SortFunc(all.Failed, func(a, b heatsink.BatchFailure) int { return a.Position - b.Position })
	return all
}

// settle gives a record whose id the caller knows the key of its shard. It has one of its own, so that appending it again
// finds it. The shards of other records are drawn when they are put.
func (c *core) settle(ctx context.Context, r *record) error {
	if !r.known {
		return nil
	}
	if err := c.widen(ctx, r); err != nil {
		return fmt.Errorf("append to log %q: %w", r.log, err)
	}
	layout := c.options.layout()
	key, err := layout.ShardKey(r.log, r.At, layout.Shard(r.key))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEvent, err)
	}
	r.item[c.options.PartitionKey] = &types.AttributeValueMemberS{Value: key}
	return nil
}

// acknowledge notes whether a record that is written is too late for tails.
func (c *core) acknowledge(ctx context.Context, r *record) {
	behind := time.Since(r.At)
	if behind < c.options.Settle {
		return
	}
	r.Late = true
	c.late.Add(1)
	level := slog.LevelWarn
	if r.past { // as when history is imported
		level = slog.LevelDebug
	}
	c.options.Logger.Log(ctx, level, "late append: tails may have passed the event",
		"log", r.log, "at", r.At, "id", r.ID, "behind", behind, "settle", c.options.Settle)
}
