package move

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

// plan says what is left of a move, or what a new one takes.
func (m *byID) plan(ctx context.Context, back bool) (Forecast, error) {
	table, err := m.admit(ctx)
	if err != nil {
		return Forecast{}, err
	}
	for {
		v, _, err := m.current(ctx)
		if err != nil {
			return Forecast{}, err
		}
		f, err := m.planAt(ctx, table, v, back)
		if err != nil || f.Blocked == 0 {
			return f, err
		}
		now, _, err := m.current(ctx)
		if err != nil || now.Record.Generation == v.Record.Generation {
			return f, err
		} // else what seemed to be in the way may be what another mover does
	}
}

// planAt is plan by one view of the record.
func (m *byID) planAt(ctx context.Context, table *types.TableDescription, v *passage.View, back bool) (Forecast, error) {
	if err := m.admits(&v.Record, back); err != nil {
		return Forecast{}, err
	}
	var err error
	to := cmp.Or(v.Record.Next, v.Record.Announced)
	if to == nil {
		if to, err = m.target(v.Record.Now); err != nil {
			return Forecast{}, err
		}
	}
	tables, err := m.admitTables(ctx, table, &v.Record, to)
	if err != nil {
		return Forecast{}, err
	}
	sampled := v.Record.Now.Table
	if v.Record.Stage.Phase == forward.Back || v.Record.Stage.Trace == forward.Returned {
		sampled = to.Table
	}
	table = tables[sampled]
	t := m.newTrip(table)
	t.in = m.name(sampled)
	a := &appraisal{trip: t, record: v.Record, to: to, in: sampled, atlas: newAtlas(m.mover.options.Collection.PartitionKey, m.mover.options.Collection.SortKey, v.Record.Now, to)}
	if to != nil && v.Record.Stage == (forward.Stage{}) {
		if err := t.admitTimes(to); err != nil {
			return Forecast{}, err
		}
		a.census = t.newCensus(v.Record.Now, to)
		if a.census.all && !v.Record.Now.Equal(*to) {
			if err := t.rivals(ctx, v.Record.Now.Table, to.Table); err != nil {
				return Forecast{}, err
			}
		}
	}
	if to != nil && to.Table != v.Record.Now.Table {
		if a.into = newTariff(tables[to.Table]); to.Table != "" {
			if err := m.vacant(ctx, v, to); err != nil {
				return Forecast{}, err
			}
		}
	}
	if to == nil || v.Record.Now.Equal(*to) { // of a move that has come to its end
		a.to, a.atlas = nil, atlasOf(m.mover.options.Collection.PartitionKey, m.mover.options.Collection.SortKey, &v.Record)
	}
	s, source, err := a.sample(ctx, table)
	if err != nil {
		return Forecast{}, err
	}
	f := m.mover.infer(table, s)
	if to != nil {
		f.To = new(arrangementOf(*to))
	}
	a.complete(&f, s, source, table)
	if m.mover.options.varies() && f.Listed == 0 {
		among := "no item"
		if !f.Exact {
			among = "none of the items that were read"
		}
		f.Notes = append(f.Notes, among+" has one of the keys of Widths (--keys) or Prefixes (--prefix): check how they are spelt")
	}
	f.PointInTimeRecovery = m.mover.recovery(ctx)
	if a.into != nil && v.Record.Stage == (forward.Stage{}) {
		if err := admitIndexes(tables[to.Table], tables[v.Record.Now.Table]); err != nil {
			f.Notes = append(f.Notes, fmt.Sprintf("table %s lacks the key of an index of table %s, so programs may put items that could not go back: create that index there before the move",
				m.name(to.Table), m.name(v.Record.Now.Table)))
		}
	}
	if phase := v.Record.Stage.Phase; a.to != nil && (phase == forward.Settled || phase == forward.Split) {
		checks, err := t.checks(ctx)
		if err != nil {
			return Forecast{}, err
		}
		if !checks { // before it begins: there is no way back from it
			f.Notes = append(f.Notes, unchecked+"; it can neither end nor go back")
		}
	}
	return f, nil
}

// appraisal finds out what a move takes.
type appraisal struct {
	*trip
	record passage.Record
	to     *passage.Arrangement // nil if no item has to move any more
	scope  *scope               // of the keys that move, nil for all
	atlas  *atlas
	census *census // of a move that has not begun; nil otherwise

	in   string  // the table that is sampled, as passage.Arrangement has it
	into *tariff // of the table that items move into; nil if it is the same
}

// sample looks at some items: of the whole table, or of the keys that move.
func (a *appraisal) sample(ctx context.Context, table *types.TableDescription) (*sample, *source, error) {
	source, err := a.newSource(a.record.Now, a.to, true)
	if err != nil {
		return nil, nil, err
	}
	a.work.weigh, a.scope = a.weigh, source.scope
	if source.keys == nil {
		s, err := a.mover.sampleWith(ctx, a.work)
		return s, source, err
	}
	s := &sample{of: 1, first: true}
	tariff := newTariff(table)
	for n := range source.total {
		part := &segment{number: n}
		for !part.done && s.report.Scanned < enoughItems {
			out, err := source.page(ctx, part)
			if err != nil {
				return nil, nil, err
			}
			part.start, part.done = out.LastEvaluatedKey, len(out.LastEvaluatedKey) == 0
			s.units += capacity(out.ConsumedCapacity)
			s.report.Scanned += int64(len(out.Items))
			if err := a.weigh(ctx, a.work, s, out.Items, tariff); err != nil {
				return nil, nil, err
			}
		}
		if !part.done {
			return s, source, nil
		}
	}
	s.read = 1
	return s, source, nil
}

// weigh adds items to the sample.
func (a *appraisal) weigh(ctx context.Context, _ *work, s *sample, items []place.Item, tariff *tariff) error {
	if a.census != nil && a.to != nil {
		if err := a.census.rivalsAmong(ctx, a.in, items); err != nil {
			return err
		}
	}
	for _, item := range items {
		s.bytes += float64(sizeOf(item))
		if !a.scope.has(item) {
			continue
		}
		slot, odd := a.byID.table.Slot(item)
		at := a.atlas.find(a.in, item, slot.State)
		if a.census != nil && a.to != nil {
			if kind, at, why := a.census.judge(a.in, item); kind != "" {
				s.blocked++
				s.report.find(a.finding(kind, at, item, why))
				continue
			}
		}
		switch {
		case at.spot == atControl:
			continue
		case odd != nil:
			s.report.find(a.finding(kindMarks, at, item, odd.Error()))
		case at.spot == atUnknown:
			s.report.Unexplained++
			s.report.find(a.finding(unexplained.String(), at, item, at.why))
			continue
		case at.spot == astray:
			s.report.Misplaced++
		}
		s.report.Listed++
		var table, index float64
		switch live := slot.State == forward.Live || slot.State == forward.Frozen; {
		case a.to != nil && at.spot == atOld && live && a.record.Stage.Phase != forward.Settling && a.record.Stage.Phase != forward.Back:
			table, index = a.cost(item, at, tariff)
		case at.spot == atNew && slot.State == forward.Live && a.record.Stage.Phase == forward.Back:
			table = 2*writeUnits(item) + 1 // it is marked, and put back, and in the end its mark goes
		default:
			if slot.State == forward.Stub || slot.State == forward.Dead { // a mark of a move that has begun, which goes in the end
				table, index = tariff.change(item, nil)
				s.table += table
				s.index += index
			}
			s.report.Right++
			continue
		}
		s.report.Old++
		s.moves++
		s.table += table
		s.index += index
		s.reads += max(1, math.Ceil(float64(sizeOf(item))/readUnit)) + 1 // before, and the stub behind
		if a.record.List() || wary(a.record.Now, *a.to) {
			s.reads++ // the new home, before
		}
	}
	return nil
}

// cost returns the write units of moving an item: it is frozen, copied and stripped, and in the end its stub goes.
func (a *appraisal) cost(item place.Item, at located, tariff *tariff) (table, index float64) {
	o := &a.options.Collection
	key := place.Item{o.PartitionKey: item[o.PartitionKey], o.SortKey: item[o.SortKey]}
	frozen, copied, stub := maps.Clone(item), maps.Clone(item), maps.Clone(key)
	frozen["_hs_f"], stub["_hs_f"] = text("z"), text("s")
	copied[o.PartitionKey], copied["_hs_m"] = text(at.new), &types.AttributeValueMemberN{Value: "1"}
	for n, change := range [][2]place.Item{{item, frozen}, {nil, copied}, {frozen, stub}, {stub, nil}} {
		by := tariff
		if n == 1 && a.into != nil {
			by = a.into
		}
		t, i := by.change(change[0], change[1])
		table += t
		index += i
	}
	return table, index
}

// complete adds what only moves of a table's own keys have.
func (a *appraisal) complete(f *Forecast, s *sample, source *source, table *types.TableDescription) {
	scale := float64(f.Items) / float64(max(s.report.Scanned, 1))
	once := source.once(f.Items, float64(f.Bytes))
	passes := map[forward.Stage]float64{
		{}:                        5, // the census, one to move, one when it is closed, and two that clean up
		{Phase: forward.Split}:    4,
		{Phase: forward.Closed}:   3,
		{Phase: forward.Settling}: 2,
		{Phase: forward.Back}:     2,
	}[a.record.Stage]
	if a.to == nil && a.record.Stage == (forward.Stage{}) {
		passes = 0
	}
	if passes == 0 && a.record.Stage != (forward.Stage{}) {
		passes = 1
	}
	if a.record.List() && passes > 0 { // nothing is deleted from a list, so one pass is not made
		passes--
	}
	if a.announces() {
		passes++
	}
	f.ReadUnits = passes*once + s.reads*scale
	if a.into != nil {
		f.ReadUnits += a.between(source, f, once)
	}
	f.Passes = int(passes)
	f.Dollars = dollars(a.options.Prices, f.ReadUnits, f.WriteUnits)
	seconds := max(passes*once/a.options.RCU, f.WriteUnits/a.options.WCU)
	f.Duration = time.Duration(min(seconds*float64(time.Second), math.MaxInt64/2))
	switch announced := time.UnixMilli(a.record.At).Add(quietTime); {
	case a.announces():
		f.Duration += quietTime
	case a.record.Announced != nil:
		f.Duration += max(time.Until(announced), 0)
	}
	f.Waits = a.waits()
	f.Blocked = int64(math.Round(float64(s.blocked) * scale))
	f.Findings = s.report.Findings
	f.Stage = stageOf(&a.record)
	f.Notes = nil
	switch {
	case s.exact():
	case source.keys != nil:
		f.Notes = append(f.Notes, fmt.Sprintf("the keys have more than the %s that were read, and nothing tells how many: the figures are those of all %s of the table, at most",
			figure.Count(s.report.Scanned, "item"), figure.Count(aws.ToInt64(table.ItemCount), "item")))
	case s.first:
		f.Notes = append(f.Notes, fmt.Sprintf("most items are under few partition keys, so a random sample is not like the whole: the figures are those of the first %s, "+
			"for the %s that the table's description counts", figure.Count(s.report.Scanned, "item"), figure.Count(aws.ToInt64(table.ItemCount), "item")))
	}
	if table.BillingModeSummary == nil || table.BillingModeSummary.BillingMode == types.BillingModeProvisioned {
		f.Notes = append(f.Notes, "the table has provisioned capacity: the move uses what is paid for already, and the dollars are those of an on-demand table")
	}
	if n := len(table.GlobalSecondaryIndexes); n > 0 && f.Moves > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s may show an item twice, or miss it, for the moment between its two homes: drop entries that have the attribute _hs_f or _hs_d", figure.Count(n, "index")))
	}
}

// between returns how many more read units a move into another table takes, or fewer.
func (a *appraisal) between(source *source, f *Forecast, once float64) (units float64) {
	if phase := a.record.Stage.Phase; phase == forward.Settled || phase == forward.Split { // two passes meet stubs alone, as the items are in the other table
		units = 2 * (source.once(f.Items, stubBytes*float64(f.Items)) - once)
	}
	if a.census != nil {
		units += float64(source.total) // the census of the other table, which is empty
	}
	return units
}

// stubBytes is about the size of a stub.
const stubBytes = 40

// announces reports whether the move has yet to be announced before it begins: see life.begin.
func (a *appraisal) announces() bool {
	return a.record.Stage == forward.Stage{} && a.record.Announced == nil && a.to != nil && refusesMore(a.record.Now, *a.to)
}

// waits returns how long the stages of a move have to last, at least, from now on.
func (a *appraisal) waits() time.Duration {
	stages := map[string]int{stageSettled: 3, stageAnnounced: 3, stageSplit: 3, stageClosed: 2, stageSettling: 2, stageSweeping: 1, stageBack: 2, stageReturned: 1}[stageOf(&a.record).Name]
	if a.to == nil && stageOf(&a.record).Name == stageSettled {
		return 0
	}
	if name := stageOf(&a.record).Name; a.record.List() && (name == stageSettled || name == stageAnnounced || name == stageSplit || name == stageClosed) {
		stages++ // it waits when it is closed as well
	}
	waits := time.Duration(stages) * lease.Wait
	if until := stageOf(&a.record).Until; !until.IsZero() && a.record.Announced == nil {
		waits -= min(max(lease.Wait-time.Until(until), 0), lease.Wait)
	}
	return waits
}
