package heat

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Options configure a Recorder. The zero value is ready to use.
type Options struct {
	// Keys names the attributes of partition keys: "orders": {"customer"}, "orders/byStatus": {"status"} for an index.
	// The recorder looks up other tables with one DescribeTable at their first call, unless NoDescribe is set. It repeats
	// that, at most once a minute, after a call fails as if the table had changed, or while the table is being updated.
	// The Capacity in reports is as of the last lookup. Names given here take precedence over descriptions.
	Keys map[string][]string

	// NoDescribe keeps the recorder from looking up tables. In calls for unknown tables it then finds the partition key
	// only where the call itself shows it: in a Query, and in a key of one attribute.
	NoDescribe bool

	// Entries is the number of keys kept for each direction of a table or index. A key with more than 1/Entries of the
	// units is always among them. Default: 1,024, less than half a megabyte.
	Entries int

	// Decay is the age at which units count about a third as much in rates. Default: 10 seconds.
	Decay time.Duration

	// Top is the number of keys that a flow of a report lists. Default: 50.
	Top int

	// Redact appends to dst the text that reports show in place of a key; see Hashed. Default: the key itself. Several
	// goroutines call it. Two keys with the same text are still counted apart.
	Redact func(dst, key []byte) []byte

	// Layouts are the spellings and numbers of shards that readers use. With them the recorder checks every key: a report
	// counts what readers miss, and how evenly keys are spread, and Explain finds what is wrong. Default: none; of the
	// keys that a report lists, those that end in #SHARD_n or #SHARD#n then count as shards.
	Layouts []Layout

	// Limits are those of one partition, for an engine whose partitions are not as large as DynamoDB's. Findings and plans
	// judge by them. Default: DynamoDB's.
	Limits Limits

	peaks bool // keeps keys that were busy once
}

// Validate returns an error with all faults of the options, as NewRecorder does.
func (o Options) Validate() error { return o.validate() }

func (o Options) validate() error {
	var faults []error
	if o.Entries < 0 || o.Entries > 1<<20 {
		faults = append(faults, notBetween("Entries", o.Entries, 0, 1<<20))
	}
	if o.Decay < 0 {
		faults = append(faults, isNegative("Decay", o.Decay))
	}
	if o.Top < 0 {
		faults = append(faults, isNegative("Top", o.Top))
	}
	for _, resource := range slices.Sorted(maps.Keys(o.Keys)) {
		faults = append(faults, validateKey(resource, o.Keys[resource]))
	}
	faults = append(faults, validateLayouts(o.Layouts), o.Limits.validate())
	return errors.Join(faults...)
}

// validateKey returns what is wrong with the names of the partition key of a table or index.
func validateKey(resource string, names []string) error {
	var faults []error
	if len(names) == 0 || len(names) > 4 {
		faults = append(faults, fmt.Errorf("the key of %q in Keys has %d attributes: a partition key has one to four", resource, len(names)))
	} else if len(names) > 1 && !strings.Contains(resource, "/") {
		faults = append(faults, fmt.Errorf("table %q has one partition key attribute, but Keys has %d: %q; leave the sort key out", resource, len(names), names))
	}
	for i, name := range names {
		switch {
		case name == "":
			faults = append(faults, fmt.Errorf("the key of %q in Keys has an empty attribute name", resource))
		case slices.Contains(names[:i], name):
			faults = append(faults, fmt.Errorf("the key of %q in Keys names attribute %q twice", resource, name))
		}
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	o.Entries = cmp.Or(o.Entries, 1024)
	o.Decay = cmp.Or(o.Decay, 10*time.Second)
	o.Top = cmp.Or(o.Top, 50)
	o.Layouts = slices.Clone(o.Layouts)
	return o
}
