package heat

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/shape"
	"github.com/heatsink-go/heatsink/internal/sketch"
)

// inventory counts stored items by their keys, those of a table and of each of its global indexes, in memory of fixed
// size. It is for one goroutine.
type inventory struct {
	options   Options
	ttl       string // the attribute that items expire by, "" for none
	now       time.Time
	resources []*stock
}

// stock is what an inventory counts of a table or an index.
type stock struct {
	view     resourceView
	items    int64
	bytes    int64
	expired  int64
	control  StoredControl
	keys     *sketch.Heavy[stockKey]
	distinct sketch.Distinct
	patterns *patternTable
	days     map[day]int64
	shards   *shardBook // nil if no layout is told
	scratch  call
}

type stockKey struct {
	bytes   int64
	pattern int32
}

// day is a pattern on a day.
type day struct {
	pattern int32
	text    [len(time.DateOnly)]byte
}

// mostDays bounds the days that growth is kept for, over all patterns of a table.
const mostDays = 1000

func newInventory(v *tableView, ttl string, options Options) *inventory {
	n := &inventory{options: options.withDefaults(), ttl: ttl, now: time.Now()}
	for _, view := range append([]resourceView{v.own}, v.indexes...) {
		n.resources = append(n.resources, &stock{
			view: view, keys: sketch.NewHeavy[stockKey](n.options.Entries, 0), distinct: sketch.NewDistinct(12),
			patterns: newPatternTable(), days: make(map[day]int64), shards: newShardBook(n.options.Layouts, view.Resource, true),
		})
	}
	return n
}

// add counts an item: in the table, and in the indexes whose keys it has.
func (n *inventory) add(item map[string]types.AttributeValue) {
	size := int64(itemSize(item))
	expired := n.expired(item)
	control := isControl(n.resources[0].view.names.partition, item)
	for _, s := range n.resources {
		names := s.view.names
		if names.known() && hasAll(item, names.partition) && (s.view.Index == "" || hasAll(item, names.sort)) {
			if control {
				s.control.Items++
				s.control.Bytes += size
				continue
			}
			s.add(item, size, expired, n.options.Redact)
		}
	}
}

// expired reports whether DynamoDB would have deleted an item by now: its time to live is over, by five years at most.
func (n *inventory) expired(item map[string]types.AttributeValue) bool {
	number, ok := item[n.ttl].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	at, ok := parseSeconds(number.Value)
	return ok && at < n.now.Unix() && at > n.now.AddDate(-5, 0, 0).Unix()
}

func (s *stock) add(item map[string]types.AttributeValue, size int64, expired bool, redact func(dst, key []byte) []byte) {
	s.items++
	s.bytes += size
	if expired {
		s.expired++
	}
	c := &s.scratch
	c.texts = c.texts[:0]
	c.key(s.view.names.partition, item)
	key := c.texts
	hash := keyHash(key)
	s.distinct.Add(hash)
	s.shards.add(key, shardTouch{count: 1}, redact)
	taken := false
	k := s.keys.Add(0, hash, 1, func(dst []byte) []byte {
		taken = true
		if redact != nil {
			return redact(dst, key)
		}
		return append(dst, key...)
	})
	var pattern int32
	if taken || k == nil {
		pattern = s.patterns.take(key, hash, 0, redact != nil)
	} else {
		pattern = k.pattern
	}
	if k != nil {
		k.pattern = pattern
		k.bytes += size
	}
	s.patterns.count(pattern, 1)
	s.addDay(item, key, pattern)
}

// addDay counts an item on the day that its sort key tells, or its partition key.
func (s *stock) addDay(item map[string]types.AttributeValue, key []byte, pattern int32) {
	at := day{pattern: pattern}
	c := &s.scratch
	begin := len(c.texts)
	var found []byte
	if c.key(s.view.names.sort, item) {
		found = shape.FindDay(c.texts[begin:])
	}
	if found == nil {
		found = shape.FindDay(key)
	}
	if copy(at.text[:], found); found == nil {
		return
	}
	c.texts = c.texts[:begin]
	if _, known := s.days[at]; known || len(s.days) < mostDays {
		s.days[at]++
	}
}

// report returns what was counted. fraction is how much of the table was looked at.
func (n *inventory) report(fraction float64) []ResourceReport {
	var all []ResourceReport
	for _, s := range n.resources {
		if s.items > 0 || s.control.Items > 0 || s.view.Index == "" {
			all = append(all, s.report(n.options.Top, fraction))
		}
	}
	return all
}

func (s *stock) report(top int, fraction float64) ResourceReport {
	r := ResourceReport{Resource: s.view.Resource, Key: s.view.names.partition, Sort: s.view.names.sort, Capacity: s.view.capacity}
	stored := &Stored{Items: s.items, Bytes: s.bytes, Expired: s.expired, Fraction: fraction, Control: s.control}
	stored.Distinct = Distinct{Keys: s.distinct.Count(), Error: s.distinct.Error()}
	if !s.keys.Full() {
		stored.Distinct = Distinct{Keys: int64(s.keys.Len())}
	}
	stored.Distinct.Keys = min(stored.Distinct.Keys, s.items)
	learnt := s.patterns.report(Write, !s.keys.Full(), constantItems)
	for _, k := range s.keys.Top(0, top) {
		stored.Keys = append(stored.Keys, KeyItems{
			Key: k.Text, Items: int64(math.Round(k.High)), Low: int64(math.Round(k.Low)),
			Share: share(k.Low, float64(s.items)), Bytes: k.Extra.bytes,
			Shape: learnt.of(k.Extra.pattern),
		})
	}
	stored.Sharded = s.shards.report(0)
	r.Stored = stored
	r.Patterns = storedPatterns(learnt.patterns)
	stored.Growth = s.growth(learnt)
	return r
}

// storedPatterns turns counts into items.
func storedPatterns(patterns []Pattern) []Pattern {
	for i := range patterns {
		p := &patterns[i]
		p.Items, p.Writes = int64(p.Writes), 0
		p.Distinct.Keys = min(p.Distinct.Keys, p.Items) // the number of keys is an estimate, and each has an item
		for j := range p.Values {
			v := &p.Values[j]
			v.Items, v.Writes = int64(v.Writes), 0
		}
	}
	slices.SortFunc(patterns, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Shape, b.Shape))
	})
	return patterns
}

func (s *stock) growth(learnt *shapes) []KeyGrowth {
	items := make(map[KeyGrowth]int64) // days of leaves that are one pattern are one
	for d, n := range s.days {
		items[KeyGrowth{Pattern: learnt.of(d.pattern), Day: string(d.text[:])}] += n
	}
	var growth []KeyGrowth
	for g, n := range items {
		g.Items = n
		growth = append(growth, g)
	}
	slices.SortFunc(growth, func(a, b KeyGrowth) int {
		return cmp.Or(cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Day, b.Day))
	})
	return growth
}

// parseSeconds reads the whole seconds of a number.
func parseSeconds(text string) (int64, bool) {
	whole, _, _ := bytes.Cut([]byte(text), []byte("."))
	n := int64(0)
	for _, c := range whole {
		if c < '0' || c > '9' || n > 1<<50 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(whole) > 0
}
