package move

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// Kinds of findings about counters.
const (
	kindMissing = "missing" // nothing was imported
	kindLate    = "late"    // the attribute has changed since
)

// importAll, confirm and verifyAll are what a pass over counters does.
const (
	importAll = iota // import each
	confirm          // compare each, and import again what differs
	verifyAll        // compare each
)

// importWork is one Plan, Run or Verify of Counters under way.
type importWork struct {
	*work
	counters *Counters
	counter  *counter.Counter
	keys     []string // the table's key attributes
}

func (m *Counters) newImport(table *types.TableDescription, c *counter.Counter) *importWork {
	w := &importWork{work: m.mover.newWork(table), counters: m, counter: c, keys: keysOf(table.KeySchema)}
	w.work.perMove = 1
	return w
}

// weigh adds items to the sample of a forecast.
func (w *importWork) weigh(_ context.Context, _ *work, s *sample, items []place.Item, _ *tariff) error {
	for _, item := range items {
		size := sizeOf(item)
		s.bytes += float64(size)
		if _, there := item[w.counters.origin.Attribute]; !there {
			continue
		}
		if _, ok, why := w.judge(item); !ok {
			if why != "" {
				s.report.Unexplained++
				s.report.find(Finding{Kind: unexplained.String(), Key: w.nameOf(item), Stored: w.stored(item), Why: why})
			}
			continue
		}
		s.report.Listed++
		s.moves++
		s.table++
		s.reads += max(1, math.Ceil(float64(size)/readUnit))
	}
	return nil
}

// complete adds to a forecast of two passes what is done with each counter.
func (w *importWork) complete(f *Forecast, s *sample) {
	o := &w.options
	once, each := f.ReadUnits/1.5, 0.0
	if s.moves > 0 {
		each = s.reads * float64(f.Moves) / float64(s.moves)
	}
	first, second := once/2+each, once+each+float64(f.Moves)
	f.ReadUnits = first + second
	f.Dollars = dollars(o.Prices, f.ReadUnits, f.WriteUnits)
	seconds := max(first/o.RCU, f.WriteUnits/o.WCU) + second/o.RCU
	f.Duration = time.Duration(min(seconds*float64(time.Second), math.MaxInt64/2))
}

// judge returns the key of an item's counter. ok is false if it has none; why says that the item should have one.
func (w *importWork) judge(item place.Item) (key string, ok bool, why string) {
	key, ok = w.counters.options.Name(item)
	if !ok {
		return "", false, ""
	}
	if layout.IsControl(key) {
		return "", false, fmt.Sprintf("its counter would be %.80q, which is a key of heatsink's control items", key)
	}
	if own, named := attribute.Pick(item, w.keys), w.counters.origin.Key(key); !attribute.Same(own, named) {
		return "", false, fmt.Sprintf("Name says that its counter is %.80q, and Origin.Key has another item for that", key)
	}
	return key, true, ""
}

// nameOf returns the key of an item in the table, for people.
func (w *importWork) nameOf(item place.Item) string {
	var parts []string
	for _, name := range w.keys {
		parts = append(parts, fmt.Sprintf("%s %s", name, attribute.DescribeKey(item, name)))
	}
	return strings.Join(parts, " and ")
}

// stored returns the value of the attribute, for people.
func (w *importWork) stored(item place.Item) string {
	if n, ok := item[w.counters.origin.Attribute].(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return "no number"
}

// passes makes the first pass, and those that confirm it.
func (w *importWork) passes(ctx context.Context, segments []*segment, c *checkpoint) error {
	if err := w.doPass(ctx, segments, importAll, c); err != nil {
		return err
	}
	late := int64(0)
	for range confirmations {
		before := w.result.Late
		if err := w.doPass(ctx, newSegments(w.options.Segments), confirm, nil); err != nil {
			return err
		}
		if late = w.result.Late - before; late == 0 {
			return nil
		}
		w.options.Logger.WarnContext(ctx, olderPrograms(late), "table", w.counters.origin.Table, "pass", w.pass)
	}
	return fmt.Errorf("%w: in the last of %d passes, %s", ErrOldWriters, w.pass, olderPrograms(late))
}

// olderPrograms returns what to say about attributes that changed behind the import.
func olderPrograms(late int64) string {
	return figure.Count(late, "attribute") + " had changed behind the import, and were imported again: some program still counts in the attribute; " +
		"processes with counter.Options.Origin count that as well, so leave Origin in, find the program, end it, and run the import again"
}

// damage returns an error about attributes that are left.
func (w *importWork) damage() error {
	if n := w.report.Unexplained + w.result.Refused; n > 0 {
		return fmt.Errorf("%w: %s could not be imported: see Result.Findings", ErrDamage, figure.Count(n, "attribute"))
	}
	return nil
}

// doPass reads all segments at the same time.
func (w *importWork) doPass(ctx context.Context, segments []*segment, what int, c *checkpoint) error {
	p := &pass{work: w.work, segments: segments, checkpoint: c, keys: w.keys}
	p.fetch = func(ctx context.Context, s *segment) (*dynamodb.ScanOutput, error) {
		return w.page(ctx, s, len(segments), what != importAll)
	}
	p.handle = func(ctx context.Context, _ string, items []place.Item) error { return w.take(ctx, items, what) }
	return p.run(ctx)
}

// page reads the next page of a segment: the items that have the attribute.
func (w *importWork) page(ctx context.Context, part *segment, total int, strong bool) (*dynamodb.ScanOutput, error) {
	in := &dynamodb.ScanInput{
		TableName: &w.counters.origin.Table, Segment: aws.Int32(int32(part.number)), TotalSegments: aws.Int32(int32(total)),
		ExclusiveStartKey: part.start, ConsistentRead: &strong, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		FilterExpression: aws.String("attribute_exists(#a)"), ExpressionAttributeNames: map[string]string{"#a": w.counters.origin.Attribute},
	}
	projection := []string{"#a"}
	for i, name := range w.keys {
		alias := "#k" + strconv.Itoa(i)
		in.ExpressionAttributeNames[alias] = name
		projection = append(projection, alias)
	}
	in.ProjectionExpression = aws.String(strings.Join(projection, ", "))
	size, bytes := 1024.0, float64(aws.ToInt64(w.table.TableSizeBytes))
	if items := aws.ToInt64(w.table.ItemCount); items > 0 && bytes > 0 {
		size = max(1, bytes/float64(items))
	}
	page := w.pageBytes(size)
	if page < pageSize {
		in.Limit = aws.Int32(int32(max(1, page/size)))
	}
	units := max(min(page, bytes/float64(total))/readUnit, 1)
	if !strong {
		units /= 2
	}
	var out *dynamodb.ScanOutput
	err := w.send(ctx, w.work.reads, units, func(ctx context.Context) (_ *types.ConsumedCapacity, err error) {
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

// take deals with the items of a page, several at a time.
func (w *importWork) take(ctx context.Context, items []place.Item, what int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turns := make(chan struct{}, writersPerSegment)
	var all sync.WaitGroup
	for _, item := range items {
		key, ok, why := w.judge(item)
		if !ok {
			w.skip(item, why)
			continue
		}
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-turns }()
			if err := w.count(ctx, item, key, what); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// skip notes an item that is of no counter.
func (w *importWork) skip(item place.Item, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Scanned++
	if why == "" {
		w.report.Others++
		return
	}
	w.report.Unexplained++
	w.report.find(Finding{Kind: unexplained.String(), Key: w.nameOf(item), Stored: w.stored(item), Why: why})
}

// count imports or compares a counter.
func (w *importWork) count(ctx context.Context, item place.Item, key string, what int) error {
	var seen counter.Comparison
	var err error
	if what != importAll {
		err = w.try(ctx, w.work.reads, 2, func(ctx context.Context) (err error) {
			seen, err = w.counter.VerifyImport(ctx, key)
			return err
		})
	}
	imported := counter.Imported{}
	differs := what != importAll && err == nil && !seen.Equal()
	if what == importAll || differs && what == confirm {
		err = w.try(ctx, w.writes, 1, func(ctx context.Context) (err error) {
			now, err := w.counter.Import(ctx, key)
			imported.Changed = imported.Changed || now.Changed
			return err
		})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if !hopeless(err) {
			return err
		}
		w.report.Scanned++
		w.report.Listed++
		w.report.Blocked++
		w.report.find(Finding{Kind: kindRefused, Key: w.nameOf(item), Stored: w.stored(item), Why: err.Error()})
		if w.result.Refused++; w.result.Refused >= maxRefused {
			return fmt.Errorf("%w: %s could not be imported, so the import was stopped before its end: see Result.Findings", ErrDamage, figure.Count(w.result.Refused, "attribute"))
		}
		return nil
	}
	w.report.Scanned++
	w.report.Listed++
	if imported.Changed {
		w.result.Moved++
	}
	if !differs {
		w.report.Right++
		return nil
	}
	w.report.Old++
	f := Finding{Kind: kindLate, Key: w.nameOf(item), Stored: strconv.FormatInt(seen.Attribute, 10), Want: strconv.FormatInt(seen.Value, 10), Why: "an older program has counted since the import"}
	if !seen.Done {
		f.Kind, f.Want, f.Why = kindMissing, "", "it is not imported"
	}
	if what == confirm {
		w.result.Late++
		f.Why += ", and it was imported again"
	}
	w.report.find(f)
	return nil
}

// hopeless reports whether an error is about one counter, and another attempt would end the same.
func hopeless(err error) bool {
	return errors.Is(err, counter.ErrOrigin) || errors.Is(err, counter.ErrOverflow) || errors.Is(err, counter.ErrCorrupt) || errors.Is(err, layout.ErrKey)
}

// try does something with a counter within the rates, until it is done or there is no hope. Everything that it does may be
// repeated.
func (w *importWork) try(ctx context.Context, b *brake, estimate float64, do func(context.Context) error) error {
	var about error
	err := w.send(ctx, b, estimate, func(ctx context.Context) (*types.ConsumedCapacity, error) {
		if b == w.writes {
			if err := w.work.reads.take(ctx, 1); err != nil {
				return nil, err
			}
		}
		var meter heatsink.Meter
		err := do(heatsink.WithMeter(ctx, &meter))
		cost := meter.Cost()
		w.mu.Lock()
		w.result.ReadUnits += cost.ReadUnits
		w.result.WriteUnits += cost.WriteUnits
		w.mu.Unlock()
		used := cost.ReadUnits
		if b == w.writes {
			w.work.reads.settle(1, cost.ReadUnits)
			used = cost.WriteUnits
		}
		if hopeless(err) {
			about, err = err, nil
		}
		return &types.ConsumedCapacity{CapacityUnits: &used}, err
	})
	if about != nil {
		return about
	}
	return err
}
