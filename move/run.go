package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/place"
)

const (
	writersPerSegment = 8   // updates of a segment under way at a time
	chunk             = 100 // items of a page between two checkpoints
	confirmations     = 3   // passes behind the first, until one finds nothing to move
	maxRefused        = 1000

	saveEvery = 5 * time.Second
	saveTime  = 2 * time.Second // for the last checkpoint of a run that is stopped
	tellEvery = time.Second
)

// Run moves all items that are not where the present layout has them. A first pass over the table moves them, and goes on from
// the checkpoint of an earlier run of the same move. Further passes look for items that appeared behind it, with strongly
// consistent reads from the beginning, until one finds nothing in old places. Run returns when that is so, or with an error that
// wraps ErrOldWriters after the third.
//
// Run can be stopped at any moment, by ctx or by killing the process, and started again. It returns what it did up to then beside
// the error. Its error wraps ErrDamage if items are left that no layout explains, that may be of two keys, or
// that DynamoDB refuses to change; all others have been moved.
//
// Each pass reads the whole table. Each moved item costs a write of the item and, in each index whose key changes, two of its entry.
//
// A movable collection goes from stage to stage, and Run does what is to be done at the present one: see [Stage]. It begins the move if
// there is none, after a strong pass that finds nothing in the way. It returns without an error when the move is over (Result.Done), or
// when the stage has to last longer (Result.Stage.Until): then run it again, or set Options.Wait. Each moved item of k KB costs 3k+1
// write units and 2 read units for each 4 KB, beside five strong passes.
func (m *Mover) Run(ctx context.Context) (Result, error) {
	result, err := m.run(ctx)
	if err != nil {
		return result, fmt.Errorf("move table %s: %w", m.options.Collection.Table, err)
	}
	return result, nil
}

func (m *Mover) run(ctx context.Context) (Result, error) {
	if m.byID != nil {
		return m.byID.travel(ctx, false)
	}
	m.mu.Lock()
	forecast := m.forecast
	m.mu.Unlock()
	if forecast == nil {
		f, err := m.plan(ctx)
		if err != nil {
			return Result{Forecast: f}, err
		}
		forecast = &f
	}
	table, err := m.describe(ctx)
	if err != nil {
		return Result{Forecast: *forecast}, err
	}
	w := m.newWork(table)
	w.of, w.result.Forecast = forecast.Items, *forecast
	if forecast.Moves > 0 {
		w.perMove = forecast.WriteUnits / float64(forecast.Moves)
	}
	checkpoint := newCheckpoint(m.client, &m.options, table)
	segments, ignored, err := checkpoint.load(ctx, m.options.Segments)
	switch {
	case err != nil:
		return w.end(), err
	case ignored != "":
		m.options.Logger.WarnContext(ctx, "the checkpoint is not used: the move begins at the beginning", "table", m.options.Collection.Table, "why", ignored)
	}
	w.result.Resumed = segments != nil
	if segments == nil {
		segments = newSegments(m.options.Segments)
	}
	err = w.tell(ctx, func(ctx context.Context) error { return w.passes(ctx, segments, checkpoint) })
	switch {
	case errors.Is(err, ErrOldWriters): // a checkpoint would leave what they write meanwhile to the passes that look for such items
		return w.end(), errors.Join(err, checkpoint.remove(ctx))
	case err != nil:
		return w.end(), err
	}
	return w.end(), errors.Join(checkpoint.remove(ctx), w.damage())
}

// passes makes the first pass, and those that confirm it.
func (w *work) passes(ctx context.Context, segments []*segment, c *checkpoint) error {
	left, err := w.doPass(ctx, segments, scanKeys, true, c)
	if err != nil {
		return err
	}
	late := int64(0)
	for range confirmations {
		waiting := left + w.result.Refused // found again, and not new
		if left, err = w.doPass(ctx, newSegments(w.options.Segments), scanStrong, true, nil); err != nil {
			return err
		}
		late = max(w.report.Old+w.report.Misplaced-waiting, 0)
		w.mu.Lock()
		w.result.Late += late
		w.mu.Unlock()
		if late > 0 {
			w.options.Logger.WarnContext(ctx, oldWriters(late, w.result.Resumed), "table", w.options.Collection.Table, "pass", w.pass)
		}
		if late == 0 && left == 0 && waiting <= w.result.Refused { // and it has found nothing that the pass before had left
			return nil
		}
	}
	switch {
	case late == 0 && left == 0:
		return nil
	case late == 0:
		return fmt.Errorf("%s could not be moved in %d passes, because others changed them all the time: run the move again", figure.Count(left, "item"), w.pass)
	}
	return fmt.Errorf("%w: in the last of %d passes, %s", ErrOldWriters, w.pass, oldWriters(late, w.result.Resumed))
}

// damage returns an error about items that are left where nobody explains them.
func (w *work) damage() error {
	var parts []string
	for _, part := range []struct {
		n    int64
		what string
	}{
		{w.report.Beyond, "in shards that readers do not read"},
		{w.report.Unexplained, "under keys that no layout explains"},
		{w.report.Ambiguous, "under keys that may be of two logical keys (choose a Format for the sharded layout that no key reads like)"},
		{w.result.Refused, "that DynamoDB refused to change"},
	} {
		if part.n > 0 {
			parts = append(parts, figure.Count(part.n, "item")+" "+part.what)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s: see Result.Findings, and Verify", ErrDamage, strings.Join(parts, ", and "))
}

// Verify reads the whole table with strong consistency, and reports which items are not where the present layout has them. It
// changes nothing. Programs may write meanwhile: an item that exists all the time is seen once.
//
// For a movable collection, it reports which items are not as the present stage has them. It reads both homes of what seems wrong again
// before it says so. While a move is in progress, each item that has moved costs about 3 more read units.
func (m *Mover) Verify(ctx context.Context) (Report, error) {
	report, err := m.verify(ctx)
	if err != nil {
		return report, fmt.Errorf("verify table %s: %w", m.options.Collection.Table, err)
	}
	return report, nil
}

func (m *Mover) verify(ctx context.Context) (Report, error) {
	if m.byID != nil {
		return m.byID.verify(ctx)
	}
	table, err := m.describe(ctx)
	if err != nil {
		return Report{}, err
	}
	w := m.newWork(table)
	err = w.tell(ctx, func(ctx context.Context) error {
		_, err := w.doPass(ctx, newSegments(m.options.Segments), scanStrong, false, nil)
		return err
	})
	return *w.report, err
}

// doPass reads all segments at the same time, and moves what has to be moved. It returns how many items it had to leave to the
// next pass.
func (w *work) doPass(ctx context.Context, segments []*segment, mode scanMode, moving bool, c *checkpoint) (left int64, err error) {
	p := &pass{work: w, segments: segments, mode: mode, moving: moving, checkpoint: c, keys: w.judge.present.TableKey}
	p.fetch = func(ctx context.Context, s *segment) (*dynamodb.ScanOutput, error) {
		return p.scan(ctx, s, len(p.segments), p.mode)
	}
	p.handle = p.take
	err = p.run(ctx)
	return p.left, err
}

// run reads all segments at the same time.
func (p *pass) run(ctx context.Context) error {
	w := p.work
	p.saved = time.Now()
	w.mu.Lock()
	w.pass++
	w.result.Passes = w.pass
	w.report, w.passFrom, w.skipped = &Report{}, time.Now(), 0
	for _, s := range p.segments {
		w.skipped += s.scanned
	}
	w.result.Refused = 0
	w.mu.Unlock()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for _, s := range p.segments {
		all.Go(func() {
			if err := p.read(ctx, s); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	err := context.Cause(ctx)
	if p.checkpoint != nil {
		p.saveLast(ctx)
	}
	return err
}

// pass is one pass over the table.
type pass struct {
	*work
	segments   []*segment
	mode       scanMode
	moving     bool
	checkpoint *checkpoint
	keys       []string // the table's key attributes

	fetch  func(context.Context, *segment) (*dynamodb.ScanOutput, error)  // the next page of a segment
	handle func(ctx context.Context, in string, items []place.Item) error // in is the table of the segment

	left  int64 // under work.mu, as the segments
	turn  sync.Mutex
	saved time.Time
}

// through reports whether all segments have been read.
func (p *pass) through() bool {
	return !slices.ContainsFunc(p.segments, func(s *segment) bool { return !s.done })
}

// read reads a segment to its end.
func (p *pass) read(ctx context.Context, s *segment) error {
	for !s.done {
		out, err := p.fetch(ctx, s)
		if err != nil && s.start != nil && p.checkpoint != nil && dispatch.Invalid(err) { // the checkpoint has a key of its own making
			p.options.Logger.WarnContext(ctx, "the checkpoint is not used for a segment, because DynamoDB refuses its key", "segment", s.number, "error", err)
			p.mu.Lock()
			s.start = nil
			p.mu.Unlock()
			out, err = p.fetch(ctx, s)
		}
		if err != nil {
			return err
		}
		passed := int64(out.ScannedCount) - int64(len(out.Items)) // that the filter left out: there is nothing to do with them
		p.mu.Lock()
		p.result.ReadUnits += capacity(out.ConsumedCapacity)
		p.report.Scanned += passed
		p.mu.Unlock()
		for some := range slices.Chunk(out.Items, chunk) {
			if err := p.handle(ctx, s.in, some); err != nil {
				return err
			}
			p.mu.Lock()
			s.scanned += int64(len(some))
			s.start = attribute.Pick(some[len(some)-1], p.keys) // a scan can go on behind any item
			p.mu.Unlock()
			p.save(ctx)
		}
		p.mu.Lock()
		s.scanned += passed
		s.start, s.done = out.LastEvaluatedKey, len(out.LastEvaluatedKey) == 0
		p.mu.Unlock()
	}
	return nil
}

// take judges the items of a page, and moves them. Each is counted as scanned when it is dealt with: writes take much longer than
// reads.
func (p *pass) take(ctx context.Context, _ string, items []place.Item) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	seen := time.Now()
	turns := make(chan struct{}, writersPerSegment)
	var all sync.WaitGroup
	for _, item := range items {
		if err := p.look(ctx, item); err != nil {
			cancel(err)
			break
		}
		v, ok, err := p.judged(ctx, item, seen)
		if err != nil {
			cancel(err)
			break
		}
		moves := ok && p.moving && v.kind.moves()
		p.mu.Lock()
		if ok {
			p.report.count(v)
		}
		if !moves {
			p.report.Scanned++
			if ok {
				p.report.name(v, p.nameOf(item))
			}
		}
		p.mu.Unlock()
		if !moves {
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
			became, err := p.move(ctx, item, v)
			if err == nil {
				err = p.note(became, item, v)
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// note counts what became of an item. One that was moved in the first pass needs no further word. Later ones help to find the
// program that wrote them.
func (p *pass) note(became outcome, item place.Item, v verdict) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Scanned++
	switch became {
	case moved:
		p.result.Moved++
		if p.mode == scanStrong && v.kind != narrower {
			v.why = "it appeared behind the mover, and was moved"
			p.report.name(v, p.nameOf(item))
		}
	case contended:
		p.left++
		v.why = "others changed it all the time"
		p.report.name(v, p.nameOf(item))
	case refused:
		if p.result.Refused++; p.result.Refused >= maxRefused {
			return fmt.Errorf("%w: DynamoDB refused to change %s, so the move was stopped before its end: see Result.Findings", ErrDamage, figure.Count(p.result.Refused, "item"))
		}
	}
	return nil
}

// save stores the checkpoint if it is time. A store that fails is tried again later: the move does not depend on it.
func (p *pass) save(ctx context.Context) {
	if p.checkpoint == nil || !p.turn.TryLock() {
		return
	}
	defer p.turn.Unlock()
	if time.Since(p.saved) < saveEvery {
		return
	}
	p.store(ctx)
	p.saved = time.Now()
}

// saveLast stores the checkpoint of a pass that is over or was stopped.
func (p *pass) saveLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	p.store(ctx)
}

func (p *pass) store(ctx context.Context) {
	p.mu.Lock()
	all := make([]segment, len(p.segments))
	for i, s := range p.segments {
		all[i] = *s
	}
	p.mu.Unlock()
	if err := p.checkpoint.save(ctx, all); err != nil && ctx.Err() == nil {
		p.options.Logger.WarnContext(ctx, "a move that is stopped now begins earlier than it could", "table", p.options.Collection.Table, "error", err)
	}
}

// tell does something, and reports the progress meanwhile.
func (w *work) tell(ctx context.Context, do func(context.Context) error) error {
	if w.options.Progress == nil {
		return do(ctx)
	}
	ended := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		ticker := time.NewTicker(tellEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				w.options.Progress(w.progress())
			case <-ended:
				return
			}
		}
	})
	err := do(ctx)
	close(ended)
	telling.Wait()
	w.options.Progress(w.progress())
	return err
}

func (w *work) progress() Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := Progress{
		Pass: w.pass, Scanned: w.report.Scanned + w.skipped, Moved: w.result.Moved, Late: w.result.Late,
		ReadUnits: w.result.ReadUnits, WriteUnits: w.result.WriteUnits, Throttles: w.throttles.Load(),
		RCU: w.reads.now(), WCU: w.writes.now(), Elapsed: time.Since(w.began), Stage: w.result.Stage.Name, Until: w.until,
	}
	p.Of = max(w.of, p.Scanned)
	if w.report.Scanned > 0 {
		each := float64(time.Since(w.passFrom)) / float64(w.report.Scanned)
		p.Left = time.Duration(each * float64(p.Of-p.Scanned))
	}
	return p
}

// end returns the result.
func (w *work) end() Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.result
	r.Report, r.Throttles, r.Took = *w.report, w.throttles.Load(), time.Since(w.began)
	r.Dollars = dollars(w.options.Prices, r.ReadUnits, r.WriteUnits)
	return r
}
