package plan

import (
	"fmt"
	"math"

	"github.com/heatsink-go/heatsink/layout"
)

// Load is the load of a key, in units a second at the peak.
type Load struct {
	WriteUnits int64   `json:"writeUnits"`
	ReadUnits  float64 `json:"readUnits"` // without shards

	HotWrites bool `json:"hotWrites"` // above a partition's limit
	HotReads  bool `json:"hotReads"`
	Throttled bool `json:"throttled"` // more than ten times in five minutes, or on a partition that is full of others too

	// ReadsThrottled says that reads are throttled although the key is below the limit: others share its partition.
	ReadsThrottled bool `json:"readsThrottled,omitempty"`

	// Guessed says that the units are above the observed ones. The key was throttled at the limit, so its demand is
	// unknown.
	Guessed bool `json:"guessed,omitempty"`

	// HottestShare is the key's share of the table's load, 0 if unknown. OtherWriteUnits are those of all other keys.
	// KeysAbove is the number of keys known to be above a partition's limit, this one included.
	HottestShare    float64 `json:"hottestShare,omitempty"`
	OtherWriteUnits float64 `json:"otherWriteUnits,omitempty"`
	KeysAbove       int     `json:"keysAbove"`

	// PartitionWrites and PartitionReads are the units a second that one partition takes.
	PartitionWrites int64 `json:"partitionWrites"`
	PartitionReads  int64 `json:"partitionReads"`
}

// tooHot reports whether the key wants more than its partition gives.
func (l *Load) tooHot() bool { return l.HotWrites || l.HotReads || l.Throttled || l.ReadsThrottled }

// part returns the key's part of what one partition takes, of reads or of writes.
func (l *Load) part() float64 {
	return max(float64(l.WriteUnits)/float64(l.PartitionWrites), l.ReadUnits/float64(l.PartitionReads))
}

func (l *Load) limits() limits { return limits{l.PartitionWrites, l.PartitionReads} }

func (w *Workload) load() Load {
	l := Load{
		WriteUnits: unitsPerSecond(w.Writes * float64(writeUnitsOf(w.ItemBytes))),
		ReadUnits:  w.Reads * w.readWith(Leave, 1, 1, layout.NoBucket).units(),
		Throttled:  w.crowdedWrites || w.Throttles > enoughThrottles && !w.bystander && !w.enough,
		Guessed:    w.guessed,
	}
	one := w.Table.limits()
	l.PartitionWrites, l.PartitionReads = one.writes, one.reads
	l.HotWrites = l.WriteUnits > l.PartitionWrites && !w.enough
	l.HotReads = l.ReadUnits > float64(l.PartitionReads) && !w.enoughReads
	l.ReadsThrottled = w.crowdedReads
	l.HottestShare = w.Share
	switch {
	case w.Keys == 1:
		l.HottestShare = 1
	case w.Zipf > 0:
		l.HottestShare = zipfShare(w.Keys, w.Zipf)
	}
	if l.HottestShare > 0 {
		l.OtherWriteUnits = w.Writes * float64(writeUnitsOf(w.ItemBytes)) * (1/l.HottestShare - 1) // not of what was rounded up
	}
	l.KeysAbove = w.keysAbove(&l)
	return l
}

// keysAbove counts the keys whose writes exceed a partition's limit: in a Zipf distribution, the first
// (hottest / limit)^(1/s).
func (w *Workload) keysAbove(l *Load) int {
	if !l.HotWrites {
		return 0
	}
	if w.Zipf <= 0 {
		return 1
	}
	n := math.Pow(float64(l.WriteUnits)/float64(l.PartitionWrites), 1/w.Zipf)
	return int(min(n, float64(w.Keys)))
}

// zipfShare returns the share of the hottest of n keys if the k-th has a load of 1/k^s.
func zipfShare(n int, s float64) float64 {
	const exactly = 10_000
	sum := 0.0
	for k := min(n, exactly); k > 0; k-- { // small ones first, for precision
		sum += math.Pow(float64(k), -s)
	}
	if n > exactly { // the rest as an integral
		from, to := exactly+0.5, float64(n)+0.5
		if s == 1 {
			sum += math.Log(to / from)
		} else {
			sum += (math.Pow(to, 1-s) - math.Pow(from, 1-s)) / (1 - s)
		}
	}
	return 1 / sum
}

// mostOfOne is from which part of a partition on a throttled key is said to take all of it: what is served varies.
const mostOfOne = 0.9

// below reports whether a key whose demand is guessed was seen below what a partition serves, and the share of it. Others on
// its partition, or its bursts, take the rest.
func (w *Workload) below(l Load) (part float64, ok bool) {
	part = max(w.seenWrites/float64(l.PartitionWrites), w.seenReads/float64(l.PartitionReads))
	return part, l.Guessed && part > 0 && part < mostOfOne
}

func (w *Workload) hotBecause(l Load) []string {
	var why []string
	part, below := w.below(l)
	switch {
	case below:
		why = append(why, fmt.Sprintf("it is throttled at %s of what one partition serves, by short bursts or by others on its partition, so it may want "+
			"more than was seen: the plan assumes 10 %% more than a partition's limit, %s units a second", percent(part), grouped(max(float64(l.WriteUnits), l.ReadUnits))))
	case l.Guessed:
		why = append(why, "the key takes all that one partition serves, so it may want more than was seen: the plan assumes "+
			"at least 10 % more than that limit")
	}
	if l.HotWrites && (!below || w.seenWrites == 0) {
		why = append(why, fmt.Sprintf("%s write units a second exceed the %s that one partition takes",
			grouped(l.WriteUnits), grouped(l.PartitionWrites)))
	}
	if l.HotReads && (!below || w.seenReads == 0) {
		why = append(why, fmt.Sprintf("%s read units a second exceed the %s that one partition takes",
			grouped(l.ReadUnits), grouped(l.PartitionReads)))
	}
	if l.ReadsThrottled && !l.HotReads {
		why = append(why, fmt.Sprintf("its reads are throttled at %s of the %s read units that one partition takes: it shares "+
			"a partition that is full", grouped(l.ReadUnits), grouped(l.PartitionReads)))
	}
	if l.Throttled && !l.HotWrites && !l.HotReads {
		why = append(why, "it is throttled below a partition's limit: by short bursts, or by others on its partition")
	}
	return why
}

func (w *Workload) fitsBecause(l Load) string {
	if w.mixed {
		return fmt.Sprintf("%s units a second, of reads and writes together, fit in one partition, which takes %s writes and %s reads",
			grouped(max(float64(l.WriteUnits), l.ReadUnits)), grouped(l.PartitionWrites), grouped(l.PartitionReads))
	}
	return fmt.Sprintf("%s write and %s read units a second fit in one partition, which takes %s and %s",
		grouped(l.WriteUnits), grouped(l.ReadUnits), grouped(l.PartitionWrites), grouped(l.PartitionReads))
}
