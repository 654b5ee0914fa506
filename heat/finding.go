package heat

import (
	"fmt"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// Finding is a diagnosed problem.
type Finding struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Resource
	Direction Direction `json:"direction"`
	Key       string    `json:"key,omitempty"`     // of the key, if it is about one
	Others    []string  `json:"others,omitempty"`  // further keys that it is about, such as those of the same full partition
	Pattern   string    `json:"pattern,omitempty"` // or of the pattern
	Message   string    `json:"message"`           // the problem, in a line
	Evidence  []string  `json:"evidence"`          // the figures that show it
	Cause     string    `json:"cause"`
	Remedy    string    `json:"remedy"` // what to do; it may be "do not shard"
}

// String returns severity, resource and message in a line. It quotes what a terminal would obey: keys may hold anything.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Severity, quote.Printable(f.Resource.String()), quote.Printable(f.Message))
}

// Severity is the importance of a finding.
type Severity uint8

// The severities, mildest first.
const (
	Info     Severity = iota // worth knowing
	Warning                  // will cause throttling as traffic grows
	Critical                 // causes throttling, or items that readers miss
)

var severityNames = [...]string{"info", "warning", "critical"}

// String returns the severity's name in lower case.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return fmt.Sprintf("Severity(%d)", uint8(s))
}

// MarshalText writes the severity as a word, in JSON for example.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	for i, name := range severityNames {
		if string(text) == name {
			*s = Severity(i)
			return nil
		}
	}
	return &UnknownTextError{Type: "severity", Text: string(text)}
}

// Kind is the kind of a finding.
type Kind string

// The kinds of findings.
const (
	HotKey           Kind = "hot-key"             // a key near or above what one partition serves
	DominantKey      Kind = "dominant-key"        // a key with far more than its fair share
	LowCardinality   Kind = "low-cardinality"     // few key values take all traffic
	TimeKey          Kind = "time-key"            // all current writes share one key
	PopularItem      Kind = "popular-item"        // one item of many is read or written far more than the others
	GlobalCounter    Kind = "global-counter"      // one item takes all the updates
	SkewedTenant     Kind = "skewed-tenant"       // one of many tenants dominates
	HotIndex         Kind = "hot-index"           // an index that is throttled, or has far fewer keys than its table
	TableThrottled   Kind = "table-throttled"     // the table's provisioned capacity is exhausted
	AccountThrottled Kind = "account-throttled"   // the account's quota is exhausted
	MaximumThrottled Kind = "maximum-throttled"   // the on-demand maximum is exhausted
	Throttled        Kind = "throttled"           // for a reason that the source does not report
	SystemErrors     Kind = "system-errors"       // DynamoDB fails internally, with HTTP 500
	HotPartition     Kind = "hot-partition"       // throttled by key range, whatever the table's capacity
	RetryStorm       Kind = "retry-amplification" // retries make up much of the traffic
	ExpiredItems     Kind = "expired-items"       // items past their time to live are still counted and charged
	ReadHot          Kind = "read-hot"            // a key that needs a cache, not shards
	Suspicious       Kind = "suspicious-key"      // looks like a test or abuse
	SlowAtLowTraffic Kind = "slow-at-low-traffic"
	SplitLatency     Kind = "fast-and-slow" // some calls are fast, some slow
	NoHelp           Kind = "capacity-no-help"
	StrayShard       Kind = "stray-shard"   // a shard that readers miss has items or traffic
	UnevenShards     Kind = "uneven-shards" // the fullest shard of a key has far more than its fair share
	KeyGrew          Kind = "key-grew"      // a key of an adaptive collection has got more shards
	GrowthFutile     Kind = "growth-futile" // a key is throttled, and more shards would not help
	GrowthAtMaximum  Kind = "growth-at-maximum"
	GrowthFrozen     Kind = "growth-frozen"
)
