package adapt

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// pollEvery is how often the law is asked whether something is due for a key.
const pollEvery = 250 * time.Millisecond

// besideTimeout is how long a write waits for what is sent beside it. A report or a growth that takes longer is given up: the
// next one does as well.
const besideTimeout = 2 * time.Second

// Watch follows one write for the law. What the law has to send meanwhile is sent beside it.
type Watch struct {
	book      *Book
	page      *page
	key       Key
	beside    chan struct{} // closed when what was due has ended; nil: nothing was
	throttled bool
	reason    ledger.Throttle // of the first throttle
}

// Watch begins to follow a write to a key. The caller ends it with End.
func (b *Book) Watch(ctx context.Context, key string, bucket time.Time) Watch {
	w := Watch{book: b, key: Key{key, bucket}}
	w.page = b.known(w.key)
	if w.page != nil && b.poll(w.page) {
		w.beside = b.reportBeside(ctx, w.page)
	}
	return w
}

// reportBeside sends what is due for a key beside a write. The channel is closed when that has ended, and End waits for it.
func (b *Book) reportBeside(ctx context.Context, p *page) chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(ctx, besideTimeout)
		defer cancel()
		b.report(ctx, p)
	}()
	return done
}

// Hot reports whether the law follows the key, so that what a write consumes matters to the unit.
func (w *Watch) Hot() bool { return w.page != nil && w.page.watched.Load() }

// poll reports whether the law is to be asked about a key now.
func (b *Book) poll(p *page) bool {
	if !p.watched.Load() {
		return false
	}
	now, last := b.clock.read().UnixMilli(), p.polled.Load()
	return now-last >= pollEvery.Milliseconds() && p.polled.CompareAndSwap(last, now)
}

// Failed takes the error of an attempt, nil if it succeeded.
func (w *Watch) Failed(err error) {
	if w.throttled || !dispatch.TooFast(err) {
		return
	}
	w.throttled, w.reason = true, Reason(err, w.book.options.Index)
}

// End takes the units that the write has consumed, or would have, and waits for what was sent beside it.
func (w *Watch) End(units float64) {
	b, now := w.book, w.book.clock.read()
	if b.gate.hot(w.key.Text, units, now) || w.throttled {
		b.observe(w, units, now)
	}
	if w.beside != nil {
		<-w.beside
	}
}

func (b *Book) observe(w *Watch, units float64, now time.Time) {
	p, err := b.page(w.key)
	if err != nil {
		return
	}
	s := ledger.Sample{Taken: units}
	if w.throttled {
		s = ledger.Sample{}
		s.Throttled[w.reason] = units
	}
	b.lawMu.Lock()
	watched := b.law.Observe(p.name, s, now)
	b.lawMu.Unlock()
	p.watched.Store(watched)
}

// Reason returns why DynamoDB has throttled a write to a collection whose key is spread in an index, or in the table itself if
// that is "". Only KeyRange is about how the key is spread. An answer without reasons says nothing about it, and neither does what
// a batch leaves unprocessed.
func Reason(err error, index string) ledger.Throttle {
	found := ledger.Other
	for _, r := range dispatch.Reasons(err) {
		if r.Reason == nil {
			continue
		}
		ofIndex := strings.HasPrefix(*r.Reason, "Index")
		ours := index == "" && !ofIndex || ofIndex && r.Resource != nil && strings.HasSuffix(*r.Resource, "/index/"+index)
		switch {
		case strings.HasSuffix(*r.Reason, "KeyRangeThroughputExceeded") && ours:
			return ledger.KeyRange
		case strings.HasSuffix(*r.Reason, "KeyRangeThroughputExceeded") && ofIndex:
			found = ledger.IndexKey
		case strings.HasSuffix(*r.Reason, "AccountLimitExceeded"):
			found = ledger.Account
		case strings.HasSuffix(*r.Reason, "ProvisionedThroughputExceeded"), strings.HasSuffix(*r.Reason, "MaxOnDemandThroughputExceeded"):
			found = ledger.Table
		}
	}
	return found
}

// report sends what is due for a key, and does what the law decides.
func (b *Book) report(ctx context.Context, p *page) {
	b.lawMu.Lock()
	add, due := b.law.Due(p.name, b.clock.read())
	b.lawMu.Unlock()
	if !due {
		return
	}
	totals, err := b.control.report(ctx, p.control, add)
	if err != nil {
		if dispatch.Judge(err).Harmless() {
			b.lawMu.Lock()
			b.law.Unreported(p.name, add)
			b.lawMu.Unlock()
		}
		if ctx.Err() == nil { // without a rate the key cannot grow
			b.options.Logger.WarnContext(ctx, "the rate of a key was not reported", "table", b.options.Data, "key", p.name, "error", err)
		}
		return
	}
	record := b.recordOf(ctx, p)
	b.lawMu.Lock()
	d := b.law.Decide(p.name, totals, record, b.clock.read())
	b.hints.rate(p.key, d.Rate)
	b.lawMu.Unlock()
	if d.Reason == ledger.Grows {
		b.growBy(ctx, p, d)
		return
	}
	b.tell(ctx, p, d)
}

// growBy makes a key wider as the law has decided, unless the collection is frozen.
func (b *Book) growBy(ctx context.Context, p *page, d ledger.Decision) {
	frozen, err := b.held(ctx)
	grown := false
	if err == nil && !frozen.On {
		_, grown, err = b.grow(ctx, p, ledger.Growth{To: d.To, Why: d.Text, Once: true})
	}
	if err != nil || frozen.On {
		b.lawMu.Lock()
		b.law.Failed(p.name)
		b.lawMu.Unlock()
	}
	switch {
	case err != nil:
		b.tell(ctx, p, d.NotStored(err))
	case frozen.On:
		b.tell(ctx, p, d.Held(frozen.String()))
	case grown: // else another process has, and tells it
		b.tell(ctx, p, d)
	}
}

// recordOf returns what is known of a ledger. The first time it reads it: another process may have made the key wide enough.
func (b *Book) recordOf(ctx context.Context, p *page) ledger.Record {
	p.mu.Lock()
	_, known := p.view.Record()
	asked := p.view.Ask(b.clock.read(), true)
	p.mu.Unlock()
	if !known {
		b.learn(ctx, p, asked)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	record, _ := p.view.Record()
	return record
}

// tell tells people and programs what the law has decided: each growth, and each other decision when its reason is new.
func (b *Book) tell(ctx context.Context, p *page, d ledger.Decision) {
	log := b.options.Logger.WarnContext
	switch d.Reason {
	case ledger.NoRate, ledger.Hysteresis, ledger.Cooldown:
		return
	case ledger.Grows, ledger.DryRun, ledger.Calm:
		log = b.options.Logger.InfoContext
	}
	p.mu.Lock()
	before, most := p.reason, p.told
	p.reason, p.told = d.Reason, d.To
	p.mu.Unlock()
	calm := d.Reason == ledger.Calm && before == "" // nothing was told that this ends
	if calm || before == d.Reason && d.Reason != ledger.Grows && d.To <= most {
		return
	}
	d.Text += b.remedy(d)
	log(ctx, d.Text, "table", b.options.Data, "collection", b.control.Collection, "reason", string(d.Reason), "from", d.Width, "to", d.To)
	if b.options.Decided != nil {
		b.options.Decided(ctx, d)
	}
}

// remedy returns what to do about a table with too few partitions, as a command.
func (b *Book) remedy(d ledger.Decision) string {
	if d.Reason != ledger.Futility {
		return ""
	}
	const full, target = 1000, 700 // units a second of a partition, and what to plan with
	partitions := math.Ceil(d.Rate / target)
	writes, reads := partitions*full, 3*partitions*full
	command := fmt.Sprintf("aws dynamodb update-table --table-name %s --warm-throughput WriteUnitsPerSecond=%.0f,ReadUnitsPerSecond=%.0f", b.options.Data, writes, reads)
	if b.options.Index != "" {
		command = fmt.Sprintf(`aws dynamodb update-table --table-name %s --global-secondary-index-updates '[{"Update":{"IndexName":%q,"WarmThroughput":{"WriteUnitsPerSecond":%.0f,"ReadUnitsPerSecond":%.0f}}}]'`,
			b.options.Data, b.options.Index, writes, reads)
	}
	cost := "AWS charges once for each unit that is added"
	if price := b.options.WarmPrice; price > 0 {
		cost = fmt.Sprintf("at %g dollars for each write unit this costs up to %.2f dollars, once, and the read units besides", price, price*writes)
	}
	return fmt.Sprintf(": %s; %s", command, cost)
}
