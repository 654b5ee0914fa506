package move

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// Mover moves the items of one collection. Create it with New. Its methods may be called concurrently, also in several
// processes.
type Mover struct {
	client     Client
	options    Options // with defaults
	collection *heatsink.Collection[heatsink.Item]
	judge      *judge
	names      []string // the attributes that decide about the place of each item
	read       []string // the attributes that are read of each item
	byID       *byID    // nil if an index lists the items

	moved atomic.Bool // the charter says that items have moved

	mu       sync.Mutex
	forecast *Forecast // of the last Plan
}

// anyQuery is one whose plan makes a collection compare its layout with its charter.
var anyQuery = heatsink.Query{Key: "move"}

// New returns a mover. It sends nothing. Errors wrap ErrUnsupported, heatsink.ErrOptions or layout.ErrInvalid.
func New(client Client, options Options) (*Mover, error) {
	o := options.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	c, err := heatsink.Open[heatsink.Item](client, o.Collection)
	if err != nil {
		return nil, err
	}
	m := &Mover{client: timed{client, o.Collection.Retry.Timeout}, options: o, collection: c}
	if o.Collection.Index.Name == "" {
		m.byID, err = newByID(m)
		return m, err
	}
	var widths place.Ledgers
	if o.Collection.Adaptive != nil {
		widths = &ledgers{} // which each work reads by itself
	}
	schema := schemaOf(&o.Collection, widths)
	m.judge = newJudge(&o, schema)
	if o.Key != "" && m.judge.refused(o.Key) {
		return nil, fmt.Errorf("%w: Key is %s, which reads as a shard or a bucket of a given layout: name the logical key, without shard and bucket", heatsink.ErrOptions, quote.Text(o.Key))
	}
	m.names = needed(schema)
	m.read = slices.Clone(m.names)
	if sort := schema.SortKey; sort != "" && !slices.Contains(m.names, sort) {
		m.read = append(m.read, sort) // without it, the index does not list an item
	}
	return m, nil
}

// needed returns the attributes that decide where an item is and where it belongs.
func needed(s *place.Schema) (names []string) {
	seen := map[string]bool{"": true}
	add := func(more ...string) {
		for _, name := range more {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	add(s.TableKey...)
	add(s.PartitionKey, s.ShardAttribute, s.EventTime.Attribute)
	add(s.ShardBy...)
	if s.Stamped {
		add(stampName)
	}
	return names
}

// nameOf returns the key of an item in the table, for people.
func (m *Mover) nameOf(item place.Item) string {
	var parts []string
	for _, name := range m.judge.present.TableKey {
		parts = append(parts, fmt.Sprintf("%s %s", name, attribute.DescribeKey(item, name)))
	}
	return strings.Join(parts, " and ")
}
