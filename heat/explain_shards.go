package heat

import (
	"fmt"
	"math"
	"slices"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// shards finds problems of sharded keys: shards that readers miss, and keys that are spread unevenly.
func (e *explainer) shards(r *ResourceReport, said map[about]bool) {
	for _, d := range [...]Direction{Write, Read} {
		flow := r.Flow(d)
		for i := range flow.Sharded {
			e.strays(r, d, &flow.Sharded[i], "request", said)
		}
		if d == Write { // reads ask all shards, or one: they do not show how a key is spread
			e.uneven(r, flowSpreads(flow, r.Resource), e.rules.Sample, "request", said)
		}
	}
	s := r.Stored
	if s == nil {
		return
	}
	for i := range s.Sharded {
		e.strays(r, Write, &s.Sharded[i], "item", said)
	}
	if s.Fraction >= 1 { // a sample has some shards and not others
		e.uneven(r, storedSpreads(s, r.Resource), e.rules.Items, "item", said)
	}
}

// mostExamples is how many strays a finding names.
const mostExamples = 5

// strays finds keys that readers of a layout do not ask for: shards beyond theirs, shards with another spelling, and keys
// without a shard number. Each has its own remedy.
func (e *explainer) strays(r *ResourceReport, d Direction, s *Sharded, noun string, said map[about]bool) {
	beyond, spelt := strayGroup{about: beyondReaders}, strayGroup{about: speltOtherwise}
	unnamed := s.Stray
	for _, stray := range s.Strays {
		unnamed -= stray.Count
		switch {
		case e.excluded(stray.Key):
		case s.Layout.beyond(stray.Number):
			beyond.strays = append(beyond.strays, stray)
		default:
			spelt.strays = append(spelt.strays, stray)
		}
	}
	more := max(0, s.StrayKeys.Keys-int64(len(s.Strays)))
	switch {
	case len(beyond.strays) > 0:
		beyond.unnamed, beyond.more = unnamed, more
	case len(spelt.strays) > 0:
		spelt.unnamed, spelt.more = unnamed, more
	case unnamed > 0: // those that are named are excluded, but there are more
		e.unnamed(r, d, s, unnamed, noun)
	}
	bare := strayGroup{about: withoutShard, unnamed: s.Bare, more: max(0, s.BareKeys.Keys-int64(len(s.Bares)))}
	for _, stray := range s.Bares {
		bare.unnamed -= stray.Count
		if !e.excluded(stray.Key) {
			bare.strays = append(bare.strays, stray)
			said[about{r.Resource, stray.Key}] = true
		}
	}
	for _, g := range []strayGroup{beyond, spelt, bare} {
		if len(g.strays) > 0 {
			e.addStrays(r, d, s, &g, noun)
		}
	}
}

// strayGroup are strays with the same remedy.
type strayGroup struct {
	about   func(l *Layout, d Direction, first Stray) Finding
	strays  []Stray // those that are named, not empty
	unnamed int64   // what the others have
	more    int64   // how many others there are
}

func (e *explainer) addStrays(r *ResourceReport, d Direction, s *Sharded, g *strayGroup, noun string) {
	f := g.about(&s.Layout, d, g.strays[0])
	f.Kind, f.Severity, f.Direction, f.Pattern = StrayShard, Critical, d, s.Layout.String()
	if d == Read {
		f.Severity = Warning
	}
	named := g.strays[:min(len(g.strays), mostExamples)]
	for _, stray := range named {
		what := "has no shard number, but numbered shards of it were seen"
		if stray.Number != "" {
			what = fmt.Sprintf("is shard %s, %s", stray.Number, s.Layout.fault(stray.Number))
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("'%s' %s; it has %s", stray.Key, what, e.counted(stray.Count, d, noun)))
	}
	sum, more := g.unnamed, g.more
	for _, stray := range g.strays[len(named):] {
		sum += stray.Count
		more++
	}
	if more > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("and %s in %s more such keys", e.counted(sum, d, noun), figure.Thousands(more)))
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s in shards that readers ask for", e.counted(s.Count, d, noun)))
	e.add(r, f)
}

const notShards = "; if these keys are not shards, exclude them with Rules.Exclude (--exclude)"

// beyondReaders is about shards beyond those that readers ask for.
func beyondReaders(l *Layout, d Direction, first Stray) Finding {
	if d == Read {
		return Finding{
			Message: fmt.Sprintf("Partition key '%s' is shard %s, but the layout %s has %s: a reader uses more",
				first.Key, first.Number, l, countShards(l.Layout.Shards)),
			Cause:  "a reader uses more shards than heat was told, most likely because a writer uses more, or will",
			Remedy: "give heat and all readers the current number of shards (docs/layouts.md)",
		}
	}
	return Finding{
		Message: fmt.Sprintf("Partition key '%s' is shard %s, but readers of %s ask for %s: they miss it",
			first.Key, first.Number, l, countShards(l.Layout.Shards)),
		Cause:  "a writer uses more shards than the readers: readers miss these items without an error",
		Remedy: "raise the number of shards of all readers first, then of the writers (docs/layouts.md)" + notShards,
	}
}

// speltOtherwise is about shards whose numbers readers spell differently, or leave out.
func speltOtherwise(l *Layout, d Direction, first Stray) Finding {
	f := Finding{
		Message: fmt.Sprintf("Partition key '%s' is shard %s, but readers of %s spell it differently: they miss it", first.Key, first.Number, l),
		Cause:   "a writer spells shards differently than the readers: readers miss these items without an error",
		Remedy: "give all readers and writers the Format of these keys, or add the layout with that Format to Options.Older " +
			"(docs/layouts.md); more shards do not help" + notShards,
	}
	if l.Layout.Format.BareZero && atoi([]byte(first.Number)) == l.Layout.Format.First {
		f.Cause = "a writer does not use Format.BareZero, so its first shard has a number: readers miss these items without an error"
		f.Remedy = "if the bare key has no items, remove BareZero from the Format of all readers and writers; " +
			"else add the layout without BareZero to Options.Older (docs/layouts.md); more shards do not help" + notShards
	}
	if d == Read {
		f.Message = fmt.Sprintf("Partition key '%s' is shard %s, but the layout %s spells it differently: a reader uses another layout",
			first.Key, first.Number, l)
		f.Cause = "a reader uses another Format than heat was told, or has one in Options.Older"
		f.Remedy = "give heat (--layout) and all readers the current Format (docs/layouts.md)"
	}
	return f
}

// withoutShard is about keys that have items under the bare key, and numbered shards beside it.
func withoutShard(l *Layout, d Direction, first Stray) Finding {
	if d == Read {
		return Finding{
			Message: fmt.Sprintf("Partition key '%s' is read without a shard number, but readers of %s read its shards", first.Key, l),
			Cause:   "a reader does not use the layout and misses the items in shards, or readers have layout.Layout{} in Options.Older",
			Remedy:  "give the layout to all readers; if they read the bare key too, tell heat: Layout.Unsharded (--unsharded)",
		}
	}
	return Finding{
		Message: fmt.Sprintf("Partition key '%s' has no shard number, but readers of %s ask only for numbered shards: they miss it", first.Key, l),
		Cause:   "the items are older than the key's shards, or a writer does not use the layout: readers miss them without an error",
		Remedy: "give the layout to all writers, and set Options.Older: []layout.Layout{{}}; or use Format.BareZero, if no first shard " +
			"has a number yet (docs/layouts.md). If readers do so already, tell heat: Layout.Unsharded or BareZero (--unsharded, --layout)" + notShards,
	}
}

// unnamed adds the finding that there are more strays than the excluded ones, too many to keep their names.
func (e *explainer) unnamed(r *ResourceReport, d Direction, s *Sharded, count int64, noun string) {
	e.add(r, Finding{
		Kind: StrayShard, Severity: Info, Direction: d, Pattern: s.Layout.String(),
		Message: fmt.Sprintf("%s keys end like shards that readers of %s do not ask for; the named ones are excluded",
			figure.Thousands(s.StrayKeys.Keys), s.Layout),
		Evidence: []string{fmt.Sprintf("%s in keys without a name in the report", e.counted(count, d, noun))},
		Cause:    "too many keys end like shards to keep all names: the others may be excluded keys, or shards that readers miss",
		Remedy:   "choose a layout whose ending no other keys of the table have, such as {key}#SHARD_{shard}",
	})
}

// counted says how many requests or items there are. Contributor Insights counts units, not requests.
func (e *explainer) counted(n int64, d Direction, noun string) string {
	if noun == "request" {
		noun = d.String() + " request"
		if e.report.Source == Insights {
			noun = d.String() + " unit"
		}
	}
	return figure.Count(n, noun)
}

// spreads are keys of a layout with their shards.
type spreads struct {
	layout Layout
	keys   []KeyShards
}

// flowSpreads returns the sharded keys of a flow: those of layouts that the source was told, and listed keys that end in
// #SHARD_n or #SHARD#n.
func flowSpreads(f *Flow, of Resource) []spreads {
	own := *f
	own.Keys = slices.DeleteFunc(slices.Clone(f.Keys), func(k KeyHeat) bool { return claimed(f.Sharded, k.Key) })
	told := int64(0)
	for i := range f.Sharded {
		told += f.Sharded[i].Count + f.Sharded[i].Stray + f.Sharded[i].Bare
	}
	own.Requests = max(own.Throttled, f.Requests-told)
	return append(spreadsOf(f.Sharded), spreadsOf(foldFlow(&own, newShardBook(selfTold, of, false)))...)
}

// storedSpreads is flowSpreads for stored items.
func storedSpreads(s *Stored, of Resource) []spreads {
	own := *s
	own.Keys = slices.DeleteFunc(slices.Clone(s.Keys), func(k KeyItems) bool { return claimed(s.Sharded, k.Key) })
	told := int64(0)
	for i := range s.Sharded {
		told += s.Sharded[i].Count + s.Sharded[i].Stray + s.Sharded[i].Bare
	}
	own.Items = max(0, s.Items-told)
	return append(spreadsOf(s.Sharded), spreadsOf(foldStored(&own, newShardBook(selfTold, of, true)))...)
}

func spreadsOf(all []Sharded) []spreads {
	var found []spreads
	for i := range all {
		found = append(found, spreads{all[i].Layout, all[i].Keys})
	}
	return found
}

// claimed reports whether a key is a shard, or a counted bare key, of a layout that the source was told.
func claimed(told []Sharded, key string) bool {
	return slices.ContainsFunc(told, func(s Sharded) bool {
		_, _, ok := s.Layout.cutNumber([]byte(key))
		return ok || slices.ContainsFunc(s.Bares, func(b Stray) bool { return b.Key == key })
	})
}

// uneven finds keys whose fullest shard takes far more than its fair share: one finding for each layout, about the key
// that has most of it.
func (e *explainer) uneven(r *ResourceReport, all []spreads, sample int64, noun string, said map[about]bool) {
	for _, s := range all {
		var worst *KeyShards
		found, judged := 0, 0
		for i := range s.keys {
			k := &s.keys[i]
			if k.Count < sample || e.excluded(k.Fullest) || grows(r, &s.layout, k.Key) {
				continue
			}
			judged++
			if e.isUneven(k, len(s.keys)) {
				found++
				said[about{r.Resource, k.Fullest}] = true
				if worst == nil || worseSpread(k, worst) {
					worst = k
				}
			}
		}
		if worst != nil {
			e.addUneven(r, s.layout, worst, found, judged, noun)
		}
	}
}

// worseSpread reports whether a key is named before another. Keys that have only grown come last.
func worseSpread(k, than *KeyShards) bool {
	if (k.Grown > 0) != (than.Grown > 0) {
		return k.Grown == 0
	}
	return k.Most > than.Most
}

func (e *explainer) addUneven(r *ResourceReport, l Layout, k *KeyShards, found, judged int, noun string) {
	share := float64(k.Most) / float64(k.Count)
	f := Finding{
		Kind: UnevenShards, Direction: Write, Key: k.Fullest, Pattern: shapeIn(r, k.Fullest),
		Message: fmt.Sprintf("Partition key '%s' takes %.0f%% of what %s of '%s' should share", k.Fullest, 100*share, countShards(k.Shards), k.Key),
		Evidence: []string{
			fmt.Sprintf("the fullest shard has %s of at most %s, %.1f%%; a fair share of %s is %.1f%%",
				figure.Thousands(k.Most), e.counted(k.Count, Write, noun), 100*share, countShards(k.Shards), 100/float64(k.Shards)),
			fmt.Sprintf("%s of %s seen", figure.Thousands(k.Seen), countShards(k.Shards)),
		},
	}
	f.Severity, f.Cause, f.Remedy = whyUneven(&l, k, noun)
	if k.Items > 0 && noun == "request" {
		f.Evidence = append(f.Evidence, differentItems(k.Items)+" in the fullest shard")
	}
	if judged > 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%d of %d keys with enough data are spread like this", found, judged))
	}
	if i := slices.IndexFunc(r.Writes.Keys, func(h KeyHeat) bool { return h.Key == k.Fullest }); i >= 0 && noun == "request" {
		h := &r.Writes.Keys[i]
		if severity, hot := e.heat(h, Write); hot {
			f.Severity = max(f.Severity, severity)
			f.Message += fmt.Sprintf(", with %s (hot partition)", e.rateText(&r.Writes, h))
		}
		f.Evidence = append(f.Evidence, e.evidence(h, Write)...)
	}
	e.add(r, f)
}

// whyUneven returns the cause of a fullest shard with far more than its fair share.
func whyUneven(l *Layout, k *KeyShards, noun string) (severity Severity, cause, remedy string) {
	const (
		declare = "with a calculated layout, declare the old number with Widths or Options.Older (docs/layouts.md)"
		differ  = "if keys have different numbers of shards, tell heat: Layout.Widths (--widths)"
		hash    = "test the hash on these ids with heatsink's Layout.Evenness, and choose one that spreads them: XXHash, FNV or MD5; " +
			"stored items keep their places, so add the old layout to Options.Older"
	)
	switch {
	case k.Grown > 0 && noun == "item":
		return Info, fmt.Sprintf("the first %s are about equally full, and later ones hold less: the key seems to have had %d shards before, "+
				"so the older shards hold more", countShards(k.Grown), k.Grown),
			"keep the hash: new items go to all shards; " + declare + "; " + differ
	case k.Grown > 0:
		return Warning, fmt.Sprintf("the first %s get about the same, and later ones less: some writers seem to have only %s, "+
				"or the number was raised in the meantime", countShards(k.Grown), countShards(k.Grown)),
			"give all writers the same number of shards; " + declare + "; " + differ
	}
	cause = "the hash does not spread these ids, as layout.Product does not spread ids like order-00001; or few ids have most of the load"
	if noun == "item" {
		cause += "; or the key had fewer shards before, so the older ones hold more"
		remedy = "if the number of shards was raised, keep the hash; " + declare + "; " + differ + "; else "
	} else {
		cause += "; or some writers have fewer shards"
		remedy = "give all writers the same number of shards; " + differ + "; then "
	}
	if l.Layout.Format.BareZero && k.Fullest == k.Key {
		cause = "writers without the layout write to the bare key, which is the first shard; or the hash does not spread these ids"
		remedy = "give the layout to all writers; "
	}
	return Warning, cause, remedy + hash
}

// unlikely is the probability of calling any key uneven that is uneven by chance.
const unlikely = 1e-6

// mostUnits is the most units of a write: an item has up to 400 KB.
const mostUnits = 400

// isUneven reports whether the fullest of a key's shards has far more than its fair share, twice as much or, of few shards,
// Rules.Excess of the rest; and by more than chance explains. For n that are spread at random over N shards
//
//	P(some shard has m or more) <= N exp(-n D(m/n, 1/N)),  D(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q))
//
// which is Chernoff's bound. If the other shards have about as many different items, the ids are spread evenly, and some
// are only written more often.
func (e *explainer) isUneven(k *KeyShards, keys int) bool {
	if k.Shards < 2 || k.Count <= 0 || k.Most <= 0 {
		return false
	}
	n, fair := float64(k.Count), 1/float64(k.Shards)
	share := min(1, float64(k.Most)/n)
	if share < 2*fair && excess(share, int64(k.Shards)) < e.rules.Excess {
		return false
	}
	if k.Items == 1 || k.Items > 0 && k.OtherItems < manyItems && 2*k.OtherItems >= float64(k.Items) {
		return false
	}
	if e.report.Source == Insights {
		n /= mostUnits // it counts units: there may have been as few requests
	}
	bits := share * math.Log(share/fair)
	if share < 1 {
		bits += (1 - share) * math.Log((1-share)/(1-fair))
	}
	return math.Log(float64(k.Shards))+math.Log(float64(max(1, keys)))-n*bits < math.Log(unlikely)
}

// spreadAlready reports whether shards of a key were seen, by a layout that the source was told or in a usual spelling.
// Sharding is then no remedy.
func spreadAlready(r *ResourceReport, key string) bool {
	if slices.ContainsFunc(allFolded(r), func(k LogicalKey) bool { return k.Key == key && k.Shards > 1 }) {
		return true
	}
	told := slices.Concat(r.Writes.Sharded, r.Reads.Sharded)
	if r.Stored != nil {
		told = append(told, r.Stored.Sharded...)
	}
	return slices.ContainsFunc(told, func(s Sharded) bool {
		return slices.ContainsFunc(s.Keys, func(k KeyShards) bool { return k.Key == key }) ||
			slices.ContainsFunc(s.Bares, func(b Stray) bool { return b.Key == key }) ||
			// Only some keys are listed, but their shapes are.
			slices.ContainsFunc(r.Patterns, func(p Pattern) bool { return p.Shape == key+s.Layout.prefix()+"{n}" })
	})
}
