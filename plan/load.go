package plan

import (
	"fmt"
	"math"
)

// Load is what a workload makes of a key, in units a second at the peak.
type Load struct {
	WriteUnits int64   `json:"writeUnits"`
	ReadUnits  float64 `json:"readUnits"` // if the key has no shards

	HotWrites bool `json:"hotWrites"` // more than a partition takes
	HotReads  bool `json:"hotReads"`
	Throttled bool `json:"throttled"` // more than ten times in five minutes

	// Guessed says that units are more than was observed: the key was held at the limit, so what it wants is not known.
	Guessed bool `json:"guessed,omitempty"`

	// HottestShare is the part of the table's load that the key has, 0 if unknown. OtherWriteUnits are those of all
	// other keys, and KeysAbove is how many keys, this one included, are above what a partition takes, as far as it is
	// known.
	HottestShare    float64 `json:"hottestShare,omitempty"`
	OtherWriteUnits float64 `json:"otherWriteUnits,omitempty"`
	KeysAbove       int     `json:"keysAbove"`
}

func (w *Workload) load() Load {
	l := Load{
		WriteUnits: unitsPerSecond(w.Writes * float64(writeUnitsOf(w.ItemBytes))),
		ReadUnits:  w.Reads * w.readWith(Leave, 1, 1, NoBucket).units(),
		Throttled:  w.Throttles > enoughThrottles && !w.bystander,
		Guessed:    w.guessed,
	}
	l.HotWrites = l.WriteUnits > PartitionWrites
	l.HotReads = l.ReadUnits > PartitionReads
	l.HottestShare = w.Share
	switch {
	case w.Keys == 1:
		l.HottestShare = 1
	case w.Zipf > 0:
		l.HottestShare = zipfShare(w.Keys, w.Zipf)
	}
	if l.HottestShare > 0 {
		l.OtherWriteUnits = float64(l.WriteUnits) * (1/l.HottestShare - 1)
	}
	l.KeysAbove = w.keysAbove(&l)
	return l
}

// keysAbove counts the keys that are written more than a partition takes: of a Zipf distribution, the first
// (hottest / limit)^(1/s).
func (w *Workload) keysAbove(l *Load) int {
	if !l.HotWrites {
		return 0
	}
	if w.Zipf <= 0 {
		return 1
	}
	n := math.Pow(float64(l.WriteUnits)/PartitionWrites, 1/w.Zipf)
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

func hotBecause(l Load) []string {
	var why []string
	if l.Guessed {
		why = append(why, "the key was held at what one partition gives: what was served is not all that was wanted, "+
			"and a little more is planned for")
	}
	if l.HotWrites {
		why = append(why, fmt.Sprintf("%s write units a second are more than the %s of one "+
			"partition", grouped(l.WriteUnits), grouped(PartitionWrites)))
	}
	if l.HotReads {
		why = append(why, fmt.Sprintf("%s read units a second are more than the %s of one "+
			"partition", grouped(l.ReadUnits), grouped(PartitionReads)))
	}
	if l.Throttled && !l.HotWrites && !l.HotReads {
		why = append(why, "it is throttled although its rates are below what a partition takes: the load comes in "+
			"bursts shorter than it is measured, or the key shares its partition")
	}
	return why
}

func fitsBecause(l Load) string {
	return fmt.Sprintf("%s write and %s read units a second are within the %s and %s of one partition",
		grouped(l.WriteUnits), grouped(l.ReadUnits), grouped(PartitionWrites), grouped(PartitionReads))
}
