package heat

import (
	"fmt"
	"strings"
	"time"
)

// Report is what a source saw in a time range. It is plain data, which JSON stores and restores.
type Report struct {
	Source    Source           `json:"source"`
	From      time.Time        `json:"from"`
	To        time.Time        `json:"to"`
	Resources []ResourceReport `json:"resources"` // tables and indexes, by name

	// Decisions are the last ones of heatsink's control law about keys of adaptive collections, of the last hour and the
	// latest first. Decided is how many there were, by reason. Both are empty unless a program calls Recorder.Decided.
	Decisions []Decision      `json:"decisions,omitempty"`
	Decided   []DecisionCount `json:"decided,omitempty"`

	// Ended says that the source has stopped. Findings then use the busiest time of a key, not the most recent.
	Ended bool `json:"ended,omitempty"`

	// Limits are those of one partition, where the source knows that they are not DynamoDB's. Findings and plans judge by
	// them.
	Limits Limits `json:"limits,omitzero"`

	// Notes say what the source does not show, such as "a stream shows no reads".
	Notes []string `json:"notes,omitempty"`
}

// Elapsed returns the length of the time range, 0 for a report of stored items.
func (r Report) Elapsed() time.Duration { return r.To.Sub(r.From) }

// Source is the origin of a report.
type Source string

// The sources.
const (
	Live       Source = "live"       // calls of this process
	Engine     Source = "engine"     // calls of all clients of heatsink serve --physics
	Stream     Source = "stream"     // DynamoDB Streams: writes only
	Scan       Source = "scan"       // a sample of the stored items
	Export     Source = "export"     // an export in DynamoDB JSON
	CloudWatch Source = "cloudwatch" // metrics by the minute: no keys
	Insights   Source = "insights"   // Contributor Insights: keys by the minute
)

// ongoing reports whether a source continues to count. Findings then use the most recent traffic.
func (s Source) ongoing() bool { return s == Live || s == Engine }

// ResourceReport is a table or an index of a Report. Fields that the source cannot fill are zero or empty.
type ResourceReport struct {
	Resource

	// Key names the attributes of the partition key: one for a table, up to four for an index, none if unknown.
	Key []string `json:"key,omitempty"`

	// Sort names the attributes of the sort key. It is nil if they are unknown, and empty if there is none.
	Sort []string `json:"sort,omitzero"`

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
	Units     float64 `json:"units"`     // capacity units consumed, without those of Control
	Requests  int64   `json:"requests"`  // attempts, with retries; each item of a batch or a transaction counts as one
	Retries   int64   `json:"retries"`   // attempts that were retries
	Throttled int64   `json:"throttled"` // attempts that DynamoDB throttled
	Errors    int64   `json:"errors"`    // attempts that failed otherwise, without failed conditions

	// Peak is the most units of one second in the last five minutes.
	Peak float64 `json:"peak"`

	Throttles []ThrottleCount `json:"throttles,omitempty"` // by reason, most frequent first
	Latency   Latency         `json:"latency"`
	Durations Durations       `json:"durations,omitzero"` // the histogram of Latency
	Keys      []KeyHeat       `json:"keys,omitempty"`     // the hottest keys by units, hottest first
	Distinct  Distinct        `json:"distinct"`           // the number of keys
	Trend     []Point         `json:"trend,omitempty"`

	Sharded []Sharded `json:"sharded,omitempty"` // by the layouts that the source was told

	// Logical are sharded keys with their shards together, hottest first, 50 at most; also shards that Keys does not list.
	// See Folded.
	Logical []LogicalKey `json:"logical,omitempty"`

	Control Control `json:"control,omitzero"` // of control items, which are in no other figure
}

// shareWhole makes the shares of keys those of all units, where nothing was refused: of a source that has stopped, the last
// seconds are no more than a part.
func (f *Flow) shareWhole() {
	for i := range f.Keys {
		f.Keys[i].Share = share(f.Keys[i].Low, f.Units)
	}
	for i := range f.Logical {
		f.Logical[i].Share = share(f.Logical[i].Units, f.Units)
	}
}

// KeyHeat is a key with its traffic. Figures from a sketch have an error: the true value is between two bounds.
type KeyHeat struct {
	// Key is the key as text, with "|" between the attributes of a multi-attribute key, or its redacted text.
	Key string `json:"key"`

	// Units is the upper and Low the lower bound of the consumed units. In a report of live calls both count from when
	// the sketch took up the key.
	Units float64 `json:"units"`
	Low   float64 `json:"low"`

	// Rate is the upper bound of the recent demand in units a second: the consumed units, and for every call throttled
	// by key range what it would have cost. That is the size of an item written whole, else the mean of the key's served
	// requests; before there are any, one unit, or half a unit for a read. RateLow is the lower bound. Findings use it, so
	// that no error of the sketch makes a key hot.
	Rate    float64 `json:"rate"`
	RateLow float64 `json:"rateLow"`

	// Busy is the highest demand of the last minute or so, in units a second: a rush that has just ended still counts.
	Busy float64 `json:"busy,omitempty"`

	Consumed float64 `json:"consumed"` // recent consumption in units a second
	Busiest  float64 `json:"busiest"`  // the highest value of Consumed so far
	Second   float64 `json:"second"`   // units consumed in the last full second
	Refused  float64 `json:"refused"`  // recent throttled attempts a second
	// Lately is Refused of the last two seconds or so: it tells whether the throttles have ended.
	Lately float64 `json:"lately,omitempty"`

	// Estimated says that some throttled requests count as the mean of the served ones.
	Estimated bool `json:"estimated,omitempty"`

	Share float64 `json:"share"` // lower bound of its share of the recent demand for all keys, 0 to 1; if Report.Ended, of all units

	Requests  int64 `json:"requests"`
	Throttled int64 `json:"throttled"`
	// Reason is the main reason of its throttles in DynamoDB's words, such as TableWriteKeyRangeThroughputExceeded.
	Reason string `json:"reason,omitempty"`

	// Moving is how many of Throttled are updates that may move an entry of an index here from another key. The partition
	// that refused them may be that of the other key.
	Moving int64 `json:"moving,omitempty"`

	// Items is the approximate number of different items (sort keys), 0 if unknown. 1 is a single hot item, such as a
	// counter.
	Items int64 `json:"items,omitempty"`

	// Partition names the partition that holds the key, where the source knows it: heatsink serve --physics does.
	Partition string `json:"partition,omitempty"`

	// Shape is the shape of the key, one of ResourceReport.Patterns, "" if the source has not learnt it.
	Shape string `json:"shape,omitempty"`
}

// Sustained returns the certain demand for a key over some seconds, in units a second: of the last minute or, if the source
// has stopped, at its busiest.
func (r *Report) Sustained(k *KeyHeat) float64 {
	if r.Ended {
		return max(k.RateLow, k.Busy, k.Busiest)
	}
	return max(k.RateLow, k.Busy)
}

// ThrottleCount is the number of throttles with one reason.
type ThrottleCount struct {
	Reason string `json:"reason"` // "" if it gave none
	Count  int64  `json:"count"`
}

// Latency is the duration of calls as the caller saw it, with retries and their waits.
type Latency struct {
	P50  time.Duration `json:"p50"`
	P99  time.Duration `json:"p99"`
	P999 time.Duration `json:"p999"`
	Max  time.Duration `json:"max"`
}

// Distinct is an estimate of the number of different keys, exact while they are few.
type Distinct struct {
	Keys  int64   `json:"keys"`
	Error float64 `json:"error,omitempty"` // relative standard error, 0 if Keys is exact
}

// Point is a time range in the Trend of a flow: a second in the last minutes, longer before.
type Point struct {
	From      time.Time     `json:"from"`
	For       time.Duration `json:"for"`
	Units     float64       `json:"units"`
	Throttled int64         `json:"throttled"`
}

// Stored is the stored items of a table, or of a sample of it.
type Stored struct {
	Items    int64       `json:"items"`    // items examined, without those of Control
	Bytes    int64       `json:"bytes"`    // their size
	Expired  int64       `json:"expired"`  // of these, past their time to live but not yet deleted
	Fraction float64     `json:"fraction"` // examined part of the table, 1 if all
	Keys     []KeyItems  `json:"keys,omitempty"`
	Distinct Distinct    `json:"distinct"`
	Growth   []KeyGrowth `json:"growth,omitempty"`
	Sharded  []Sharded   `json:"sharded,omitempty"` // by the layouts that the source was told

	Control StoredControl `json:"control,omitzero"` // control items, which are in no other figure
}

// KeyItems is the number of items of a key, between Low and Items.
type KeyItems struct {
	Key   string  `json:"key"`
	Items int64   `json:"items"`
	Low   int64   `json:"low"`
	Share float64 `json:"share"`
	Bytes int64   `json:"bytes,omitempty"`
	Shape string  `json:"shape,omitempty"` // as in KeyHeat
}

// KeyGrowth is the number of a pattern's items on a day, where sort keys or keys contain a time.
type KeyGrowth struct {
	Pattern string `json:"pattern"`
	Day     string `json:"day"` // 2026-06-22, UTC
	Items   int64  `json:"items"`
}

// Capacity is the configured capacity of a table or an index, as of its last DescribeTable. A Recorder looks up a table at
// its first call, and reads responses to later DescribeTable and UpdateTable calls of its clients. It does not see changes
// by auto scaling or by other clients.
type Capacity struct {
	OnDemand   bool  `json:"onDemand"`
	ReadUnits  int64 `json:"readUnits,omitempty"`  // provisioned, or the on-demand maximum if there is one
	WriteUnits int64 `json:"writeUnits,omitempty"` // likewise
	WarmReads  int64 `json:"warmReads,omitempty"`  // warm throughput
	WarmWrites int64 `json:"warmWrites,omitempty"`
	Partitions int   `json:"partitions,omitempty"` // where the source knows them: heatsink serve --physics does
	Items      int64 `json:"items,omitempty"`      // approximate, some hours old
	Bytes      int64 `json:"bytes,omitempty"`
}

// Pattern is all keys of one shape. Shapes are learnt from the keys: a part that differs from key to key is {id}, {n}, {day}
// or the like, and {value} if it is one of a few values, such as a status.
type Pattern struct {
	Shape    string   `json:"shape"` // such as THREAT#{id}#{month}
	Example  string   `json:"example"`
	Distinct Distinct `json:"distinct"` // keys of this shape
	Reads    float64  `json:"reads,omitempty"`
	Writes   float64  `json:"writes,omitempty"` // units
	Items    int64    `json:"items,omitempty"`  // stored
	Sharded  bool     `json:"sharded,omitempty"`

	// Values are the keys of a shape that ends in {value}, if nothing else varies in it; those of most units or items
	// first.
	Values []PatternValue `json:"values,omitempty"`
}

// PatternValue is one value of a small set, and the key that has it.
type PatternValue struct {
	Value  string  `json:"value"` // such as ACTIVE
	Key    string  `json:"key"`   // such as STATUS#ACTIVE
	Reads  float64 `json:"reads,omitempty"`
	Writes float64 `json:"writes,omitempty"` // units
	Items  int64   `json:"items,omitempty"`  // stored
}

// UnknownTextError is an unknown word for a severity or a direction in a report.
type UnknownTextError struct{ Type, Text string }

func (e *UnknownTextError) Error() string {
	known := severityNames[:]
	if e.Type == "direction" {
		known = []string{Read.String(), Write.String()}
	}
	return fmt.Sprintf("unknown %s %q: it must be one of %s", e.Type, e.Text, strings.Join(known, ", "))
}
