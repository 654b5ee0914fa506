package plan

// Prices are DynamoDB's prices in dollars. They differ by region and change, so pass your own.
type Prices struct {
	Region string `json:"region"`
	Date   string `json:"date"` // of the price list, as 2006-01-02

	// On demand, for a million request units.
	MillionWrites float64 `json:"millionWrites"`
	MillionReads  float64 `json:"millionReads"`

	// Provisioned, for one unit a second during an hour.
	WriteHour float64 `json:"writeHour"`
	ReadHour  float64 `json:"readHour"`

	// StorageMonth is the price of one GB for a month, beyond the first 25.
	StorageMonth float64 `json:"storageMonth"`

	// WarmWrite and WarmRead are charged once for each added unit a second of warm throughput. 0: unknown, and not
	// counted.
	WarmWrite float64 `json:"warmWrite,omitempty"`
	WarmRead  float64 `json:"warmRead,omitempty"`
}

const (
	// DocumentedWriteMonth is the round price of a provisioned write unit for a month in published examples, in
	// dollars. The list price is 0.4745: see USEast1.
	DocumentedWriteMonth = 0.50

	hoursPerMonth   = 730
	secondsPerMonth = hoursPerMonth * 3600
)

// USEast1 returns the list prices of the Standard table class in us-east-1. WriteHour is from older price lists, which
// agree; the others are from the list of Date. The price of warming is not among them.
func USEast1() Prices {
	return Prices{
		Region: "us-east-1", Date: "2026-08-31",
		MillionWrites: 0.625, MillionReads: 0.125,
		WriteHour: 0.00065, ReadHour: 0.00013,
		StorageMonth: 0.25,
	}
}

// WriteMonth returns the price of a provisioned write unit for a month of 730 hours.
func (p Prices) WriteMonth() float64 { return p.WriteHour * hoursPerMonth }

// ReadMonth returns the price of a provisioned read unit for a month of 730 hours.
func (p Prices) ReadMonth() float64 { return p.ReadHour * hoursPerMonth }

// writes returns the monthly cost of writing so many units a second at the peak. On demand the average counts, a share of
// the peak; provisioned capacity must cover the peak.
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

// Waste is the provisioned capacity that a key cannot use.
type Waste struct {
	Provisioned int64   `json:"provisioned"` // write units a second
	Usable      int64   `json:"usable"`
	Wasted      int64   `json:"wasted"`
	Share       float64 `json:"share"`           // of the provisioned capacity
	Dollars     float64 `json:"dollarsPerMonth"` // of the wasted capacity
}

// wastedOf returns the provisioned capacity that writers cannot use if all write to one key with so many shards. Of 10,000
// write units, a key without shards uses 1,000; the other 9,000, at 0.50 dollars a month each, cost 4,500 dollars.
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
