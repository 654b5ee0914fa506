package heat

import (
	"fmt"
	"math"
	"slices"
)

// shards finds what is wrong with keys that are sharded: shards that readers miss, and keys that are spread badly.
func (e *explainer) shards(r *ResourceReport, said map[about]bool) {
	for _, d := range [...]Direction{Write, Read} {
		flow := r.Flow(d)
		for i := range flow.Sharded {
			e.strays(r, d, &flow.Sharded[i], "request")
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
		e.strays(r, Write, &s.Sharded[i], "item")
	}
	if s.Fraction >= 1 { // a sample has some shards and not others
		e.uneven(r, storedSpreads(s, r.Resource), e.rules.Items, "item", said)
	}
}

// mostExamples is how many strays a finding names.
const mostExamples = 5

// strays finds shards that readers of a layout do not ask for.
func (e *explainer) strays(r *ResourceReport, d Direction, s *Sharded, noun string) {
	unnamed := s.Stray
	var strays []Stray
	for _, stray := range s.Strays {
		unnamed -= stray.Count
		if !e.excluded(stray.Key) {
			strays = append(strays, stray)
		}
	}
	if len(strays) == 0 {
		if unnamed > 0 { // those that are named are excluded, but there are more
			e.unnamed(r, d, s, unnamed, noun)
		}
		return
	}
	f := Finding{
		Kind: StrayShard, Severity: Critical, Direction: d, Pattern: s.Layout.String(),
		Message: fmt.Sprintf("Partition key '%s' is shard %s, but readers of %s ask for %s: they miss it",
			strays[0].Key, strays[0].Number, s.Layout, countShards(s.Layout.Shards)),
		Cause: "somebody writes with more shards than you read, or spells them in another way: readers miss these items without an error",
		Remedy: "raise the number of shards of all readers first, then that of the writers (docs/layouts.md); " +
			"if these keys are no shards, leave them out with Rules.Exclude (--exclude)",
	}
	if d == Read {
		f.Severity = Warning
		f.Message = fmt.Sprintf("Partition key '%s' is shard %s, but the layout %s was given with %s: somebody reads with more",
			strays[0].Key, strays[0].Number, s.Layout, countShards(s.Layout.Shards))
		f.Cause = "somebody reads with more shards than heat was told of, most likely because somebody writes, or will write, with more"
		f.Remedy = "give heat the number of shards that is in use now, and all readers as well (docs/layouts.md)"
	}
	for _, stray := range strays[:min(len(strays), mostExamples)] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("'%s' is shard %s, %s; it has %s",
			stray.Key, stray.Number, s.Layout.fault(stray.Number), counted(stray.Count, d, noun)))
	}
	if more := max(0, len(strays)-mostExamples) + int(max(0, s.StrayKeys.Keys-int64(len(s.Strays)))); more > 0 {
		sum := unnamed
		for _, stray := range strays[min(len(strays), mostExamples):] {
			sum += stray.Count
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("and %s in %s more such keys", counted(sum, d, noun), thousands(float64(more))))
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s in shards that they do ask for", counted(s.Count, d, noun)))
	e.add(r, f)
}

// unnamed says that there are strays beside those that are excluded, too many to keep their names.
func (e *explainer) unnamed(r *ResourceReport, d Direction, s *Sharded, count int64, noun string) {
	e.add(r, Finding{
		Kind: StrayShard, Severity: Info, Direction: d, Pattern: s.Layout.String(),
		Message: fmt.Sprintf("%s keys end like shards that readers of %s do not ask for; those that are named are excluded",
			thousands(float64(s.StrayKeys.Keys)), s.Layout),
		Evidence: []string{fmt.Sprintf("%s in keys that are not named", counted(count, d, noun))},
		Cause:    "so many keys end like shards that only some are kept by name: the others may be what was excluded, or shards that readers miss",
		Remedy:   "choose a layout that other keys of the table do not end like, such as {key}#SHARD_{shard}",
	})
}

// counted says how many requests or items there are.
func counted(n int64, d Direction, noun string) string {
	text := thousands(float64(n)) + " "
	if noun == "request" {
		text += d.String() + " "
	}
	if n == 1 {
		return text + noun
	}
	return text + noun + "s"
}

// spreads is how keys of a layout are spread.
type spreads struct {
	layout Layout
	keys   []KeyShards
}

// flowSpreads returns how keys are spread: by layouts that the source was told of, and the listed ones that say
// themselves that they are shards.
func flowSpreads(f *Flow, of Resource) []spreads {
	own := *f
	own.Keys = slices.DeleteFunc(slices.Clone(f.Keys), func(k KeyHeat) bool { return claimed(f.Sharded, k.Key) })
	told := int64(0)
	for i := range f.Sharded {
		told += f.Sharded[i].Count + f.Sharded[i].Stray
	}
	own.Requests = max(own.Throttled, f.Requests-told)
	return append(spreadsOf(f.Sharded), spreadsOf(foldFlow(&own, newShardBook(selfTold, of, false)))...)
}

// storedSpreads is flowSpreads of what is stored.
func storedSpreads(s *Stored, of Resource) []spreads {
	own := *s
	own.Keys = slices.DeleteFunc(slices.Clone(s.Keys), func(k KeyItems) bool { return claimed(s.Sharded, k.Key) })
	told := int64(0)
	for i := range s.Sharded {
		told += s.Sharded[i].Count + s.Sharded[i].Stray
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

// claimed reports whether a key is a shard of a layout that the source was told of.
func claimed(told []Sharded, key string) bool {
	return slices.ContainsFunc(told, func(s Sharded) bool {
		_, _, ok := s.Layout.cutNumber([]byte(key))
		return ok
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
			if k.Count < sample || e.excluded(k.Fullest) {
				continue
			}
			judged++
			if e.isUneven(k, len(s.keys)) {
				found++
				said[about{r.Resource, k.Fullest}] = true
				if worst == nil || k.Most > worst.Most {
					worst = k
				}
			}
		}
		if worst != nil {
			e.addUneven(r, s.layout, worst, found, judged, noun)
		}
	}
}

func (e *explainer) addUneven(r *ResourceReport, l Layout, k *KeyShards, found, judged int, noun string) {
	share := float64(k.Most) / float64(k.Count)
	f := Finding{
		Kind: UnevenShards, Severity: Warning, Direction: Write, Key: k.Fullest, Pattern: shapeIn(r, k.Fullest),
		Message: fmt.Sprintf("Partition key '%s' takes %.0f%% of what %s of '%s' should share", k.Fullest, 100*share, countShards(k.Shards), k.Key),
		Evidence: []string{
			fmt.Sprintf("the fullest shard has %s of %s at most, %.1f%%; a fair share of %s is %.1f%%",
				thousands(float64(k.Most)), counted(k.Count, Write, noun), 100*share, countShards(k.Shards), 100/float64(k.Shards)),
			fmt.Sprintf("%s of %s seen", thousands(float64(k.Seen)), countShards(k.Shards)),
		},
		Cause: "the hash does not spread these ids, as heatsink.Product does not spread order-00001 and its like; or few ids have most of it",
		Remedy: "try the hash on these ids with heatsink's Layout.Evenness, and take one that spreads them, XXHash, FNV or MD5; " +
			"items that are stored keep their places, so read the old layout along as one of Options.Older",
	}
	if l.BareZero && k.Fullest == k.Key {
		f.Cause = "writers that know no shards write to the bare key, which is the first shard; or the hash does not spread these ids"
		f.Remedy = "give the layout to all writers; " + f.Remedy
	}
	if k.Items > 0 && noun == "request" {
		f.Evidence = append(f.Evidence, differentItems(k.Items)+" in the fullest shard")
	}
	if judged > 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%d of %d keys that could be judged are spread like this", found, judged))
	}
	if i := slices.IndexFunc(r.Writes.Keys, func(h KeyHeat) bool { return h.Key == k.Fullest }); i >= 0 && noun == "request" {
		h := &r.Writes.Keys[i]
		if severity, hot := e.heat(h, Write); hot {
			f.Severity = max(f.Severity, severity)
			f.Message += fmt.Sprintf(", with %s (hot partition)", e.pace(&r.Writes, h))
		}
		f.Evidence = append(f.Evidence, e.evidence(h, Write)...)
	}
	e.add(r, f)
}

// unlikely is the probability that any of the judged keys looks as uneven as one that is called so, by chance.
const unlikely = 1e-6

// mostUnits is how many units a write takes at most: an item has up to 400 KB.
const mostUnits = 400

// isUneven reports whether the fullest of a key's shards has far more than its fair share, twice as much or, of few shards,
// Rules.Excess of the rest; and by more than chance explains. For n that are spread at random over N shards
//
//	P(some shard has m or more) <= N exp(-n D(m/n, 1/N)),  D(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q))
//
// which is Chernoff's bound. If the different items of other shards are not much fewer, it is not how ids are spread that
// makes the difference, but how often some of them are written.
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
