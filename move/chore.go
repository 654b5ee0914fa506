package move

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/carry"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

// errWentOn ends a pass because somebody has changed the record meanwhile: what the pass does may be wrong by then.
var errWentOn = errors.New("the record has changed meanwhile")

// round is one pass that does a chore of a stage.
type round struct {
	*trip
	pass   *pass
	chore  forward.Chore
	record passage.Record // of the stage
	atlas  *atlas
	before *atlas // of where items were alone
	wary   bool   // a new home may have an item that no move has put there: see occupied

	// Under work.mu:
	found int64 // items that there was something to do for
	left  int64 // of these, items that others changed all the time
	stuck int64 // items that the chore can do nothing for, and that keep the stage from ending
}

// newRound returns a pass for a chore, from the beginning.
func (t *trip) newRound(v *passage.View, chore forward.Chore, c *checkpoint) (*round, error) {
	r := &round{trip: t, chore: chore, record: v.Record}
	o := &t.options.Collection
	r.atlas = atlasOf(o.PartitionKey, o.SortKey, &v.Record)
	r.wary = chore == forward.MoveAll && !v.Record.List() && wary(v.Record.Now, *v.Record.Next)
	r.before = newAtlas(o.PartitionKey, o.SortKey, v.Record.Now, nil)
	source, err := t.newSource(v.Record.Now, v.Record.Next, false)
	if err == nil && v.Record.Next == nil && c != nil && c.trail != nil { // Former does not tell which keys have moved: it has no Widths
		trail := *c.trail
		trail.in = []passage.Arrangement{v.Record.Now}
		err = source.only(&trail)
	}
	if err != nil {
		return nil, err
	}
	if source.read(&v.Record.Now); chore == forward.DropBacks {
		source.read(v.Record.Next)
	}
	r.pass = &pass{
		work: t.work, segments: source.segments(), mode: scanStrong, moving: true, checkpoint: c,
		keys: []string{o.PartitionKey, o.SortKey}, fetch: source.page, handle: r.take,
	}
	return r, nil
}

// take does the chore for the items of a page. Pages of a shard come one after the other, in the order of sort keys, and a page is over
// before the next begins. So what has moved of a shard is everything up to some sort key, but for a page: programs guess by that where an item is,
// see passage.Hint.
func (r *round) take(ctx context.Context, in string, items []place.Item) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turns := make(chan struct{}, writersPerSegment)
	var all sync.WaitGroup
	for _, item := range items {
		slot, odd := r.byID.table.Slot(item)
		at := r.atlas.find(in, item, slot.State)
		if !r.wanted(at, slot.State, odd, item) {
			r.passed(at)
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
			if err := r.do(ctx, at, item); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// passed counts an item that there was nothing to do for.
func (r *round) passed(at located) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Scanned++
	if at.spot == atOld || at.spot == atNew || at.spot == atBoth {
		r.report.Listed++
		r.report.Right++
	}
}

// wanted reports whether there is something to do for an item. It notes items that keep the stage from ending.
func (r *round) wanted(at located, state forward.State, odd error, item place.Item) bool {
	if at.spot == atControl {
		return false
	}
	if odd != nil {
		r.stick(kindMarks, at, item, odd.Error())
		return false
	}
	switch r.chore {
	case forward.MoveAll:
		switch {
		case at.spot == atOld:
			return state == forward.Live || state == forward.Frozen
		case at.spot == astray && state == forward.Live:
			r.stick(misplaced.String(), at, item, at.why+": "+at.remedy)
		case at.spot == atUnknown && state == forward.Live && r.before.locate(at.in, item).spot == atBoth:
			remedy := "the new layout takes no such key, so the item cannot move; go back, and choose another Format"
			switch {
			case r.record.List():
				remedy = "the new layout takes no such key, so the item cannot move; append it under another key, and delete it"
			case at.key != "": // its key is taken, and its id is not
				remedy = timeless
			}
			r.stick(kindRefused, at, item, at.why+": "+remedy)
		}
	case forward.ReturnAll:
		return at.spot == atOld && state.Forwarded()
	case forward.DropStubs:
		if at.spot == atOld && (state == forward.Live || state == forward.Frozen) {
			r.note(kindStranded, at, item, fmt.Sprintf("it is %v in an old home, which nobody reads any more: a program that ignores the record has written it", state))
			return false
		}
		return at.spot == atOld && state == forward.Stub
	case forward.DropDeads:
		return state == forward.Dead && (at.spot == atNew || at.spot == atBoth)
	case forward.DropBacks:
		return at.spot == atNew && (state == forward.Leaving || state == forward.Left)
	}
	return false
}

// stick notes an item that keeps the stage from ending.
func (r *round) stick(kind string, at located, item place.Item, why string) {
	r.note(kind, at, item, why)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stuck++
}

// note makes an item one of the findings.
func (r *round) note(kind string, at located, item place.Item, why string) {
	f := r.finding(kind, at, item, why)
	if r.chore == forward.ReturnAll {
		f.Want = at.old
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.find(f)
	r.report.tell(kind)
}

const staleTimes = 5 // attempts with a record that has not changed

// do does the chore for one item, within the rates, until it is done or cannot be done.
func (r *round) do(ctx context.Context, at located, item place.Item) error {
	stale, lost, conflicts := 0, 0, 0
	for n := 0; ; n++ {
		v, err := r.once(ctx, at, item)
		switch {
		case err == nil, errors.Is(err, errWentOn), v == nil: // it is done, or nothing was sent
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		stalled := false
		verdict := dispatch.Judge(err)
		occupied, foreign := errors.AsType[*occupiedError](err)
		clash, clashes := errors.AsType[*carry.ClashError](err)
		switch {
		case overdue(err):
		case foreign:
			r.settled(false)
			r.stick(kindOccupied, at, item, occupied.Error())
			return nil
		case clashes:
			r.settled(false)
			r.stick(kindDoubled, at, item, fmt.Sprintf("%v, but the items of a list need sort keys of their own: append one of them through the collection "+
				"with another sort key, and delete it where it is", clash))
			return nil
		case errors.Is(err, carry.ErrStale):
			fresh, renewed := r.book.Renew(ctx, v)
			switch {
			case renewed != nil:
				return renewed
			case fresh.Record.Generation != r.record.Generation:
				return errWentOn
			}
			if stale++; stale >= staleTimes {
				r.settled(false)
				r.stick(kindMarks, at, item, "it has marks that the record does not explain: "+err.Error())
				return nil
			}
		case errors.Is(err, express.ErrStored):
			r.settled(false)
			r.stick(kindMarks, at, item, err.Error())
			return nil
		case dispatch.Invalid(err):
			return r.refuse(at, item, err)
		case dispatch.TooFast(err):
			stalled = r.writes.failed()
			r.writes.throttled()
			r.reads.throttled()
			r.throttles.Add(1)
		case verdict == dispatch.Rejected:
			return fmt.Errorf("move the item with %s %s: %w", r.options.Collection.SortKey, attribute.DescribeKey(item, r.options.Collection.SortKey), err)
		case verdict == dispatch.Refused: // a transaction has the item
			if conflicts++; conflicts >= contests {
				r.settled(false)
				r.mu.Lock()
				r.left++
				r.mu.Unlock()
				return nil
			}
		default:
			stalled = r.writes.failed()
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

// view returns what the record says, if it says what it said when the pass began.
func (r *round) view(ctx context.Context) (*passage.View, error) {
	v, err := r.book.View(ctx)
	if err == nil && v.Record.Generation != r.record.Generation {
		err = errWentOn
	}
	return v, err
}

// once does the chore for one item once, by the view that it returns.
func (r *round) once(ctx context.Context, at located, item place.Item) (*passage.View, error) {
	r.mu.Lock()
	writes := r.perMove
	r.mu.Unlock()
	reads := 0.0
	if r.chore == forward.MoveAll || r.chore == forward.ReturnAll {
		reads = 2
		if r.record.List() || r.wary {
			reads = 3
		}
	} else {
		writes = 1
	}
	if err := r.reads.take(ctx, reads); err != nil {
		return nil, err
	}
	if err := r.writes.take(ctx, writes); err != nil {
		return nil, err
	}
	v, err := r.view(ctx) // behind the waits, because it does not last long
	if err != nil {
		return nil, err
	}
	var used meter.Meter
	done, err := r.act(meter.With(ctx, &used), v, at, item)
	cost := used.Cost()
	r.reads.settle(reads, cost.ReadUnits)
	if err == nil {
		r.writes.settle(writes, cost.WriteUnits)
		r.writes.served()
	} // else the units stay taken, so that attempts do not exceed the rate either
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.ReadUnits += cost.ReadUnits
	r.result.WriteUnits += cost.WriteUnits
	if err != nil {
		return v, err
	}
	if reads > 0 {
		r.perMove += (cost.WriteUnits - r.perMove) / 32
	}
	r.count(done)
	return v, nil
}

// act sends the requests of the chore for one item. done says that they have changed something.
func (r *round) act(ctx context.Context, v *passage.View, at located, item place.Item) (done bool, err error) {
	where := r.placeOf(v, at, item)
	request := forward.Request[express.Item]{}
	switch r.chore {
	case forward.DropStubs:
		request.Home, request.Act = forward.Old, forward.DropStub
	case forward.DropDeads:
		request.Home, request.Act = forward.New, forward.DropDead
	case forward.DropBacks:
		request.Home, request.Act = forward.New, forward.DropBack
	default:
		if r.record.List() {
			return true, r.carrier.MoveListed(ctx, where)
		}
		if slot, _ := r.byID.table.Slot(item); r.wary && slot.State == forward.Live {
			if err := r.occupied(ctx, where, at); err != nil {
				return false, err
			}
		}
		return true, r.carrier.Move(ctx, where)
	}
	answer, err := r.carrier.Act(ctx, where, request)
	return answer.Done, err
}

// settled counts an item that was dealt with.
func (r *round) settled(done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(done)
}

// count counts an item that was dealt with. Its caller holds work.mu.
func (r *round) count(done bool) {
	r.report.Scanned++
	r.report.Listed++
	r.found++
	switch {
	case !done:
	case r.chore == forward.MoveAll, r.chore == forward.ReturnAll:
		r.result.Moved++
		r.report.Old++
	default:
		r.result.Dropped++
	}
}

// refuse notes an item that DynamoDB does not let change, such as one of 400 KB.
func (r *round) refuse(at located, item place.Item, err error) error {
	r.settled(false)
	r.stick(kindRefused, at, item, err.Error())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result.Refused++; r.result.Refused >= maxRefused {
		return fmt.Errorf("%w: DynamoDB refused to change %s, so the move was stopped before its end: see Result.Findings", ErrDamage, figure.Count(r.result.Refused, "item"))
	}
	return nil
}
