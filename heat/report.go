package heat

import (
	"fmt"
	"time"
)

// Report is what a source saw in a stretch of time. It is plain data: it can be written as JSON, kept, and read again.
type Report struct {
	Source    Source           `json:"source"`
	From      time.Time        `json:"from"`
	To        time.Time        `json:"to"`
	Resources []ResourceReport `json:"resources"` // tables and indexes, by name

	// Ended says that the source has stopped: what counts then is when a key was busiest, not what it took of late.
	Ended bool `json:"ended,omitempty"`

	// Notes say what the source could not see, such as "a stream shows no reads".
	Notes []string `json:"notes,omitempty"`
}

// Elapsed returns how long the source looked; 0 if it looked at what is stored.
func (r Report) Elapsed() time.Duration { return r.To.Sub(r.From) }

// Source says where a report comes from.
type Source string

// The sources.
const (
	Live       Source = "live"       // calls of this process
	Engine     Source = "engine"     // calls of all clients of a heatsink serve --physics
	Stream     Source = "stream"     // DynamoDB Streams: writes only
	Scan       Source = "scan"       // a sample of what is stored
	Export     Source = "export"     // an export in DynamoDB JSON
	CloudWatch Source = "cloudwatch" // metrics by the minute: no keys
	Insights   Source = "insights"   // Contributor Insights: keys by the minute
)

// ongoing reports whether a source goes on counting: then what counts is what happened of late.
func (s Source) ongoing() bool { return s == Live || s == Engine }

// ResourceReport is a table or an index of a Report. What the source cannot see is zero or empty.
type ResourceReport struct {
	Resource

	// Key names the attributes of the partition key, one or, in an index, up to four. It is empty if nobody told.
	Key []string `json:"key,omitempty"`

	Reads    Flow      `json:"reads"`
	Writes   Flow      `json:"writes"`
	Stored   *Stored   `json:"stored,omitempty"`
	Capacity *Capacity `json:"capacity,omitempty"`
	Patterns []Pattern `json:"patterns,omitempty"` // of the keys, most units or items first
}

// Flow returns the flow of a direction.
func (r *ResourceReport) Flow(d Direction) *Flow {
	if d == Read {
		return &r.Reads
	}
	return &r.Writes
}

// Flow is the traffic of a table or an index in one direction.
type Flow struct {
	Units     float64 `json:"units"`     // capacity units consumed
	Requests  int64   `json:"requests"`  // attempts, retries included; an item of a batch or a transaction counts as one
	Retries   int64   `json:"retries"`   // of these, those that repeated one
	Throttled int64   `json:"throttled"` // of these, those refused as too fast
	Errors    int64   `json:"errors"`    // of these, those that failed otherwise, condition failures not among them

	// Peak is the most units of one second, within the time that seconds are kept for.
	Peak float64 `json:"peak"`

	Throttles []ThrottleCount `json:"throttles,omitempty"` // by reason, most frequent first
	Latency   Latency         `json:"latency"`
	Keys      []KeyHeat       `json:"keys,omitempty"` // the hottest keys by units, hottest first
	Distinct  Distinct        `json:"distinct"`       // how many keys there were
	Trend     []Point         `json:"trend,omitempty"`

	Sharded []Sharded `json:"sharded,omitempty"` // by the layouts that the source was told of
}

// KeyHeat is a key and what it took. What comes from a sketch has an error: the truth is between two bounds.
type KeyHeat struct {
	// Key is the key as text, the attributes of a multi-attribute key joined by "|", or what Redact made of it.
	Key string `json:"key"`

	// Units were consumed, Low at least. Of live calls both are what was counted since the sketch took the key up.
	Units float64 `json:"units"`
	Low   float64 `json:"low"`

	// Rate is the units a second that were wanted of late, at most: those consumed, and for every call that was refused
	// because of its key the least it can have cost: the units of an item that it writes whole, else one (of reads, a
	// half). RateLow is its lower bound, and what decisions use: no key is called hot because of an error.
	Rate    float64 `json:"rate"`
	RateLow float64 `json:"rateLow"`

	Consumed float64 `json:"consumed"` // units a second consumed of late
	Busiest  float64 `json:"busiest"`  // the most that Consumed has been
	Second   float64 `json:"second"`   // units consumed in the last whole second
	Refused  float64 `json:"refused"`  // attempts refused a second of late
	Share    float64 `json:"share"`    // of what was wanted of all keys, 0 to 1, at least

	Requests  int64 `json:"requests"`
	Throttled int64 `json:"throttled"`
	// Reason is why most of them were throttled, as DynamoDB says it: TableWriteKeyRangeThroughputExceeded.
	Reason string `json:"reason,omitempty"`

	// Items is about how many different items (sort keys) were touched, 0 if unknown: 1 is a single hot item, such as a
	// counter.
	Items int64 `json:"items,omitempty"`
}

// Sustained returns the units a second that a key of the report surely wanted for some seconds: of late or, if the source
// has stopped, when it was busiest.
func (r *Report) Sustained(k *KeyHeat) float64 {
	if r.Ended {
		return max(k.RateLow, k.Busiest)
	}
	return k.RateLow
}

// ThrottleCount is how often DynamoDB gave a reason for refusing a request.
type ThrottleCount struct {
	Reason string `json:"reason"` // "" if it gave none
	Count  int64  `json:"count"`
}

// Latency is how long calls took as the caller saw it, retries and their waits included.
type Latency struct {
	P50  time.Duration `json:"p50"`
	P99  time.Duration `json:"p99"`
	P999 time.Duration `json:"p999"`
	Max  time.Duration `json:"max"`
}

// Distinct is an estimate of how many different keys there were: exact while they are few.
type Distinct struct {
	Keys  int64   `json:"keys"`
	Error float64 `json:"error,omitempty"` // relative standard error, 0 if Keys is exact
}

// Point is a stretch of the past in the Trend of a flow: seconds for the last minutes, longer ones before.
type Point struct {
	From      time.Time     `json:"from"`
	For       time.Duration `json:"for"`
	Units     float64       `json:"units"`
	Throttled int64         `json:"throttled"`
}

// Stored is what a table holds, or the sample of it that was read.
type Stored struct {
	Items    int64       `json:"items"`    // items looked at
	Bytes    int64       `json:"bytes"`    // their size
	Expired  int64       `json:"expired"`  // of these, past their time to live but not yet deleted
	Fraction float64     `json:"fraction"` // of the table that was looked at, 1 if all
	Keys     []KeyItems  `json:"keys,omitempty"`
	Distinct Distinct    `json:"distinct"`
	Growth   []KeyGrowth `json:"growth,omitempty"`
	Sharded  []Sharded   `json:"sharded,omitempty"` // by the layouts that the source was told of
}

// KeyItems is how many items a key holds, as KeyHeat: between Low and Items.
type KeyItems struct {
	Key   string  `json:"key"`
	Items int64   `json:"items"`
	Low   int64   `json:"low"`
	Share float64 `json:"share"`
	Bytes int64   `json:"bytes,omitempty"`
}

// KeyGrowth is how many items of a pattern fall on a day, where items or keys tell their time.
type KeyGrowth struct {
	Pattern string `json:"pattern"`
	Day     string `json:"day"` // 2026-06-22, UTC
	Items   int64  `json:"items"`
}

// Capacity is what a table or an index is set up for, as far as DescribeTable tells: as of when the table was last looked
// up. A Recorder looks a table up at its first call, and takes what later answers to DescribeTable and UpdateTable say, if
// they are made with one of its clients; what auto scaling or somebody else changes it does not see.
type Capacity struct {
	OnDemand   bool  `json:"onDemand"`
	ReadUnits  int64 `json:"readUnits,omitempty"`  // provisioned, or the maximum of an on-demand table if it has one
	WriteUnits int64 `json:"writeUnits,omitempty"` // likewise
	WarmReads  int64 `json:"warmReads,omitempty"`  // what it can serve at once
	WarmWrites int64 `json:"warmWrites,omitempty"`
	Items      int64 `json:"items,omitempty"` // about, some hours old
	Bytes      int64 `json:"bytes,omitempty"`
}

// Pattern is keys of the same shape.
type Pattern struct {
	Shape    string   `json:"shape"` // such as THREAT#{id}#{month}
	Example  string   `json:"example"`
	Distinct Distinct `json:"distinct"` // keys that have this shape
	Reads    float64  `json:"reads,omitempty"`
	Writes   float64  `json:"writes,omitempty"` // units
	Items    int64    `json:"items,omitempty"`  // stored
	Sharded  bool     `json:"sharded,omitempty"`
}

// UnknownTextError is a text that stands for nothing known, in a report that was read from a file.
type UnknownTextError struct{ Type, Text string }

func (e *UnknownTextError) Error() string { return fmt.Sprintf("unknown %s %q", e.Type, e.Text) }
