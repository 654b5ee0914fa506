package heat

import (
	"fmt"
	"strings"
)

// stored finds what only the stored items show.
func (e *explainer) stored(r *ResourceReport, said map[about]bool) {
	s := r.Stored
	if s == nil || s.Items < e.rules.Items {
		return
	}
	if s.Expired*10 >= s.Items {
		e.add(r, Finding{
			Kind: ExpiredItems, Severity: Info, Direction: Read,
			Message:  fmt.Sprintf("%.0f%% of the items have expired and are still stored", 100*float64(s.Expired)/float64(s.Items)),
			Evidence: []string{fmt.Sprintf("%d of %d items are past their time to live", s.Expired, s.Items)},
			Cause:    "DynamoDB deletes expired items within days; until then it returns them and charges for them",
			Remedy:   "filter by the time to live in reads and counts, as heatsink Options.TTL does",
		})
	}
	for i, k := range s.Keys {
		if growsStored(s, k.Key) {
			said[about{r.Resource, k.Key}] = true
			continue
		}
		shape := shapeIn(r, k.Key)
		share, among := storedShare(r, &k, shape)
		if k.Low < e.rules.Items || among < 2 || excess(share, among) < e.rules.Excess || e.excluded(k.Key) || said[about{r.Resource, k.Key}] || said[about{r.Resource, shape}] {
			continue
		}
		said[about{r.Resource, shape}] = true
		if set := setOf(r, k.Key); set != nil {
			e.storedSet(r, &k, share, set)
			continue
		}
		e.add(r, Finding{
			Kind: SkewedTenant, Severity: Warning, Direction: Write, Key: k.Key, Pattern: shape,
			Message:  fmt.Sprintf("Partition key '%s' holds %.0f%% of the items%s", k.Key, 100*share, ofShape(shape)),
			Evidence: []string{fmt.Sprintf("at least %d items, of %d examined; a fair share of %d keys is %.1f%%", k.Low, s.Items, among, 100/float64(among))},
			Cause:    "one key of many has far more items than the others: whoever is popular, or under attack, writes to one partition",
			Remedy:   fmt.Sprintf("bucket its key by time to limit its size, and add shards above %s writes a second", e.writes()),
		})
		e.largeToo(r, s.Keys[i+1:], shape)
	}
	e.heaps(r, said)
}

// ofShape names the items of a shape, "" for one that says nothing: {id}.
func ofShape(shape string) string {
	if strings.HasPrefix(shape, "{") && strings.HasSuffix(shape, "}") && strings.Count(shape, "{") == 1 {
		return ""
	}
	return " of " + shape
}

// storedShare returns the share of a key in the items of its shape, and the number of such keys.
func storedShare(r *ResourceReport, k *KeyItems, shape string) (share float64, among int64) {
	among = siblings(r, shape, r.Stored.Distinct.Keys)
	if items := patternItems(r, shape); items > 0 {
		return shareOf(r.Stored, k.Low, items, among)
	}
	return k.Share, among
}

// largeToo adds to the last finding those of the smaller keys of its shape that have large shares as well: half of what makes
// a finding is enough.
func (e *explainer) largeToo(r *ResourceReport, smaller []KeyItems, shape string) {
	f := &e.findings[len(e.findings)-1]
	var list []string
	for i := range smaller {
		k := &smaller[i]
		share, among := storedShare(r, k, shape)
		if k.Low < e.rules.Items || excess(share, among) < e.rules.Excess/2 || e.excluded(k.Key) || shapeIn(r, k.Key) != shape {
			continue
		}
		f.Others = append(f.Others, k.Key)
		list = append(list, fmt.Sprintf("'%s' %.0f%%", k.Key, 100*share))
	}
	if len(list) > 0 {
		f.Evidence = append(f.Evidence, "others with large shares: "+strings.Join(list, ", "))
	}
}

// growsStored reports whether a stored key is a shard of a key that seems to grow, or its bare key: its shards are uneven by
// their age, and it has shards already.
func growsStored(s *Stored, key string) bool {
	logical, ok := logicalOf(foldLayouts(s.Sharded), key)
	if !ok {
		logical = key
	}
	return isBareShard(s.Folded(), logical)
}

// shareOf returns the share of a key in the items of its shape, and the number of such keys. Of a sample both are estimates:
// it has all items of some keys, so that the others have more items, and are more, than it shows.
func shareOf(s *Stored, own, items, among int64) (share float64, keys int64) {
	others := float64(max(0, items-own))
	if s.Fraction > 0 && s.Fraction < 1 {
		others /= s.Fraction
		among = 1 + int64(float64(max(0, among-1))/s.Fraction)
	}
	return float64(own) / max(1, float64(own)+others), among
}

// storedSet adds the finding that one of few values has most of the items.
func (e *explainer) storedSet(r *ResourceReport, k *KeyItems, share float64, set *Pattern) {
	e.add(r, Finding{
		Kind: LowCardinality, Severity: Warning, Direction: Write, Key: k.Key, Pattern: set.Shape,
		Message:  fmt.Sprintf("Partition key '%s' holds %.0f%% of the items with a value of %s", k.Key, 100*share, set.attribute(r)),
		Evidence: []string{set.valuesText(r, Write), fmt.Sprintf("at least %d items, of %d examined", k.Low, r.Stored.Items)},
		Cause:    "the key has few values, and one of them has most items: if traffic follows the items, it goes to one partition",
		Remedy:   "do nothing below " + e.rates() + "; above that, put an attribute that varies into the key, or add shards",
	})
}

// heaps finds keys that hold most of a table, whatever the shapes of the others. Shares of a sample mean nothing: it has
// all items of some keys.
func (e *explainer) heaps(r *ResourceReport, said map[about]bool) {
	s := r.Stored
	if s.Fraction < 1 {
		return
	}
	for _, k := range s.Keys {
		shape := shapeIn(r, k.Key)
		if k.Low < e.rules.Items || excess(k.Share, s.Distinct.Keys) < e.rules.Excess || e.excluded(k.Key) || said[about{r.Resource, k.Key}] || said[about{r.Resource, shape}] {
			continue
		}
		said[about{r.Resource, k.Key}] = true
		if spreadAlready(r, k.Key) {
			e.past(r, &k, shape)
			continue
		}
		e.add(r, Finding{
			Kind: DominantKey, Severity: Warning, Direction: Write, Key: k.Key, Pattern: shape,
			Message: fmt.Sprintf("Partition key '%s' holds %.1f%% of the items", k.Key, 100*k.Share),
			Evidence: []string{fmt.Sprintf("at least %d items, of %d examined; a fair share of %s is %.1f%%",
				k.Low, s.Items, partitionKeys(s.Distinct.Keys), 100/float64(s.Distinct.Keys))},
			Cause:  "if reads and writes follow the items, they all go to one partition",
			Remedy: "do nothing below " + e.rates() + "; above that, bucket its key by time or add shards: layout.Layout{Bucket: …, Shards: …}, with heatsink.Options.EventTime",
		})
	}
}

// past adds the finding that a bare key holds most of a table although the key has shards now.
func (e *explainer) past(r *ResourceReport, k *KeyItems, shape string) {
	e.add(r, Finding{
		Kind: DominantKey, Severity: Info, Direction: Write, Key: k.Key, Pattern: shape,
		Message:  fmt.Sprintf("Partition key '%s' holds %.1f%% of the items, although the key has shards now", k.Key, 100*k.Share),
		Evidence: []string{fmt.Sprintf("at least %d items, of %d examined", k.Low, r.Stored.Items)},
		Cause:    "these items are older than the key's shards, or a writer does not use the layout",
		Remedy:   "do nothing if all writers have the layout: new items are spread; --stream shows whether writers still use the bare key",
	})
}

// siblings returns the number of keys with a shape.
func siblings(r *ResourceReport, shape string, otherwise int64) int64 {
	for _, p := range r.Patterns {
		if p.Shape == shape {
			return p.Distinct.Keys
		}
	}
	return otherwise
}

func patternItems(r *ResourceReport, shape string) int64 {
	for _, p := range r.Patterns {
		if p.Shape == shape {
			return p.Items
		}
	}
	return 0
}
