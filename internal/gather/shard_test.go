package gather

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// item is what tests store: its identity, which no two share.
type item struct{ id string }

// list is a shard in memory: entries in order, some of which a filter leaves out. Several may have the same sort value.
type list struct {
	store   *store
	name    string
	all     []Entry[item] // in the direction of the read
	reverse bool
	at      int // of the next page
}

// store is what the shards of a test have in common.
type store struct {
	fetches atomic.Int64
	largest atomic.Int64                                      // page that was asked for
	fail    func(shard string, nth int64) error               // nil: never
	delay   func(shard string, nth int64) time.Duration       // nil: none
	passes  func(e Entry[item]) bool                          // nil: all
	fetched func(ctx context.Context, shard string, size int) // nil: nobody asks

	mu  sync.Mutex
	nth map[string]int64
}

func (s *store) begin(shard string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nth == nil {
		s.nth = map[string]int64{}
	}
	s.nth[shard]++
	return s.nth[shard] - 1
}

func (l *list) Fetch(ctx context.Context, n int) (Page[item], error) {
	s := l.store
	s.fetches.Add(1)
	s.largest.Store(max(s.largest.Load(), int64(n)))
	nth := s.begin(l.name)
	if s.delay != nil {
		select {
		case <-time.After(s.delay(l.name, nth)):
		case <-ctx.Done():
			return Page[item]{}, ctx.Err()
		}
	}
	if s.fail != nil {
		if err := s.fail(l.name, nth); err != nil {
			return Page[item]{}, err
		}
	}
	end := min(l.at+n, len(l.all))
	page := Page[item]{Scanned: end - l.at}
	for _, e := range l.all[l.at:end] {
		page.Weight.Entries++
		page.Weight.Bytes += e.Size
		page.Weight.Largest = max(page.Weight.Largest, e.Size)
		if s.passes == nil || s.passes(e) {
			page.Entries = append(page.Entries, e)
			page.Size += e.Size
		}
	}
	if end < len(l.all) {
		page.Next = l.from(end)
	}
	if s.fetched != nil {
		s.fetched(ctx, l.name, page.Size)
	}
	return page, nil
}

func (l *list) from(at int) *list {
	next := *l
	next.at = at
	return &next
}

func (l *list) From(e Entry[item]) Shard[item] {
	return l.from(slices.IndexFunc(l.all, func(o Entry[item]) bool {
		c := strings.Compare(o.Sort, e.Sort)
		return c == 0 || (c > 0) != l.reverse
	}))
}

func (l *list) Behind(e Entry[item]) Shard[item] { return l.from(slices.Index(l.all, e) + 1) }

// errLost is a shard's own error, errFatal is not.
var errLost, errFatal = errors.New("lost"), errors.New("fatal")

func lost(err error) bool { return errors.Is(err, errLost) }

// lists returns a source for each list of sort values. Entries have so many bytes.
func lists(s *store, reverse bool, size int, shards ...[]string) []Source[item] {
	sources := make([]Source[item], len(shards))
	for i, sorts := range shards {
		l := &list{store: s, name: fmt.Sprintf("shard %d", i), reverse: reverse}
		for j, sort := range sorts {
			l.all = append(l.all, Entry[item]{Sort: sort, Size: size, Value: item{fmt.Sprintf("%s|%d|%d", sort, i, j)}})
		}
		if reverse {
			slices.Reverse(l.all)
		}
		sources[i] = Source[item]{Name: l.name, Ordinal: i, Shard: l}
	}
	return sources
}

// once returns stages with one stage.
func once(sources []Source[item]) Stages[item] {
	return Stages[item]{Count: 1, Open: func(context.Context, int) ([]Source[item], error) { return sources, nil }}
}

// numbers returns n sort values, in order.
func numbers(n int) []string {
	sorts := make([]string, n)
	for i := range sorts {
		sorts[i] = fmt.Sprintf("%06d", i)
	}
	return sorts
}

// read returns the ids of everything.
func read(ctx context.Context, c Config, stages Stages[item]) (ids []string, err error) {
	g, err := New(ctx, c, stages)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	for {
		e, ok, err := g.Next()
		if err != nil {
			return ids, err
		}
		if !ok {
			if missing := g.Missing(); missing != nil {
				return ids, missing
			}
			return ids, nil
		}
		ids = append(ids, e.Value.id)
	}
}
