package plan

// Prices are what DynamoDB charges, in dollars. They are data: they differ by region and change, so pass your own.
type Prices struct {
	Region string `json:"region"`
	Date   string `json:"date"` // of the price list, as 2006-01-02

	// On demand, for a million units.
	MillionWrites float64 `json:"millionWrites"`
	MillionReads  float64 `json:"millionReads"`

	// Provisioned, for a unit a second during an hour.
	WriteHour float64 `json:"writeHour"`
	ReadHour  float64 `json:"readHour"`

	// StorageMonth is for a GB during a month, beyond the first 25.
	StorageMonth float64 `json:"storageMonth"`

	// WarmWrite and WarmRead are charged once, for each unit a second that a table is warmed by. 0: not known, and left
	// out.
	WarmWrite float64 `json:"warmWrite,omitempty"`
	WarmRead  float64 `json:"warmRead,omitempty"`
}

const (
	// DocumentedWriteMonth is the round price that published examples calculate with: dollars for a provisioned write
	// unit during a month. AWS's list says 0.4745: see USEast1.
	DocumentedWriteMonth = 0.50

	hoursPerMonth   = 730
	secondsPerMonth = hoursPerMonth * 3600
)

// USEast1 returns the list prices of the Standard table class in us-east-1: those on demand and of a read unit's hour
// from the price list of that date, that of a write unit's hour from older ones, which agree on it. What warming costs
// is not among them.
func USEast1() Prices {
	return Prices{
		Region: "us-east-1", Date: "2026-08-31",
		MillionWrites: 0.625, MillionReads: 0.125,
		WriteHour: 0.00065, ReadHour: 0.00013,
		StorageMonth: 0.25,
	}
}

// WriteMonth returns what a provisioned write unit costs during a month of 730 hours.
func (p Prices) WriteMonth() float64 { return p.WriteHour * hoursPerMonth }

// ReadMonth returns what a provisioned read unit costs during a month of 730 hours.
func (p Prices) ReadMonth() float64 { return p.ReadHour * hoursPerMonth }

// writes returns what it costs a month to write so many units a second at the peak. On demand the average counts, which
// is a share of the peak; what is provisioned must be there for the peak.
func (p Prices) writes(mode string, unitsPerSecond, average float64) float64 {
	if mode == provisioned {
		return unitsPerSecond * p.WriteMonth()
	}
	return unitsPerSecond * average * secondsPerMonth / 1e6 * p.MillionWrites
}

// reads is writes for reads.
func (p Prices) reads(mode string, unitsPerSecond, average float64) float64 {
	if mode == provisioned {
		return unitsPerSecond * p.ReadMonth()
	}
	return unitsPerSecond * average * secondsPerMonth / 1e6 * p.MillionReads
}

// Waste is what is provisioned for a key and cannot be used by it.
type Waste struct {
	Provisioned int64   `json:"provisioned"` // write units a second
	Usable      int64   `json:"usable"`
	Wasted      int64   `json:"wasted"`
	Share       float64 `json:"share"`           // of what is provisioned
	Dollars     float64 `json:"dollarsPerMonth"` // of what is wasted
}

// wastedOf returns how much of what is provisioned is of no use if all writes go to one key with so many shards, and what
// that costs a month. Of 10,000 write units and a single key, 1,000 are usable; the other 9,000, at 0.50 dollars a
// month each, cost 4,500 dollars.
func wastedOf(provisionedWriteUnits int64, shards int, dollarsPerUnitMonth float64) Waste {
	w := Waste{Provisioned: max(provisionedWriteUnits, 0)}
	most, _ := upperBound(shards)
	w.Usable = min(w.Provisioned, most)
	w.Wasted = w.Provisioned - w.Usable
	if w.Provisioned > 0 {
		w.Share = float64(w.Wasted) / float64(w.Provisioned)
	}
	w.Dollars = float64(w.Wasted) * dollarsPerUnitMonth
	return w
}
