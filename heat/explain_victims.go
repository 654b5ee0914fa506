package heat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/judge"
)

// victims finds keys that are refused because of a hotter one: it fills their partition, or the partition that the writes to
// them leave. Nothing is to be done about them but to spread the hot one.
func (e *explainer) victims(r *ResourceReport, d Direction, said map[about]bool) {
	flow := r.Flow(d)
	var groups []victims
	for i := range flow.Keys {
		k := &flow.Keys[i]
		if v := e.verdict(k, d); v == judge.Alone && !e.moved(flow, k, d) || v == judge.Warming || e.excluded(k.Key) ||
			said[about{r.Resource, k.Key}] || !e.suffers(k) {
			continue
		}
		by := e.fillers(flow, k, d)
		if len(by) == 0 {
			continue
		}
		said[about{r.Resource, k.Key}] = true
		moving := e.moved(flow, k, d)
		at := slices.IndexFunc(groups, func(v victims) bool { return v.moving == moving && slices.Equal(v.by, by) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, victims{by: by, moving: moving, sure: !moving && k.Partition != "" && by[0].Partition == k.Partition})
		}
		groups[at].keys = append(groups[at].keys, k)
	}
	for i := range groups {
		e.addVictims(r, d, &groups[i])
	}
}

// victims are keys that are refused because of others.
type victims struct {
	keys, by []*KeyHeat // by is not empty
	moving   bool       // writes that move entries of an index are refused
	sure     bool       // the source says that they share a partition
}

// suffers reports whether so much of a key is refused that a finding says so: one of twenty requests.
func (e *explainer) suffers(k *KeyHeat) bool {
	return e.refusedEver(k) && judge.Rare*k.Throttled >= k.Requests
}

// refusedEver is refused. Of a source that has stopped, throttles of any time count.
func (e *explainer) refusedEver(k *KeyHeat) bool {
	return e.refused(k) || e.report.Ended && k.Throttled > judge.FewThrottles && keyRange(k.Reason)
}

// fillers returns the keys that likely fill the partition because of which a key is refused, the hottest first: those on its
// own one where the source knows partitions, else those that are refused too. Only one that takes most of a partition does.
func (e *explainer) fillers(flow *Flow, k *KeyHeat, d Direction) []*KeyHeat {
	var by []*KeyHeat
	moving := movesMost(k)
	layouts := foldLayouts(flow.Sharded)
	whole, ok := logicalOf(layouts, k.Key)
	if !ok {
		whole = k.Key
	}
	for i := range flow.Keys {
		f := &flow.Keys[i]
		known := f.Partition != "" && f.Partition == k.Partition
		apart := f.Partition != "" && k.Partition != "" && !known
		if f == k || e.verdict(f, d) != judge.Alone || movesMost(f) || e.excluded(f.Key) || !known && (!e.refusedEver(f) || !moving && apart) {
			continue
		}
		if of, _ := logicalOf(layouts, f.Key); of != whole && f.Key != whole { // another shard of the same key is judged with it
			by = append(by, f)
		}
	}
	slices.SortStableFunc(by, func(a, b *KeyHeat) int { return cmp.Compare(e.wanted(b), e.wanted(a)) })
	return by
}

// movesMost reports whether most of what was refused of a key are writes that may move an entry of an index there. The
// partition that refused them may be that of the key that the entry leaves.
func movesMost(k *KeyHeat) bool { return k.Throttled > 0 && 2*k.Moving >= k.Throttled }

// moved reports whether a key is only refused because of the key that entries leave: by its own demand it does not fill a partition.
func (e *explainer) moved(flow *Flow, k *KeyHeat, d Direction) bool {
	return movesMost(k) && e.report.Sustained(k) < e.rules.Hot*e.report.Limit(d) && len(e.fillers(flow, k, d)) > 0
}

// nameList lists keys in quotes, the first few of them.
func nameList(keys []*KeyHeat) string {
	var list []string
	for _, k := range keys[:min(len(keys), mostNeighbours)] {
		list = append(list, "'"+k.Key+"'")
	}
	if more := len(keys) - len(list); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list, ", "), more)
	}
	return strings.Join(list, ", ")
}

func (e *explainer) addVictims(r *ResourceReport, d Direction, v *victims) {
	slices.SortStableFunc(v.keys, func(a, b *KeyHeat) int { return cmp.Compare(b.Throttled, a.Throttled) })
	first, hottest := v.keys[0], nameList(v.by)
	f := Finding{
		Kind: HotPartition, Severity: Warning, Direction: d, Key: first.Key, Pattern: shapeIn(r, first.Key),
		Evidence: e.evidence(first, d),
	}
	likely, which := "likely ", hottest
	if v.sure {
		likely = ""
	} else if len(v.by) > 1 {
		which = "one of " + hottest
	}
	switch {
	case v.moving:
		f.Message = fmt.Sprintf("Partition key '%s' is throttled by writes that move entries to it, %sbecause %s fills the partition that they leave",
			first.Key, likely, which)
		f.Cause = "a write that moves an entry is refused if the partition of the old key or of the new one is full"
	default:
		f.Message = fmt.Sprintf("Partition key '%s' is throttled although it is not hot: %s%s fills its partition", first.Key, likely, which)
		f.Cause = fmt.Sprintf("a partition serves %s %s units/sec to all of its keys together", figure.Thousands(e.report.Limit(d)), d)
	}
	for _, k := range v.keys[1:] {
		f.Others = append(f.Others, k.Key)
	}
	if len(v.keys) > 1 {
		f.Evidence = append(f.Evidence, "so are "+nameList(v.keys[1:]))
	}
	for _, k := range v.by[:min(len(v.by), mostNeighbours)] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("'%s' wants %s %s units a second", k.Key, e.demandText(k), d))
	}
	if !v.sure && !v.moving {
		f.Evidence = append(f.Evidence, "the source does not show partitions: that these keys share one is inferred from their throttles")
	}
	f.Remedy = fmt.Sprintf("spread %s first: its own finding says how; this key needs nothing", hottest)
	if len(v.by) > 1 {
		f.Remedy = fmt.Sprintf("spread %s first: their own findings say how; this key needs nothing", hottest)
	}
	if d == Read {
		f.Remedy = strings.Replace(f.Remedy, "spread", "relieve", 1)
	}
	if r.Index != "" && d == Write {
		f.Kind = HotIndex
	}
	f.Cause += backPressure(r, d)
	e.add(r, f)
}
