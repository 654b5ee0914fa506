package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/place"
)

const (
	stampName = ledger.StampName

	pageSize  = 1 << 20 // bytes that a Scan reads at most
	lostTimes = 8       // attempts of a request whose answers are lost

	stallTime  = 5 * time.Minute
	stallTimes = 8 // attempts in that time, at least

	firstBackoff = 20 * time.Millisecond
	maxBackoff   = 2 * time.Second
)

// work is one Run, Verify or Plan under way: its requests, their rates, and what they have cost.
type work struct {
	*Mover
	judge  *judge
	widths *ledgers // nil unless the collection is adaptive
	table  *types.TableDescription
	in     string // the table that samples are taken of, if it is not that of the collection
	reads  *brake
	writes *brake
	began  time.Time
	of     int64 // items in the table, about

	// weigh adds items to a sample. Nil: as items that an index lists.
	weigh func(context.Context, *work, *sample, []place.Item, *tariff) error

	throttles atomic.Int64

	mu       sync.Mutex
	result   Result // what is known so far
	pass     int
	report   *Report
	passFrom time.Time
	skipped  int64     // items of the pass that were read before it began, by the checkpoint
	perMove  float64   // write units, on average
	until    time.Time // what is waited for; zero if nothing is
}

func (m *Mover) newWork(table *types.TableDescription) *work {
	w := &work{
		Mover: m, judge: m.judge, table: table, reads: newBrake(m.options.RCU), writes: newBrake(m.options.WCU),
		began: time.Now(), of: aws.ToInt64(table.ItemCount), report: &Report{}, perMove: 3,
	}
	if m.options.Collection.Adaptive != nil {
		w.widths = &ledgers{show: w.showLedger}
		w.judge = newJudge(&m.options, schemaOf(&m.options.Collection, w.widths))
	}
	return w
}

// showLedger reads the ledger of a key within the rate of reads.
func (w *work) showLedger(ctx context.Context, key string, at time.Time) (heatsink.Ledger, error) {
	if err := w.reads.take(ctx, 1); err != nil {
		return heatsink.Ledger{}, err
	}
	var meter heatsink.Meter
	read, err := w.collection.Ledgers().Show(heatsink.WithMeter(ctx, &meter), key, at)
	cost := meter.Cost()
	w.reads.settle(1, cost.ReadUnits)
	if cost.Throttles > 0 {
		w.reads.throttled()
		w.throttles.Add(int64(cost.Throttles))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.ReadUnits += cost.ReadUnits
	return read, err
}

// judged judges an item that was read before a time. A key may have grown since its ledger was read: the ledger is read again
// before an item is said to be beyond its shards.
func (w *work) judged(ctx context.Context, item place.Item, seen time.Time) (verdict, bool, error) {
	v, ok, err := w.judge.judge(ctx, item, w.widths == nil)
	if err != nil || v.kind != beyond || w.widths == nil {
		return v, ok, err
	}
	w.widths.expire(v.key, seen)
	return w.judge.judge(ctx, item, true)
}

// send sends a request within a rate until it is served, refused for good, or ctx ends. A throttled one slows the rate down. It
// gives up if nothing was served for five minutes.
func (w *work) send(ctx context.Context, b *brake, estimate float64, do func(context.Context) (*types.ConsumedCapacity, error)) error {
	lost, conflicts := 0, 0
	for n := 0; ; n++ {
		if err := b.take(ctx, estimate); err != nil {
			return err
		}
		consumed, err := do(ctx)
		verdict := dispatch.Judge(err)
		switch verdict {
		case dispatch.Done:
			b.settle(estimate, capacity(consumed))
			b.served()
			return nil
		case dispatch.Rejected:
			b.served()
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, lease.ErrOver) { // another attempt would be as late
			return err
		}
		stalled := false
		switch { // the units stay taken, so that attempts do not exceed the rate either
		case dispatch.TooFast(err):
			stalled = b.failed()
			b.throttled()
			w.throttles.Add(1)
		case verdict == dispatch.Refused: // a transaction has the item
			b.served()
			if conflicts++; conflicts >= contests {
				return &conflictError{err}
			}
		default:
			stalled = b.failed()
			if lost++; lost >= lostTimes {
				return fmt.Errorf("gave up after %d attempts: %w", lost, err)
			}
		}
		if stalled {
			return fmt.Errorf("nothing was served for %v: %w", stallTime, err)
		}
		longest := min(firstBackoff<<min(n, 10), maxBackoff)
		if err := dispatch.Sleep(ctx, time.Duration(rand.Int64N(int64(longest))+1)); err != nil {
			return err
		}
	}
}

// conflictError is the refusal of a request because transactions had the item at each attempt.
type conflictError struct{ error }

func (e *conflictError) Unwrap() error { return e.error }

// capacity returns the units that a request consumed.
func capacity(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}

// indexCapacity returns the units that a write consumed in indexes.
func indexCapacity(c *types.ConsumedCapacity) (units float64) {
	if c == nil {
		return 0
	}
	for _, x := range []map[string]types.Capacity{c.GlobalSecondaryIndexes, c.LocalSecondaryIndexes} {
		for _, one := range x {
			units += aws.ToFloat64(one.CapacityUnits)
		}
	}
	return units
}

// How a page is read.
type scanMode uint8

const (
	scanKeys   scanMode = iota // what a move needs, eventually consistent
	scanStrong                 // the same, strongly consistent
	scanWhole                  // whole items, eventually consistent: to measure them
)

// scan reads a page of a segment.
func (w *work) scan(ctx context.Context, part *segment, total int, mode scanMode) (*dynamodb.ScanOutput, error) {
	in := &dynamodb.ScanInput{
		TableName: aws.String(cmp.Or(w.in, w.options.Collection.Table)), Segment: aws.Int32(int32(part.number)), TotalSegments: aws.Int32(int32(total)),
		ExclusiveStartKey: part.start, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	share := 2.0
	if mode != scanWhole {
		in.ConsistentRead = aws.Bool(mode == scanStrong)
		w.narrow(in)
	}
	if mode == scanStrong {
		share = 1
	}
	size := 1024.0
	if items, bytes := aws.ToInt64(w.table.ItemCount), aws.ToInt64(w.table.TableSizeBytes); items > 0 && bytes > 0 {
		size = max(1, float64(bytes)/float64(items))
	}
	page := w.pageBytes(size)
	if page < pageSize {
		in.Limit = aws.Int32(int32(max(1, page/size)))
	}
	expected := min(page, float64(aws.ToInt64(w.table.TableSizeBytes))/float64(total))
	var out *dynamodb.ScanOutput
	err := w.send(ctx, w.reads, max(expected/readUnit, 1)/share, func(ctx context.Context) (_ *types.ConsumedCapacity, err error) {
		if out, err = w.client.Scan(ctx, in, dispatch.Once); err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	})
	if err != nil {
		return nil, fmt.Errorf("scan segment %d of %d: %w", part.number, total, err)
	}
	return out, nil
}

// pageBytes returns how much a page reads, given the size of items: what all segments together may read in a second.
func (m *Mover) pageBytes(size float64) float64 {
	return min(pageSize, max(size, m.options.RCU*readUnit/float64(m.options.Segments)))
}

// narrow makes a scan return only what a move needs.
func (w *work) narrow(in *dynamodb.ScanInput) {
	in.ExpressionAttributeNames = make(map[string]string, len(w.read))
	projection := make([]string, len(w.read))
	for i, name := range w.read {
		projection[i] = "#a" + strconv.Itoa(i)
		in.ExpressionAttributeNames[projection[i]] = name
	}
	in.ProjectionExpression = aws.String(strings.Join(projection, ", "))
	spread := projection[slices.Index(w.read, w.judge.present.PartitionKey)]
	in.FilterExpression = aws.String("attribute_exists(" + spread + ")")
	if begin := w.options.Key + w.options.Prefix; begin != "" {
		in.FilterExpression = aws.String("begins_with(" + spread + ", :begin)")
		in.ExpressionAttributeValues = place.Item{":begin": &types.AttributeValueMemberS{Value: begin}}
	}
	if kindOfAttribute(w.table, w.judge.present.TableKey[0]) == types.ScalarAttributeTypeS { // see look
		*in.FilterExpression += " OR begins_with(" + projection[0] + ", :charters)"
		if in.ExpressionAttributeValues == nil {
			in.ExpressionAttributeValues = place.Item{}
		}
		in.ExpressionAttributeValues[":charters"] = &types.AttributeValueMemberS{Value: charterPrefix}
	}
}

// outcome is what became of an item.
type outcome uint8

const (
	moved     outcome = iota
	gone              // deleted, or moved by somebody else
	contended         // others changed it again and again: it is left to the next pass
	refused           // DynamoDB does not let it change
)

const contests = 5

// move moves an item, as long as what decides about its place is as it was read. If it is not, the item is judged again.
func (w *work) move(ctx context.Context, item place.Item, v verdict) (outcome, error) {
	for range contests {
		now, err := w.update(ctx, item, v)
		if err == nil {
			return moved, nil
		}
		if _, conflict := errors.AsType[*conflictError](err); conflict {
			return contended, nil
		}
		if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); !failed {
			if _, full := errors.AsType[*types.ItemCollectionSizeLimitExceededException](err); full || dispatch.Invalid(err) {
				w.mu.Lock()
				w.report.find(Finding{Kind: "refused", Key: w.nameOf(item), Stored: v.stored, Want: v.want, Why: err.Error()})
				w.mu.Unlock()
				return refused, nil
			}
			return 0, fmt.Errorf("update the item with %s: %w", w.nameOf(item), err)
		}
		if now == nil {
			return gone, nil
		}
		item = now
		var ok bool
		if v, ok, err = w.judged(ctx, item, time.Now()); err != nil {
			return 0, err
		}
		if !ok || !v.kind.moves() {
			return gone, nil
		}
	}
	return contended, nil
}

// update sends the update of an item. With a condition that failed it returns the item as it is now, nil if there is none.
func (w *work) update(ctx context.Context, item place.Item, v verdict) (now place.Item, err error) {
	in := w.request(item, v)
	w.mu.Lock()
	estimate := w.perMove
	w.mu.Unlock()
	err = w.send(ctx, w.writes, estimate, func(ctx context.Context) (*types.ConsumedCapacity, error) {
		out, err := w.client.UpdateItem(ctx, in, dispatch.Once)
		if err != nil {
			return nil, err
		}
		units, index := capacity(out.ConsumedCapacity), indexCapacity(out.ConsumedCapacity)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.result.WriteUnits += units
		w.result.IndexUnits += index
		w.perMove += (units - w.perMove) / 32
		return out.ConsumedCapacity, nil
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return failed.Item, err
	}
	return nil, err
}

// request returns the update that moves an item.
func (w *work) request(item place.Item, v verdict) *dynamodb.UpdateItemInput {
	s := w.judge.present
	in := &dynamodb.UpdateItemInput{
		TableName: &w.options.Collection.Table, Key: attribute.Pick(item, s.TableKey),
		ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: place.Item{},
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityIndexes,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	var set, conditions []string
	for i, name := range slices.Sorted(maps.Keys(v.change)) {
		alias, value := "#s"+strconv.Itoa(i), ":s"+strconv.Itoa(i)
		in.ExpressionAttributeNames[alias], in.ExpressionAttributeValues[value] = name, v.change[name]
		set = append(set, alias+" = "+value)
	}
	for i, name := range w.names {
		if slices.Contains(s.TableKey, name) || name == stampName {
			continue
		}
		alias, value := "#c"+strconv.Itoa(i), ":c"+strconv.Itoa(i)
		in.ExpressionAttributeNames[alias] = name
		if item[name] == nil {
			conditions = append(conditions, "attribute_not_exists("+alias+")")
			continue
		}
		in.ExpressionAttributeValues[value] = item[name]
		conditions = append(conditions, alias+" = "+value)
	}
	in.UpdateExpression = aws.String("SET " + strings.Join(set, ", "))
	in.ConditionExpression = aws.String(strings.Join(conditions, " AND "))
	return in
}
