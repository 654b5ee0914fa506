package sketch

import (
	"math"
	"math/bits"
)

// Distinct estimates how many different hashes it was given: HyperLogLog (Flajolet et al. 2007) of 4,096 registers, with
// the bias of small counts removed by counting the empty registers. Its relative standard error is 1.04/√4096 = 1.6 %.
// The zero value is ready.
type Distinct struct {
	registers [1 << distinctBits]uint8
}

const distinctBits = 12

// DistinctError is the relative standard error of Distinct.
const DistinctError = 1.04 / (1 << (distinctBits / 2))

// Add takes note of a hash, which must be spread over all its bits.
func (d *Distinct) Add(hash uint64) {
	register := &d.registers[hash>>(64-distinctBits)]
	rank := uint8(bits.LeadingZeros64(hash<<distinctBits|1<<(distinctBits-1))) + 1
	*register = max(*register, rank)
}

// Count returns the estimate.
func (d *Distinct) Count() int64 {
	const m = 1 << distinctBits
	sum, empty := 0.0, 0
	for _, rank := range d.registers {
		sum += math.Ldexp(1, -int(rank))
		if rank == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(float64(m)/float64(empty))
	}
	return int64(math.Round(estimate))
}

// Few counts different hashes up to some hundred in eight bytes: a bit is set for each, and the empty bits tell how many
// there were (Whang et al. 1990). It is there to tell one from several. The zero value is ready.
type Few uint64

// Add takes note of a hash.
func (f *Few) Add(hash uint64) { *f |= 1 << (hash >> 58) }

// Count returns the estimate: exact for none and one, and 267 at most.
func (f Few) Count() int64 {
	full := bits.OnesCount64(uint64(f))
	if full < 2 {
		return int64(full)
	}
	return int64(math.Round(64 * math.Log(64/max(1, float64(64-full)))))
}
