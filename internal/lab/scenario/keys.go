package scenario

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Keys is how a load is distributed over partition keys. One of its fields is set.
type Keys struct {
	One     string   `yaml:"one,omitempty" json:"one,omitempty"` // all on this key
	Uniform *Uniform `yaml:"uniform,omitempty" json:"uniform,omitempty"`
	Zipf    *Zipf    `yaml:"zipf,omitempty" json:"zipf,omitempty"`
	Hot     *Hot     `yaml:"hot,omitempty" json:"hot,omitempty"`
	Date    *Date    `yaml:"date,omitempty" json:"date,omitempty"`
	Flash   *Flash   `yaml:"flash,omitempty" json:"flash,omitempty"`
	Tenants *Tenants `yaml:"tenants,omitempty" json:"tenants,omitempty"`
	Listed  *Listed  `yaml:"listed,omitempty" json:"listed,omitempty"`
}

// Uniform has keys with equal shares.
type Uniform struct {
	Count int64 `yaml:"count" json:"count"`
}

// Zipf has keys whose shares fall with a power of their rank.
type Zipf struct {
	Count    int64   `yaml:"count" json:"count"`
	Exponent float64 `yaml:"exponent" json:"exponent"`
}

// Hot has one key with a share of its own, and others with equal ones.
type Hot struct {
	Key   string  `yaml:"key,omitempty" json:"key"`
	Share float64 `yaml:"share" json:"share"`
	Count int64   `yaml:"count" json:"count"` // of the others
}

// Date has one key at a time: that of the current period.
type Date struct {
	Prefix string        `yaml:"prefix" json:"prefix"`
	Period layout.Bucket `yaml:"period" json:"period"`
}

// Flash has keys with equal shares, of which one gets a share of its own for a while.
type Flash struct {
	Key   string   `yaml:"key,omitempty" json:"key"`
	Share float64  `yaml:"share" json:"share"`
	At    Duration `yaml:"at" json:"at"` // since the start
	For   Duration `yaml:"for" json:"for"`
	Count int64    `yaml:"count" json:"count"`
}

// Tenants has customers of very different sizes: a largest one, and others by Zipf's law.
type Tenants struct {
	Count   int64   `yaml:"count" json:"count"`
	Largest float64 `yaml:"largest" json:"largest"` // share of the largest
}

// Listed has named keys with shares, and others with equal parts of the rest.
type Listed struct {
	Shares []Share `yaml:"shares" json:"shares"`
	Count  int64   `yaml:"count,omitempty" json:"count"` // of the others
}

// Share is a key's part of a load.
type Share struct {
	Key   string  `yaml:"key" json:"key"`
	Share float64 `yaml:"share" json:"share"`
}

// Distribution is Keys in the form that is computed with: heads, each with a name and a share, and a tail of many keys that
// get the rest, by Zipf's law or equally.
type Distribution struct {
	Heads []Head
	Tail  Tail
}

// Head is a key that a distribution names.
type Head struct {
	Name  string
	Share float64
	From  time.Duration // since the start; outside of its time its share belongs to the tail
	To    time.Duration // 0: for ever
	Dated layout.Bucket // the period that ends the name, if there is one
}

// Tail is many keys, by rank from 0.
type Tail struct {
	Count    int64
	Exponent float64 // 0: all alike
	Prefix   string
	zipf     zipf
}

// Distribution returns the keys as heads and a tail.
func (k *Keys) Distribution() Distribution {
	var d Distribution
	tail := func(count int64, exponent float64, prefix string) {
		d.Tail = Tail{Count: count, Exponent: exponent, Prefix: prefix, zipf: newZipf(count, exponent)}
	}
	switch {
	case k.Uniform != nil:
		tail(k.Uniform.Count, 0, "key-")
	case k.Zipf != nil:
		tail(k.Zipf.Count, k.Zipf.Exponent, "key-")
	case k.Hot != nil:
		d.Heads = []Head{{Name: k.Hot.Key, Share: k.Hot.Share}}
		tail(k.Hot.Count, 0, "key-")
	case k.Date != nil:
		d.Heads = []Head{{Name: k.Date.Prefix, Share: 1, Dated: k.Date.Period}}
	case k.Flash != nil:
		d.Heads = []Head{{Name: k.Flash.Key, Share: k.Flash.Share, From: time.Duration(k.Flash.At), To: time.Duration(k.Flash.At + k.Flash.For)}}
		tail(k.Flash.Count, 0, "key-")
	case k.Tenants != nil:
		d.Heads = []Head{{Name: "tenant-largest", Share: k.Tenants.Largest}}
		tail(k.Tenants.Count-1, 1, "tenant-")
	case k.Listed != nil:
		for _, s := range k.Listed.Shares {
			d.Heads = append(d.Heads, Head{Name: s.Key, Share: s.Share})
		}
		tail(k.Listed.Count, 0, "other-")
	default:
		d.Heads = []Head{{Name: k.One, Share: 1}}
	}
	return d
}

// Active returns the share of a head at a time since the start.
func (h *Head) Active(at time.Duration) float64 {
	if at < h.From || h.To > 0 && at >= h.To {
		return 0
	}
	return h.Share
}

// Key returns the name of a head at a time.
func (h *Head) Key(now time.Time) string {
	if h.Dated == layout.NoBucket {
		return h.Name
	}
	text, err := h.Dated.Text(now)
	if err != nil { // outside of the years that a bucket has; Parse refuses such a start
		return h.Name
	}
	return h.Name + text
}

// TailShare returns what the heads leave at a time.
func (d *Distribution) TailShare(at time.Duration) float64 {
	if d.Tail.Count == 0 {
		return 0
	}
	share := 1.0
	for i := range d.Heads {
		share -= d.Heads[i].Active(at)
	}
	return max(share, 0)
}

// Draw returns a head's number, or -1 and a rank of the tail.
func (d *Distribution) Draw(r *rand.Rand, at time.Duration) (head int, rank int64) {
	if len(d.Heads) > 0 {
		x := r.Float64()
		for i := range d.Heads {
			if x -= d.Heads[i].Active(at); x < 0 {
				return i, 0
			}
		}
		if d.Tail.Count == 0 {
			return len(d.Heads) - 1, 0
		}
	}
	return -1, d.Tail.draw(r)
}

func (t *Tail) draw(r *rand.Rand) int64 {
	if t.Exponent == 0 {
		return r.Int64N(t.Count)
	}
	return t.zipf.draw(r)
}

// Name returns the key of a rank.
func (t *Tail) Name(rank int64) string { return t.Prefix + strconv.FormatInt(rank, 10) }

// Share returns the part of the tail that a rank has.
func (t *Tail) Share(rank int64) float64 {
	if t.Exponent == 0 {
		return 1 / float64(t.Count)
	}
	return math.Pow(float64(rank+1), -t.Exponent) / t.zipf.sum
}
