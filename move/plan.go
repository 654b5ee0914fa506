package move

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

const (
	enoughItems    = 5000 // a sample of so many is enough
	enoughSegments = 50
	segmentItems   = 100     // that a segment of a sample should have
	maxTotal       = 1 << 19 // segments; DynamoDB allows a million
)

// Plan says what Run will do and what that costs. It describes the table and reads a random sample of about 5,000 items, or all
// items if there are no more. It changes nothing.
func (m *Mover) Plan(ctx context.Context) (Forecast, error) {
	f, err := m.plan(ctx)
	if err != nil {
		return f, fmt.Errorf("plan the move of table %s: %w", m.options.Collection.Table, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forecast = &f
	return f, nil
}

func (m *Mover) plan(ctx context.Context) (Forecast, error) {
	if m.byID != nil {
		return m.byID.plan(ctx, false)
	}
	table, err := m.describe(ctx)
	if err != nil {
		return Forecast{}, err
	}
	s, err := m.sample(ctx, table)
	if err != nil {
		return Forecast{}, err
	}
	f := m.infer(table, s)
	f.PointInTimeRecovery = m.recovery(ctx)
	segments, ignored, err := newCheckpoint(m.client, &m.options, table).load(ctx, m.options.Segments)
	if err != nil {
		return f, err
	}
	f.Resumes = segments != nil
	if ignored != "" {
		f.Notes = append(f.Notes, "there is a checkpoint, but it is not used: "+ignored)
	}
	return f, nil
}

// sample is what was seen of some segments of the table.
type sample struct {
	report       Report
	bytes        float64
	moves        int64
	table, index float64 // write units of these moves
	reads        float64 // read units of looking at each of them
	blocked      int64   // items that keep a move from beginning
	units        float64 // read units that it took
	read, of     int     // segments
	parts        []sampled
	largest      int64 // items of the largest of them
	first        bool  // it has the first items of the table instead of random ones
}

// sampled is one segment of a sample.
type sampled struct{ items, moves int64 }

func (s *sample) exact() bool { return s.read == s.of }

// sample reads random segments. Their number follows from how many items the table has by its description, which may be six
// hours old: where a segment turns out to be too large, there are more segments in the next attempt.
func (m *Mover) sample(ctx context.Context, table *types.TableDescription) (*sample, error) {
	return m.sampleWith(ctx, m.newWork(table))
}

func (m *Mover) sampleWith(ctx context.Context, work *work) (*sample, error) {
	table := work.table
	total := int(min(max(aws.ToInt64(table.ItemCount)/segmentItems, 1), maxTotal))
	if aws.ToInt64(table.ItemCount) <= enoughItems {
		total = 1
	}
	units := 0.0
	for {
		s, fits, err := m.sampleOf(ctx, work, total)
		units += s.units
		if err == nil && fits && s.skewed(table) {
			s, err = m.sampleFirst(ctx, work)
			units += s.units
			fits = true
		}
		s.units = units + work.result.ReadUnits // those of ledgers
		if err != nil || fits {
			return s, err
		}
		total = min(total*16, maxTotal)
	}
}

// sampleOf reads random ones of so many segments, until the sample is large enough. fits is false if a segment was too large.
func (m *Mover) sampleOf(ctx context.Context, work *work, total int) (s *sample, fits bool, err error) {
	s = &sample{of: total}
	tariff := newTariff(work.table)
	for _, n := range rand.Perm(total) {
		if total > 1 && s.read > 1 && (s.report.Scanned >= enoughItems || s.read >= enoughSegments) {
			break
		}
		part := &segment{number: n}
		before := sampled{s.report.Scanned, s.moves}
		for !part.done {
			if err := s.page(ctx, work, part, total, tariff); err != nil {
				return s, false, err
			}
			if !part.done && s.report.Scanned >= 2*enoughItems && total < maxTotal {
				return s, false, nil
			}
		}
		s.read++
		s.parts = append(s.parts, sampled{s.report.Scanned - before.items, s.moves - before.moves})
		s.largest = max(s.largest, s.report.Scanned-before.items)
	}
	return s, true, nil
}

// margin returns how far off the moves of the whole table may be, at 95 % confidence. The segments differ in their share of moves
// and, if the number of items in the table is not known, in their size.
func (s *sample) margin(scale float64, counted bool) float64 {
	k := float64(len(s.parts))
	if s.exact() || k < 2 {
		return 0
	}
	share, mean := float64(s.moves)/float64(max(s.report.Scanned, 1)), float64(s.moves)/k
	sum := 0.0
	for _, p := range s.parts {
		expected := mean
		if counted {
			expected = share * float64(p.items)
		}
		sum += (float64(p.moves) - expected) * (float64(p.moves) - expected)
	}
	unread := 1 - k/float64(s.of)
	return 1.96 * scale * math.Sqrt(k*sum/(k-1)*unread)
}

// sizeMargin returns how far off the number of items in the table may be that the sample points to. It is large if segments differ much,
// because the items are under some ten or hundred partition keys. Twice the margin of 95 % allows for samples that end with a large segment.
func (s *sample) sizeMargin(scale float64) float64 {
	k := float64(len(s.parts))
	if s.exact() || k < 2 {
		return 0
	}
	mean, sum := float64(s.report.Scanned)/k, 0.0
	for _, p := range s.parts {
		sum += (float64(p.items) - mean) * (float64(p.items) - mean)
	}
	return 2 * 1.96 * scale * math.Sqrt(k*sum/(k-1)*(1-k/float64(s.of)))
}

// page adds a page to the sample.
func (s *sample) page(ctx context.Context, work *work, part *segment, total int, tariff *tariff) error {
	out, err := work.scan(ctx, part, total, scanWhole)
	if err != nil {
		return err
	}
	s.units += capacity(out.ConsumedCapacity)
	s.report.Scanned += int64(len(out.Items))
	weigh := weighListed
	if work.weigh != nil {
		weigh = work.weigh
	}
	part.start, part.done = out.LastEvaluatedKey, len(out.LastEvaluatedKey) == 0
	return weigh(ctx, work, s, out.Items, tariff)
}

// weighListed adds items that an index lists to a sample.
func weighListed(ctx context.Context, work *work, s *sample, items []place.Item, tariff *tariff) error {
	seen := time.Now()
	for _, item := range items { // first, so that all suspects of the page are known
		if err := work.look(ctx, item); err != nil {
			return err
		}
		if _, _, err := work.judged(ctx, item, seen); err != nil {
			return err
		}
	}
	for _, item := range items {
		s.bytes += float64(sizeOf(item))
		v, ok, err := work.judged(ctx, item, seen)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		s.report.add(v, work.nameOf(item))
		if v.kind.moves() {
			table, index := tariff.update(item, v.change)
			s.moves++
			s.table += table
			s.index += index
		}
	}
	return nil
}

// skewed reports whether random segments have missed most items or met most in one segment, because these are under few
// partition keys of the table.
func (s *sample) skewed(table *types.TableDescription) bool {
	seen := float64(s.report.Scanned) * float64(s.of) / float64(max(s.read, 1))
	return !s.exact() && (s.report.Scanned == 0 || s.largest > s.report.Scanned/4*3 || seen < float64(aws.ToInt64(table.ItemCount))/2)
}

// sampleFirst reads the first items of the table.
func (m *Mover) sampleFirst(ctx context.Context, work *work) (*sample, error) {
	s := &sample{of: 1, first: true}
	tariff := newTariff(work.table)
	part := &segment{}
	for !part.done && s.report.Scanned < enoughItems {
		if err := s.page(ctx, work, part, 1, tariff); err != nil {
			return s, err
		}
	}
	if part.done {
		s.read = 1
	}
	return s, nil
}

// infer returns what a sample says about the whole table.
func (m *Mover) infer(table *types.TableDescription, s *sample) Forecast {
	o := &m.options
	f := Forecast{Sampled: s.report.Scanned, Exact: s.exact(), SampleUnits: s.units}
	scale := float64(s.of) / float64(max(s.read, 1))
	described := float64(aws.ToInt64(table.ItemCount))
	seen := float64(s.report.Scanned) * scale
	counted := false
	switch {
	case f.Exact:
	case s.first:
		all := max(described, float64(s.report.Scanned)) // the description may be older than the items
		scale = all / float64(max(s.report.Scanned, 1))
		f.Notes = append(f.Notes, fmt.Sprintf("most items are under few partition keys of the table, so a random sample is not like the whole: the figures are those of the first %s, "+
			"for the %s that the table's description counts", figure.Count(s.report.Scanned, "item"), figure.Count(aws.ToInt64(table.ItemCount), "item")))
	case described > 0 && math.Abs(seen-described) < max(0.2*described, s.sizeMargin(scale)):
		counted = true
		scale = described / float64(max(s.report.Scanned, 1)) // the description is exact, and the sample is not
	default:
		f.Notes = append(f.Notes, fmt.Sprintf("the table's description counts %s, and the sample points to about %s: the figures are the sample's",
			figure.Count(aws.ToInt64(table.ItemCount), "item"), figure.Thousands(math.Round(seen))))
	}
	whole := func(x float64) int64 { return int64(math.Round(x * scale)) }
	f.Items, f.Bytes, f.Moves = whole(float64(s.report.Scanned)), whole(s.bytes), whole(float64(s.moves))
	f.Unexplained = whole(float64(s.report.Beyond + s.report.Unexplained))
	f.MovesMargin = int64(math.Ceil(s.margin(scale, counted)))
	f.Listed = whole(float64(s.report.Listed))
	f.Misplaced, f.Ambiguous = whole(float64(s.report.Misplaced)), whole(float64(s.report.Ambiguous))
	f.IndexUnits = s.index * scale
	f.WriteUnits = s.table*scale + f.IndexUnits
	for _, found := range s.report.Findings {
		if found.Kind == beyond.String() || found.Kind == unexplained.String() || found.Kind == ambiguous.String() {
			f.Findings = append(f.Findings, found)
		}
	}

	bytes := float64(f.Bytes)
	size := bytes / float64(max(f.Items, 1))
	pages := max(float64(o.Segments), bytes/m.pageBytes(size))
	once := pages * max(1, bytes/pages/readUnit+0.5) // each page is rounded up
	f.ReadUnits = once/2 + once
	f.Dollars = dollars(o.Prices, f.ReadUnits, f.WriteUnits)
	seconds := max(once/2/o.RCU, f.WriteUnits/o.WCU) + once/o.RCU
	f.Duration = time.Duration(min(seconds*float64(time.Second), math.MaxInt64/2))
	if o.Collection.Adaptive != nil {
		f.Notes = append(f.Notes, "each key takes 1 more read unit for its ledger, every 30 s while its items are moved")
	}
	if table.BillingModeSummary == nil || table.BillingModeSummary.BillingMode == types.BillingModeProvisioned {
		f.Notes = append(f.Notes, "the table has provisioned capacity: the move uses what is paid for already, and the dollars are those of an on-demand table")
	}
	f.Notes = append(f.Notes, m.otherIndexes(table)...)
	if o.Collection.ControlTable == "" && kindOfAttribute(table, o.Collection.PartitionKey) != types.ScalarAttributeTypeS {
		f.Notes = append(f.Notes, "the table's partition key is no string, so there is no checkpoint: a move that is stopped begins again; set ControlTable to keep one elsewhere")
	}
	return f
}

// otherIndexes returns what to say about indexes that the move changes although they are not the collection's.
func (m *Mover) otherIndexes(table *types.TableDescription) (notes []string) {
	own := m.options.Collection.Index
	changed := []string{own.PartitionKey}
	if own.ShardAttribute != "" {
		changed = []string{own.ShardAttribute}
		if slices.ContainsFunc(m.options.From, func(l layout.Layout) bool { return l.Shards > 0 || l.Bucket != layout.NoBucket }) {
			changed = append(changed, own.PartitionKey)
		}
	}
	add := func(name *string, keys []types.KeySchemaElement) {
		for _, key := range keysOf(keys) {
			if aws.ToString(name) != own.Name && slices.Contains(changed, key) {
				notes = append(notes, fmt.Sprintf("index %s has %q in its key as well: its entries change with the move, so programs that query it must use the same layout", aws.ToString(name), key))
			}
		}
	}
	for _, x := range table.GlobalSecondaryIndexes {
		add(x.IndexName, x.KeySchema)
	}
	for _, x := range table.LocalSecondaryIndexes {
		add(x.IndexName, x.KeySchema)
	}
	return notes
}

// recovery says whether the table can be restored to the time before the move.
func (m *Mover) recovery(ctx context.Context) string {
	out, err := m.client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &m.options.Collection.Table}, dispatch.Once)
	if err != nil || out.ContinuousBackupsDescription == nil || out.ContinuousBackupsDescription.PointInTimeRecoveryDescription == nil {
		return "unknown"
	}
	if out.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled {
		return "on"
	}
	return "off"
}

// describe returns the table, and refuses one that is not what the options say.
func (m *Mover) describe(ctx context.Context) (*types.TableDescription, error) {
	o := &m.options.Collection
	t, err := m.describeTable(ctx, o.Table)
	if err != nil {
		return nil, err
	}
	if len(t.Replicas) > 0 {
		return nil, fmt.Errorf("%w: it is a global table with %s; a replica's write replaces the whole item, so the move could undo writes of other regions",
			ErrUnsupported, figure.Count(len(t.Replicas), "replica"))
	}
	want := []string{o.PartitionKey}
	if o.SortKey != "" {
		want = append(want, o.SortKey)
	}
	if got := keysOf(t.KeySchema); !equal(got, want) {
		return nil, fmt.Errorf("the table has the key %q, but Options.Collection has %q: name the table's keys as they are", got, want)
	}
	for _, x := range t.GlobalSecondaryIndexes {
		if aws.ToString(x.IndexName) != o.Index.Name {
			continue
		}
		want := []string{o.Index.PartitionKey}
		for _, name := range []string{o.Index.ShardAttribute, o.Index.SortKey} {
			if name != "" {
				want = append(want, name)
			}
		}
		if got := keysOf(x.KeySchema); !equal(got, want) {
			return nil, fmt.Errorf("index %s has the key %q, but Options.Collection.Index has %q: name the index's keys as they are", o.Index.Name, got, want)
		}
		if kind := kindOfAttribute(t, o.Index.PartitionKey); kind != types.ScalarAttributeTypeS {
			return nil, fmt.Errorf("%w: the partition key %q of index %s has the type %s: only a string (S) can be spread, because the shard is written into it",
				ErrUnsupported, o.Index.PartitionKey, o.Index.Name, kind)
		}
		return t, m.ready(ctx, t)
	}
	return nil, fmt.Errorf("the table has no index %q: name one of its global secondary indexes", o.Index.Name)
}

// describeTable returns a table as it is.
func (m *Mover) describeTable(ctx context.Context, name string) (*types.TableDescription, error) {
	var out *dynamodb.DescribeTableOutput
	_, err := dispatch.New(dispatch.Retry{}, nil, nil).Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) (err error) {
		out, err = m.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name}, dispatch.Once)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("DescribeTable: %w", err)
	}
	return out.Table, nil
}

func equal(a, b []string) bool { return fmt.Sprintf("%q", a) == fmt.Sprintf("%q", b) }
