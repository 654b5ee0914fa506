package sketch

import (
	"math"
	"math/bits"
)

// Distinct estimates how many different hashes it was given: HyperLogLog (Flajolet et al. 2007), with the bias of small
// counts removed by counting the empty registers.
type Distinct struct {
	bits      int
	registers []uint8
}

// NewDistinct returns a counter of 2^bits bytes, 4 to 16 bits.
func NewDistinct(bits int) Distinct {
	bits = min(max(bits, 4), 16)
	return Distinct{bits, make([]uint8, 1<<bits)}
}

// Error returns the relative standard error of Count.
func (d *Distinct) Error() float64 { return 1.04 / math.Sqrt(float64(len(d.registers))) }

// Add takes note of a hash, which must be spread over all its bits.
func (d *Distinct) Add(hash uint64) {
	register := &d.registers[hash>>(64-d.bits)]
	rank := uint8(bits.LeadingZeros64(hash<<d.bits|1<<(d.bits-1))) + 1
	*register = max(*register, rank)
}

// Count returns the estimate.
func (d *Distinct) Count() int64 {
	m := float64(len(d.registers))
	sum, empty := 0.0, 0
	for _, rank := range d.registers {
		sum += math.Ldexp(1, -int(rank))
		if rank == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(m/float64(empty))
	}
	return int64(math.Round(estimate))
}

// Merge takes note of all hashes that another counter of the same size was given.
func (d *Distinct) Merge(other *Distinct) {
	for i, rank := range other.registers {
		d.registers[i] = max(d.registers[i], rank)
	}
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
