package corpus

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/heatsink-go/heatsink/heat"
)

// Case is a workload on a schema, with the findings that it should have.
type Case struct {
	Schema, Workload string
	About            string // the schema, in words
	Table, Index     string
	Told             []heat.Layout // to the recorder

	Seconds int      // of traffic
	Streams []Stream // the traffic
	Piles   []Pile   // or the stored items

	Want []Want
}

// Stream is the traffic of a key.
type Stream struct {
	Key       string
	PerSecond float64 // requests
	Items     int     // different items that they are for
	Units     float64 // of a request
	Read      bool
	Refused   float64 // the part of the requests that DynamoDB throttles by key range, 0 to 1
}

// Pile is the stored items of a key.
type Pile struct {
	Key   string
	Items int
}

// Want is a finding that a workload should have, of severity warning or worse. Kinds that say the same are one.
type Want struct {
	Kinds    []heat.Kind
	Severity heat.Severity
	Key      string
}

// Matches reports whether a finding is the wanted one.
func (w Want) Matches(f *heat.Finding) bool {
	for _, k := range w.Kinds {
		if k == f.Kind && w.Severity == f.Severity && (w.Key == "" || w.Key == f.Key) {
			return true
		}
	}
	return false
}

func (w Want) String() string { return fmt.Sprintf("%s %s %s", w.Severity, w.Kinds[0], w.Key) }

// The kinds of findings that say the same.
var (
	oneOfMany = []heat.Kind{heat.SkewedTenant, heat.HotKey, heat.DominantKey}
	fewValues = []heat.Kind{heat.LowCardinality}
	ofTime    = []heat.Kind{heat.TimeKey}
	oneItem   = []heat.Kind{heat.GlobalCounter, heat.PopularItem}
	readHot   = []heat.Kind{heat.ReadHot}
	unevenly  = []heat.Kind{heat.UnevenShards}
)

// Name is the case's.
func (c Case) Name() string { return c.Schema + "/" + c.Workload }

// Tuned reports whether the rules were tuned on a case. The others are kept apart. All cases of a schema are on one side.
func (c Case) Tuned() bool {
	h := fnv.New32a()
	h.Write([]byte(c.Schema))
	return h.Sum32()%2 == 1
}

// Cases returns the workloads of all schemas. Under the race detector it returns every fourth.
func Cases() []Case {
	var all []Case
	for i, s := range schemas {
		b := builder{schema: s, r: rand.New(rand.NewPCG(16, uint64(i)))}
		b.quiet()
		for j := range s.kinds {
			b.of(&s.kinds[j])
		}
		all = append(all, b.cases...)
	}
	var some []Case
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

// builder makes the cases of a schema.
type builder struct {
	schema
	r     *rand.Rand
	cases []Case
}

func (b *builder) add(c Case) {
	c.Schema, c.About, c.Table, c.Index, c.Told = b.name, b.about, "app", b.index, b.told
	b.cases = append(b.cases, c)
}

// background is the traffic of the kinds with many keys, and of times and shards at a low rate.
func (b *builder) background(without *kind, perSecond float64) []Stream {
	var all []Stream
	for i := range b.kinds {
		k := &b.kinds[i]
		if k.role != many || k == without {
			continue
		}
		for _, key := range distinct(60, k.id, b.r) {
			all = append(all, Stream{Key: key, PerSecond: perSecond * (0.5 + b.r.Float64()) / 60, Items: 20, Units: 1})
		}
	}
	return all
}

// quiet is a workload without any trouble: what has many keys is written evenly, and what has few keys hardly at all.
func (b *builder) quiet() {
	c := Case{Workload: "even", Seconds: 30, Streams: b.background(nil, 120)}
	for i := range b.kinds {
		k := &b.kinds[i]
		switch k.role {
		case few, spread:
			for _, key := range k.keys {
				c.Streams = append(c.Streams, Stream{Key: key, PerSecond: 12 * (0.9 + 0.2*b.r.Float64()), Items: 200, Units: 1})
			}
		case current:
			c.Streams = append(c.Streams, Stream{Key: k.keys[len(k.keys)-1], PerSecond: 15, Items: 200, Units: 1})
		}
	}
	if len(c.Streams) > 0 {
		b.add(c)
	}
}

// of makes the cases in which a kind is in trouble.
func (b *builder) of(k *kind) {
	switch k.role {
	case many:
		b.ofMany(k)
	case constant:
		b.ofConstant(k)
	case few:
		b.ofFew(k)
	case current:
		b.ofTimes(k)
	case spread:
		b.ofShards(k)
	}
}

// loads makes the streams of keys that take so much together, evenly, but for the first which takes an amount of its own.
func (b *builder) loads(keys []string, perSecond, first float64) []Stream {
	all := []Stream{{Key: keys[0], PerSecond: first, Items: 500, Units: 1}}
	for _, key := range keys[1:] {
		all = append(all, Stream{Key: key, PerSecond: perSecond * (0.5 + b.r.Float64()) / float64(len(keys)-1), Items: 20, Units: 1})
	}
	return all
}

func (b *builder) ofMany(k *kind) {
	sizes := [...]int{5, 13, 41, 300}
	keys := distinct(sizes[b.r.IntN(len(sizes))], k.id, b.r)
	b.add(Case{
		Workload: k.of + " one hot", Seconds: 20, Streams: append(b.background(k, 100), b.loads(keys, 100, 1300)...),
		Want: []Want{{oneOfMany, heat.Critical, keys[0]}},
	})
	b.add(Case{
		Workload: k.of + " one warm", Seconds: 20, Streams: append(b.background(k, 100), b.loads(keys, 100, 800)...),
		Want: []Want{{oneOfMany, heat.Warning, keys[0]}},
	})
	b.add(Case{
		Workload: k.of + " one loud", Seconds: 30, Streams: append(b.background(k, 30), b.loads(keys, 30, 90)...),
		Want: []Want{{oneOfMany, heat.Warning, keys[0]}},
	})
	b.add(Case{
		Workload: k.of + " a bit uneven", Seconds: 30,
		Streams: append(b.background(k, 40), b.loads(keys, 100, 100/float64(len(keys))+10)...),
	})
	read := b.loads(keys, 50, 0)
	read[0] = Stream{Key: keys[0], PerSecond: 3500, Items: 1, Units: 1, Read: true}
	b.add(Case{
		Workload: k.of + " one item read", Seconds: 12, Streams: append(b.background(k, 50), read...),
		Want: []Want{{oneItem, heat.Critical, keys[0]}},
	})
	piles := []Pile{{keys[0], 900}}
	for _, key := range keys[1:] {
		piles = append(piles, Pile{key, 1 + b.r.IntN(6)})
	}
	b.add(Case{Workload: k.of + " one heap stored", Piles: piles, Want: []Want{{oneOfMany, heat.Warning, keys[0]}}})
	piles = nil
	for _, key := range keys[:min(13, len(keys))] {
		piles = append(piles, Pile{key, 60 + b.r.IntN(30)})
	}
	b.add(Case{Workload: k.of + " even stored", Piles: piles})
	b.several(k, keys)
}

// several is a hot key of many and a hot constant at the same time.
func (b *builder) several(k *kind, keys []string) {
	i := slices.IndexFunc(b.kinds, func(k kind) bool { return k.role == constant })
	if i < 0 {
		return
	}
	key := b.kinds[i].keys[0]
	b.add(Case{
		Workload: k.of + " and " + key, Seconds: 20,
		Streams: append(b.loads(keys, 100, 1200), Stream{Key: key, PerSecond: 1100, Items: 300, Units: 1}),
		Want:    []Want{{oneOfMany, heat.Critical, keys[0]}, {fewValues, heat.Critical, key}},
	})
}

func (b *builder) ofConstant(k *kind) {
	key := k.keys[0]
	b.add(Case{
		Workload: key + " hot", Seconds: 20,
		Streams: append(b.background(nil, 50), Stream{Key: key, PerSecond: 1300, Items: 500, Units: 1}),
		Want:    []Want{{fewValues, heat.Critical, key}},
	})
	b.add(Case{
		Workload: key + " busy", Seconds: 30,
		Streams: append(b.background(nil, 60), Stream{Key: key, PerSecond: 60, Items: 500, Units: 1}),
		Want:    []Want{{fewValues, heat.Warning, key}},
	})
	piles := []Pile{{key, 250}}
	for i := range b.kinds {
		if other := &b.kinds[i]; other.role == many {
			for _, id := range distinct(13, other.id, b.r) {
				piles = append(piles, Pile{id, 15 + b.r.IntN(6)})
			}
		}
	}
	b.add(Case{Workload: key + " stored", Piles: piles, Want: []Want{{fewValues, heat.Warning, key}}})
	b.add(Case{
		Workload: key + " read", Seconds: 12,
		Streams: append(b.background(nil, 50), Stream{Key: key, PerSecond: 3500, Items: 100, Units: 1, Read: true}),
		Want:    []Want{{readHot, heat.Critical, key}},
	})
}

func (b *builder) ofFew(k *kind) {
	skewed := func(total float64, first float64) []Stream {
		var all []Stream
		for i, key := range k.keys {
			share := first
			if i > 0 {
				share = (1 - first) / float64(len(k.keys)-1)
			}
			all = append(all, Stream{Key: key, PerSecond: total * share, Items: 200, Units: 1})
		}
		return all
	}
	b.add(Case{
		Workload: k.of + " skewed", Seconds: 30, Streams: skewed(100, 0.85),
		Want: []Want{{fewValues, heat.Warning, k.keys[0]}},
	})
	b.add(Case{
		Workload: k.of + " one hot", Seconds: 20, Streams: skewed(1500, 0.9),
		Want: []Want{{fewValues, heat.Critical, k.keys[0]}},
	})
	one := skewed(1500, 0.9)
	for i := range one {
		one[i].Items = 1
	}
	b.add(Case{Workload: k.of + " one item", Seconds: 20, Streams: one, Want: []Want{{oneItem, heat.Critical, k.keys[0]}}})
	var even, uneven []Pile
	for i, key := range k.keys {
		even = append(even, Pile{key, 240 + b.r.IntN(20)})
		uneven = append(uneven, Pile{key, 50})
		if i == 0 {
			uneven[0].Items = 850
		}
	}
	b.add(Case{Workload: k.of + " even stored", Piles: even})
	b.add(Case{Workload: k.of + " skewed stored", Piles: uneven, Want: []Want{{fewValues, heat.Warning, k.keys[0]}}})
}

func (b *builder) ofTimes(k *kind) {
	now := k.keys[len(k.keys)-1]
	b.add(Case{
		Workload: k.of + " hot", Seconds: 20, Streams: []Stream{{Key: now, PerSecond: 1300, Items: 500, Units: 1}},
		Want: []Want{{ofTime, heat.Critical, now}},
	})
	b.add(Case{
		Workload: k.of + " busy", Seconds: 30, Streams: []Stream{{Key: now, PerSecond: 300, Items: 500, Units: 1}},
		Want: []Want{{ofTime, heat.Warning, ""}},
	})
	var piles []Pile
	for _, key := range k.keys {
		piles = append(piles, Pile{key, 100 + b.r.IntN(20)})
	}
	b.add(Case{Workload: k.of + " stored", Piles: piles})
}

func (b *builder) ofShards(k *kind) {
	loads := func(workload string, first, others float64, want ...Want) {
		c := Case{Workload: k.of + " " + workload, Seconds: 20, Streams: b.background(nil, 50), Want: want}
		for i, key := range k.keys {
			perSecond := others
			if i == 0 {
				perSecond = first
			}
			if perSecond > 0 {
				c.Streams = append(c.Streams, Stream{Key: key, PerSecond: perSecond, Items: 500, Units: 1})
			}
		}
		b.add(c)
	}
	loads("spread", 300, 300)
	loads("uneven", 1300, 130, Want{unevenly, heat.Critical, k.keys[0]})
	loads("one shard", 1300, 0, Want{slices.Concat(unevenly, oneOfMany), heat.Critical, k.keys[0]})
}
