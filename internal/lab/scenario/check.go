package scenario

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// The bounds of a scenario. They keep its memory and its virtual time finite.
const (
	MaxDuration   = 7 * 24 * time.Hour
	MaxPartitions = 1 << 16
	MaxKeys       = 100_000_000
	MaxHeads      = 10_000
	MaxShards     = 1024
	MaxPerSecond  = 100_000_000
	maxLoads      = 16
	maxLayouts    = 32
	maxIndexes    = 20
	maxPlaces     = 1_000_000 // keys of all indexes, times their shards
	maxProcesses  = 256
	maxSize       = 400 << 10 // of an item at DynamoDB

	// TableQuota and accountQuota are what an account may provision unless its quota was raised: for a table or an index,
	// and for all together.
	TableQuota   = 40_000
	accountQuota = 80_000
)

// fill sets the defaults of what the file does not have.
func (r *reader) fill(s *Scenario) {
	unless(r, "seed", &s.Seed, 1)
	if s.Start.IsZero() {
		s.Start.Time = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	}
	unless(r, "run-in", &s.RunIn, Duration(2*time.Second))
	or(r, "duration", &s.Duration, Duration(30*time.Second))
	or(r, "mode", &s.Mode, Requests)
	or(r, "tick", &s.Tick, Duration(20*time.Millisecond))
	or(r, "table.capacity", &s.Table.Capacity, OnDemand)
	for i := range s.Table.Indexes {
		path := fmt.Sprintf("table.indexes[%d]", i)
		or(r, path+".keys", &s.Table.Indexes[i].Keys, 1)
		or(r, path+".shards", &s.Table.Indexes[i].Shards, 1)
	}
	for i := range s.Load {
		r.fillLoad(i, &s.Load[i])
	}
	for i := range s.Layouts {
		r.fillLayout(fmt.Sprintf("layouts[%d]", i), &s.Layouts[i])
	}
	or(r, "client.processes", &s.Client.Processes, 8)
	or(r, "client.latency.p50", &s.Client.Latency.P50, Duration(5*time.Millisecond))
	or(r, "client.latency.p99", &s.Client.Latency.P99, max(Duration(15*time.Millisecond), 3*s.Client.Latency.P50))
}

func (r *reader) fillLoad(i int, l *Load) {
	path := fmt.Sprintf("load[%d]", i)
	or(r, path+".operation", &l.Operation, Write)
	or(r, path+".name", &l.Name, fmt.Sprint("load ", i+1))
	or(r, path+".size", &l.Size, 1<<10)
	or(r, path+".items", &l.Items, Rising)
	if h := l.Keys.Hot; h != nil {
		or(r, path+".keys.hot.key", &h.Key, "hot")
	}
	if f := l.Keys.Flash; f != nil {
		or(r, path+".keys.flash.key", &f.Key, "flash")
	}
	if d := l.Keys.Date; d != nil {
		unless(r, path+".keys.date.prefix", &d.Prefix, "DATE#")
	}
}

func (r *reader) fillLayout(path string, l *Layout) {
	or(r, path+".load-factor", &l.LoadFactor, 1)
	switch l.Kind {
	case Naive:
		or(r, path+".shards", &l.Shards, 200)
	case Adaptive:
		or(r, path+".shards", &l.Shards, 256)
	case Bucketed, BucketAnd:
		if l.Bucket == layout.NoBucket {
			l.Bucket = layout.Day
		}
	}
	switch l.Kind {
	case Fixed, Adaptive, BucketAnd:
		or(r, path+".retries", &l.Retries, Heatsink)
	default:
		or(r, path+".retries", &l.Retries, SDK)
	}
	or(r, path+".name", &l.Name, l.describe())
}

// describe names a layout by what it does.
func (l *Layout) describe() string {
	switch l.Kind {
	case None:
		return "one key"
	case Naive:
		return fmt.Sprintf("naive, %d suffixes", l.Shards)
	case Calculated:
		return fmt.Sprintf("calculated by %s, %d shards", l.Hash, l.Shards)
	case Adaptive:
		return "heatsink, adaptive"
	case Bucketed:
		return fmt.Sprintf("a key for each %s", l.Bucket)
	case BucketAnd:
		return fmt.Sprintf("a key for each %s, %d shards", l.Bucket, l.Shards)
	}
	return fmt.Sprintf("heatsink, %d shards", l.Shards)
}

// or sets the default of a field. A zero that is in the file is refused: it would not mean what it says.
func or[T comparable](r *reader, path string, field *T, value T) {
	var zero T
	if *field != zero {
		return
	}
	*field = value
	if _, given := r.lines[path]; given {
		r.at(path, "is %s, which is no value for it: leave it out for %v", zeroText(zero), value)
	}
}

// unless sets the default of a field whose zero is a value as well.
func unless[T any](r *reader, path string, field *T, value T) {
	if _, given := r.lines[path]; !given {
		*field = value
	}
}

func zeroText(zero any) string {
	if reflect.TypeOf(zero).Kind() == reflect.String {
		return "empty"
	}
	return "0"
}

// check adds everything that is wrong with a scenario whose fields could be read.
func (r *reader) check(s *Scenario) {
	if s.Title == "" {
		r.at("title", "say in one line what the scenario shows")
	}
	r.between("duration", time.Duration(s.Duration), time.Second, MaxDuration)
	r.between("run-in", time.Duration(s.RunIn), 0, MaxDuration)
	r.between("tick", time.Duration(s.Tick), time.Millisecond, time.Second)
	r.checkTable(&s.Table)
	r.count("load", len(s.Load), 1, maxLoads, "load")
	for i := range s.Load {
		path := fmt.Sprintf("load[%d]", i)
		r.checkLoad(path, &s.Load[i])
		if f := s.Load[i].Keys.Flash; f != nil && time.Duration(f.At) >= s.Total() {
			r.at(path+".keys.flash.at", "is %v, but the run ends after %v, its run-in included: want an earlier time", f.At, Duration(s.Total()))
		}
	}
	r.count("layouts", len(s.Layouts), 1, maxLayouts, "layout")
	for i := range s.Layouts {
		r.checkLayout(fmt.Sprintf("layouts[%d]", i), &s.Layouts[i])
	}
	r.whole("client.processes", int64(s.Client.Processes), 1, maxProcesses)
	r.between("client.latency.p50", time.Duration(s.Client.Latency.P50), time.Microsecond, time.Minute)
	r.between("client.latency.p99", time.Duration(s.Client.Latency.P99), time.Duration(s.Client.Latency.P50), time.Minute)
	if year := s.Start.Year(); year < 1970 || year > 9000 {
		r.at("start", "is in the year %d, want 1970 to 9000", year)
	}
}

func (r *reader) checkTable(t *Table) {
	provisioned := t.Capacity == Provisioned
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{{"write-units", t.WriteUnits, 1}, {"read-units", t.ReadUnits, 1}} {
		switch {
		case provisioned:
			r.whole("table."+f.name, f.value, f.least, 1e9)
		case f.value != 0:
			r.at("table."+f.name, "is for a provisioned table: set capacity: provisioned, or warm-%s for one on demand", f.name)
		}
	}
	if provisioned && !t.NoQuota {
		r.checkQuota(t)
	}
	r.whole("table.warm-write-units", t.WarmWriteUnits, 0, 1000*MaxPartitions)
	r.whole("table.warm-read-units", t.WarmReadUnits, 0, 3000*MaxPartitions)
	r.whole("table.partitions", int64(t.Partitions), 0, MaxPartitions)
	r.count("table.indexes", len(t.Indexes), 0, maxIndexes, "index")
	places := int64(0)
	for i, x := range t.Indexes {
		path := fmt.Sprintf("table.indexes[%d]", i)
		switch {
		case x.Name == "":
			r.at(path+".name", "the index needs a name")
		case slices.ContainsFunc(t.Indexes[:i], func(y Index) bool { return y.Name == x.Name }):
			r.at(path+".name", "is %s, as that of another index: give each a name of its own", quote.Text(x.Name))
		}
		r.whole(path+".keys", int64(x.Keys), 1, maxPlaces)
		r.whole(path+".shards", int64(x.Shards), 1, MaxShards)
		places += int64(x.Keys) * int64(x.Shards)
	}
	if places > maxPlaces && len(r.faults) == 0 { // else a single field is to blame
		r.at("table.indexes", "they have %d keys with their shards, want %d at most", places, maxPlaces)
	}
}

// checkQuota refuses more capacity than an account has by default. Indexes have the capacity of the table.
func (r *reader) checkQuota(t *Table) {
	const raise = "for an account whose quota was raised, set no-quota: true"
	for _, f := range []struct {
		name  string
		value int64
	}{{"write-units", t.WriteUnits}, {"read-units", t.ReadUnits}} {
		sets := int64(1 + len(t.Indexes))
		switch {
		case f.value > TableQuota:
			r.at("table."+f.name, "is %d, and a table has up to %d by default: %s", f.value, TableQuota, raise)
		case f.value*sets > accountQuota:
			r.at("table."+f.name, "is %d, thus %d with the table's indexes, and an account has up to %d by default: %s", f.value, f.value*sets, accountQuota, raise)
		}
	}
}

func (r *reader) checkLoad(path string, l *Load) {
	given := 0
	for _, set := range []bool{l.PerSecond != 0, l.Ramp != nil, l.Steps != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		r.at(path, "say how much it is by one of per-second, ramp and steps")
	}
	r.number(path+".per-second", l.PerSecond, 0, MaxPerSecond)
	if l.Ramp != nil {
		r.number(path+".ramp.from", l.Ramp.From, 0, MaxPerSecond)
		r.number(path+".ramp.to", l.Ramp.To, 0, MaxPerSecond)
		r.between(path+".ramp.over", time.Duration(l.Ramp.Over), time.Millisecond, MaxDuration)
	}
	last := Duration(-1)
	for i, s := range l.Steps {
		step := fmt.Sprintf("%s.steps[%d]", path, i)
		r.number(step+".per-second", s.PerSecond, 0, MaxPerSecond)
		if s.At <= last || s.At < 0 {
			r.at(step+".at", "is %v, want a later time than the step before", s.At)
		}
		last = s.At
	}
	if given == 1 && !(l.Peak() > 0) {
		r.at(path, "its rate is 0 all the time")
	}
	if l.Size < 1 || l.Size > maxSize {
		r.at(path+".size", "is %v, want 1B to %v, the largest item", l.Size, Bytes(maxSize))
	}
	r.checkKeys(path+".keys", &l.Keys)
}

func (r *reader) checkKeys(path string, k *Keys) {
	kinds := []string{"one", "uniform", "zipf", "hot", "date", "flash", "tenants", "listed"}
	given := 0
	for _, set := range []bool{k.One != "", k.Uniform != nil, k.Zipf != nil, k.Hot != nil, k.Date != nil, k.Flash != nil, k.Tenants != nil, k.Listed != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		r.at(path, "want one of %s", oneOf(kinds))
		return
	}
	switch {
	case k.Uniform != nil:
		r.whole(path+".uniform.count", k.Uniform.Count, 1, MaxKeys)
	case k.Zipf != nil:
		r.whole(path+".zipf.count", k.Zipf.Count, 1, MaxKeys)
		r.number(path+".zipf.exponent", k.Zipf.Exponent, 0.01, 5)
	case k.Hot != nil:
		r.number(path+".hot.share", k.Hot.Share, 0, 1)
		r.whole(path+".hot.count", k.Hot.Count, 1, MaxKeys)
	case k.Date != nil:
		if k.Date.Period == layout.NoBucket {
			r.at(path+".date.period", "is missing: want hour, day, week, month or year")
		}
	case k.Flash != nil:
		r.number(path+".flash.share", k.Flash.Share, 0, 1)
		r.whole(path+".flash.count", k.Flash.Count, 1, MaxKeys)
		r.between(path+".flash.at", time.Duration(k.Flash.At), 0, MaxDuration)
		r.between(path+".flash.for", time.Duration(k.Flash.For), time.Millisecond, MaxDuration)
	case k.Tenants != nil:
		r.whole(path+".tenants.count", k.Tenants.Count, 2, MaxKeys)
		r.number(path+".tenants.largest", k.Tenants.Largest, 0, 1)
	case k.Listed != nil:
		r.checkListed(path+".listed", k.Listed)
	}
}

func (r *reader) checkListed(path string, l *Listed) {
	r.count(path+".shares", len(l.Shares), 1, MaxHeads, "key")
	r.whole(path+".count", l.Count, 0, MaxKeys)
	sum := 0.0
	seen := map[string]bool{}
	for i, s := range l.Shares {
		at := fmt.Sprintf("%s.shares[%d]", path, i)
		r.number(at+".share", s.Share, 0, 1)
		if s.Key == "" || seen[s.Key] {
			r.at(at+".key", "is %q, want a key that is not empty and not there before", s.Key)
		}
		seen[s.Key] = true
		sum += s.Share
	}
	const rounding = 1e-6
	if sum > 1+rounding || sum < 1-rounding && l.Count == 0 {
		r.at(path+".shares", "add up to %.4g, want 1, or less together with count, the number of other keys", sum)
	}
}

func (r *reader) checkLayout(path string, l *Layout) {
	switch l.Kind {
	case None, Bucketed:
		if l.Shards != 0 {
			r.at(path+".shards", "%s has no shards: leave it out, or choose kind: fixed or bucket-and-shards", l.Kind)
		}
	case "":
		r.at(path+".kind", "is missing: want %s", oneOf(words[reflect.TypeFor[Kind]()]))
	case Adaptive:
		r.whole(path+".shards", int64(l.Shards), 1, ledger.HardWidth)
	default:
		r.whole(path+".shards", int64(l.Shards), 1, MaxShards)
	}
	if l.Bucket != layout.NoBucket && l.Kind != Bucketed && l.Kind != BucketAnd {
		r.at(path+".bucket", "is for kind: bucket and kind: bucket-and-shards")
	}
	if l.Hash != layout.XXHash && l.Kind != Calculated {
		r.at(path+".hash", "is for kind: calculated")
	}
	if l.Retries == Heatsink && (l.Kind == None || l.Kind == Naive) {
		r.at(path+".retries", "%s is written without heatsink: want sdk or none", l.Kind)
	}
	r.whole(path+".partitions", int64(l.Partitions), 0, MaxPartitions)
	r.number(path+".load-factor", l.LoadFactor, 1e-6, 1e6)
}

func (r *reader) between(path string, d, least, most time.Duration) {
	if d < least || d > most {
		r.at(path, "is %v, want %v to %v", Duration(d), Duration(least), Duration(most))
	}
}

func (r *reader) whole(path string, n, least, most int64) {
	if n < least || n > most {
		r.at(path, "is %d, want %d to %d", n, least, most)
	}
}

func (r *reader) number(path string, n, least, most float64) {
	if !(n >= least && n <= most) || math.IsNaN(n) {
		r.at(path, "is %v, want %v to %v", n, least, most)
	}
}

func (r *reader) count(path string, n, least, most int, noun string) {
	if n < least || n > most {
		r.at(path, "there are %d, want %d to %d of %s", n, least, most, noun)
	}
}
