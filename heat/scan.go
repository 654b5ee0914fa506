package heat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// Scanner is the part of the SDK's client that examines a table. It cannot write.
type Scanner interface {
	Describer
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// ScanOptions limit how much of a table is examined, and how fast. A field at zero has its default.
type ScanOptions struct {
	// Items is the most items to examine. Default: 100,000. Negative: all.
	Items int64

	// MaxRCU is the most read units to use a second. Default: 100.
	MaxRCU float64

	// Segments is the number of parts of the table, which are read in turns, each up to its share of Items. Default: 16 if
	// the whole table is examined. Else the table has many more, and a random sample of them is read to their ends.
	Segments int

	// Seed draws the sample. The same seed draws the same segments of a table of the same size. Default: 1.
	Seed uint64

	// Entries, Top, Redact and Layouts are those of Options.
	Entries, Top int
	Redact       func(dst, key []byte) []byte
	Layouts      []Layout

	// Progress is called after every page. It may be nil.
	Progress func(ScanProgress)
}

// ScanProgress is the progress of a scan.
type ScanProgress struct {
	Items, Of int64 // examined, and about how many there will be
	Units     float64
}

func (o ScanOptions) validate() error {
	var faults []error
	if !(o.MaxRCU >= 0) || math.IsInf(o.MaxRCU, 0) {
		faults = append(faults, fmt.Errorf("MaxRCU is %v: it must be a positive rate", o.MaxRCU))
	}
	if o.Segments < 0 || o.Segments > 1_000_000 {
		faults = append(faults, notBetween("Segments", o.Segments, 1, 1000000))
	}
	faults = append(faults, Options{Entries: o.Entries, Top: o.Top, Layouts: o.Layouts}.validate())
	return errors.Join(faults...)
}

func (o ScanOptions) withDefaults() ScanOptions {
	o.Items = cmp.Or(o.Items, 100_000)
	if o.Items < 0 {
		o.Items = math.MaxInt64
	}
	o.MaxRCU = cmp.Or(o.MaxRCU, 100)
	o.Seed = cmp.Or(o.Seed, 1)
	return o
}

// ScanCost is an estimate of a scan's cost.
type ScanCost struct {
	Items    int64         // to be examined, about
	Of       int64         // in the table, about: DynamoDB counts every six hours
	Units    float64       // read units
	Duration time.Duration // at MaxRCU
}

// String returns the estimate in a line.
func (c ScanCost) String() string {
	return fmt.Sprintf("about %d of %d items, %.0f read units, %v", c.Items, c.Of, c.Units, c.Duration.Round(time.Second))
}

// EstimateScan estimates the cost of ScanTable from the table's description. It costs one DescribeTable.
func EstimateScan(ctx context.Context, client Describer, table string, options ScanOptions) (ScanCost, error) {
	if err := options.validate(); err != nil {
		return ScanCost{}, err
	}
	o := options.withDefaults()
	d, err := describe(ctx, client, table)
	if err != nil {
		return ScanCost{}, err
	}
	if err := checkIndexes(table, o.Layouts, d); err != nil {
		return ScanCost{}, err
	}
	return o.cost(d), nil
}

func (o ScanOptions) cost(d *types.TableDescription) ScanCost {
	c := ScanCost{Of: aws.ToInt64(d.ItemCount)}
	c.Items = min(c.Of, o.Items)
	if c.Of > 0 {
		c.Units = math.Ceil(float64(aws.ToInt64(d.TableSizeBytes)) * float64(c.Items) / float64(c.Of) / 8192) // 4 KB, half price
	}
	segments := float64(o.segments(c.Of))
	if o.samples(c.Of) {
		segments = math.Ceil(segments * float64(c.Items) / float64(c.Of))
	}
	c.Units += 0.5 * segments
	c.Duration = time.Duration(c.Units / o.MaxRCU * float64(time.Second))
	return c
}

// ScanTable counts the stored items of a table and of its global indexes, by key and by shape of key. It reads with a
// parallel, eventually consistent Scan, one page of each segment in turn, within MaxRCU and Items. Of a table with more
// items than that, it reads random segments to their ends, and the report says how likely a key is among them. If ctx ends
// first, it returns what it has counted beside the error.
func ScanTable(ctx context.Context, client Scanner, table string, options ScanOptions) (Report, error) {
	if err := options.validate(); err != nil {
		return Report{}, err
	}
	o := options.withDefaults()
	s, err := newScan(ctx, client, table, o)
	if err != nil {
		return Report{}, err
	}
	err = s.run(ctx)
	return s.report(), err
}

// scan is a scan under way.
type scan struct {
	options   ScanOptions
	client    Scanner
	table     string
	inventory *inventory
	expected  ScanCost
	due       time.Time // when the next page may be read
	items     int64
	units     float64
	segments  int // of the table
	open      []segment
	ended     int
	begun     int   // segments of a sample, those in open included
	sample    *draw // of segments; nil if all are read
}

// segment is a part of the table, and where its next page starts.
type segment struct {
	number int32
	start  map[string]types.AttributeValue
}

func newScan(ctx context.Context, client Scanner, table string, o ScanOptions) (*scan, error) {
	d, err := describe(ctx, client, table)
	if err != nil {
		return nil, err
	}
	if err := checkIndexes(table, o.Layouts, d); err != nil {
		return nil, err
	}
	ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		return nil, fmt.Errorf("describe time to live of table %q: %w", table, err)
	}
	attribute := ""
	if on := ttl.TimeToLiveDescription; on != nil && on.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
		attribute = aws.ToString(on.AttributeName)
	}
	t := newTable(aws.ToString(d.TableName))
	t.learn(d)
	s := &scan{
		options: o, client: client, table: table, expected: o.cost(d), due: time.Now(),
		inventory: newInventory(t.view.Load(), attribute, Options{Entries: o.Entries, Top: o.Top, Redact: o.Redact, Layouts: o.Layouts}),
	}
	s.segments = o.segments(s.expected.Of)
	if o.samples(s.expected.Of) {
		s.sample = newDraw(s.segments, o.Seed)
		return s, nil
	}
	for i := range s.segments {
		s.open = append(s.open, segment{number: int32(i)})
	}
	return s, nil
}

// run reads pages of the segments in turn until all have ended or enough items were read.
func (s *scan) run(ctx context.Context) error {
	if s.sample != nil {
		if err := s.runSample(ctx); err != nil {
			return err
		}
	}
	for len(s.open) > 0 && s.items < s.options.Items {
		still := s.open[:0]
		for _, part := range s.open {
			if s.items >= s.options.Items {
				still = append(still, part)
				continue
			}
			if err := s.pace(ctx); err != nil {
				return err
			}
			more, err := s.page(ctx, &part)
			if err != nil {
				return err
			}
			if more {
				still = append(still, part)
			} else {
				s.ended++
			}
		}
		s.open = still
	}
	return nil
}

// pace waits until the read units are within MaxRCU.
func (s *scan) pace(ctx context.Context) error {
	wait := time.Until(s.due)
	if wait <= 0 {
		return ctx.Err()
	}
	return dispatch.Sleep(ctx, wait)
}

// mostPageUnits is far more than DynamoDB charges for a page, which has 1 MB at most.
const mostPageUnits = 10_000

// page reads a page of a segment and reports whether there are more. It takes at most about a second's units, by the size of
// earlier items.
func (s *scan) page(ctx context.Context, part *segment) (bool, error) {
	out, err := s.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: aws.String(s.table), Segment: aws.Int32(part.number), TotalSegments: aws.Int32(int32(s.segments)),
		ExclusiveStartKey: part.start, Limit: aws.Int32(s.limit()), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return false, fmt.Errorf("scan of table %q, segment %d: %w", s.table, part.number, err)
	}
	for _, item := range out.Items {
		s.inventory.add(item)
	}
	s.items += int64(len(out.Items))
	if out.ConsumedCapacity != nil {
		units := aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
		if !(units >= 0 && units <= mostPageUnits) { // NaN is neither, and none of these tells how long to wait
			return false, fmt.Errorf("scan of table %q, segment %d: the server reports impossible units: %g for a page", s.table, part.number, units)
		}
		s.units += units
		if now := time.Now(); s.due.Before(now.Add(-time.Second)) {
			s.due = now.Add(-time.Second) // what was not used for longer is lost: no catching up
		}
		s.due = s.due.Add(time.Duration(units / s.options.MaxRCU * float64(time.Second)))
	}
	if s.options.Progress != nil {
		s.options.Progress(ScanProgress{Items: s.items, Of: max(s.expected.Items, s.items), Units: s.units})
	}
	part.start = out.LastEvaluatedKey
	return len(part.start) > 0, nil
}

func (s *scan) limit() int32 {
	size := 1024.0 // of an item, before any is known
	if s.items > 0 {
		size = max(1, s.units*8192/float64(s.items))
	}
	// No page takes so many items that there are none left for other segments.
	limit := min(s.options.MaxRCU*8192/size, 1000, float64(s.options.Items-s.items), math.Ceil(float64(s.options.Items)/float64(min(s.segments, sampledSegments))))
	return int32(max(1, limit))
}

func (s *scan) report() Report {
	fraction := 1.0
	switch {
	case s.sample != nil:
		fraction = s.fraction()
	case len(s.open) > 0:
		fraction = float64(s.items) / float64(max(s.expected.Of, s.items+1))
	}
	now := time.Now().UTC()
	r := Report{Source: Scan, From: now, To: now, Resources: s.inventory.report(fraction)}
	if s.sample != nil && s.begun < s.segments {
		r.Notes = append(r.Notes, s.confidence()...)
	} else if len(s.open) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf(
			"%d items were examined, %d of %d segments to their end: keys beyond that point are missing, however many items they have, and shares are of the examined items", s.items, s.ended, s.segments))
	}
	r.Notes = append(r.Notes, "a scan shows stored items, not reads and writes")
	return r
}
