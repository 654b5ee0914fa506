package heat

import "fmt"

// Finding is a diagnosed problem.
type Finding struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Resource
	Direction Direction `json:"direction"`
	Key       string    `json:"key,omitempty"`     // the key that it is about
	Pattern   string    `json:"pattern,omitempty"` // or the pattern
	Message   string    `json:"message"`           // what is wrong, in a line
	Evidence  []string  `json:"evidence"`          // the figures that say so
	Cause     string    `json:"cause"`
	Remedy    string    `json:"remedy"` // what to do; "do not shard" is an answer
}

// String returns severity, place and message in a line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Severity, f.Resource, f.Message)
}

// Severity says how much a finding matters.
type Severity uint8

// The severities, mildest first.
const (
	Info     Severity = iota // worth knowing
	Warning                  // will hurt when traffic grows
	Critical                 // hurts now
)

var severityNames = [...]string{"info", "warning", "critical"}

// String returns the severity's name in lower case.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return fmt.Sprintf("Severity(%d)", uint8(s))
}

// MarshalText makes severities readable in JSON.
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

// Kind is what a finding is about.
type Kind string

// The kinds of findings.
const (
	HotKey           Kind = "hot-key"             // a key near or above what one partition serves
	DominantKey      Kind = "dominant-key"        // a key with far more than its fair share
	LowCardinality   Kind = "low-cardinality"     // few values of the key take everything
	TimeKey          Kind = "time-key"            // everything of now shares the key of now
	PopularItem      Kind = "popular-item"        // one item of many is read or written far more than the others
	GlobalCounter    Kind = "global-counter"      // one item takes all the updates
	SkewedTenant     Kind = "skewed-tenant"       // one of many tenants dominates
	HotIndex         Kind = "hot-index"           // an index of lower cardinality than its table, or hotter
	TableThrottled   Kind = "table-throttled"     // the table's own throughput is used up
	AccountThrottled Kind = "account-throttled"   // the account's is
	MaximumThrottled Kind = "maximum-throttled"   // the on-demand maximum is
	Throttled        Kind = "throttled"           // for a reason that the source does not tell
	SystemErrors     Kind = "system-errors"       // DynamoDB itself fails, with HTTP 500
	HotPartition     Kind = "hot-partition"       // throttled by key range while the table has room
	RetryStorm       Kind = "retry-amplification" // retries make up much of the traffic
	ExpiredItems     Kind = "expired-items"       // rows past their time to live are counted and paid for
	ReadHot          Kind = "read-hot"            // a key that wants a cache rather than shards
	Suspicious       Kind = "suspicious-key"      // looks like a test or an abuse
	SlowAtLowTraffic Kind = "slow-at-low-traffic"
	SplitLatency     Kind = "fast-and-slow" // some keys fast, some slow
	NoHelp           Kind = "capacity-no-help"
	StrayShard       Kind = "stray-shard"   // a shard that readers do not ask for has items or traffic: they miss it
	UnevenShards     Kind = "uneven-shards" // the fullest shard of a key takes far more than its fair share
)
