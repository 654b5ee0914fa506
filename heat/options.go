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
	// Tables that are not named are looked up with one DescribeTable at their first call, unless NoDescribe is set, and
	// again, once a minute at most, when a call fails as if the table was another one by now or the table was being
	// updated. The Capacity in reports is as of then. What is named here stays, whatever descriptions say.
	Keys map[string][]string

	// NoDescribe keeps the recorder from looking tables up. Calls of unknown tables are then attributed as far as they
	// tell their partition key themselves: a Query does, and a key of one attribute.
	NoDescribe bool

	// Entries is how many keys are kept for each direction of a table or index: a key is surely among them if it has
	// more than 1/Entries of the units. Default: 1,024, less than half a megabyte.
	Entries int

	// Decay is how long ago units count a third as much in rates. Default: 10 seconds.
	Decay time.Duration

	// Top is how many keys a flow of a report lists. Default: 50.
	Top int

	// Redact appends what is kept of a key to dst, in place of the key itself; see Hashed. Default: the key. It is called
	// from several goroutines. Two keys that become the same text are still counted apart.
	Redact func(dst, key []byte) []byte

	// Layouts tell how shards are spelt, and how many readers ask for. Then every key is looked at: a report counts what
	// is in shards beyond these, and how evenly keys are spread, and Explain says what is wrong with it. Default: none;
	// then keys that end in #SHARD_n or #SHARD#n are taken for shards as far as the report lists them.
	Layouts []Layout

	peaks bool // keys that were once busy are remembered
}

// Validate returns what is wrong with the options, all of it, as NewRecorder does.
func (o Options) Validate() error { return o.validate() }

func (o Options) validate() error {
	var faults []error
	if o.Entries < 0 || o.Entries > 1<<20 {
		faults = append(faults, fmt.Errorf("there may be up to %d Entries, not %d", 1<<20, o.Entries))
	}
	if o.Decay < 0 {
		faults = append(faults, fmt.Errorf("negative Decay %v", o.Decay))
	}
	if o.Top < 0 {
		faults = append(faults, fmt.Errorf("negative Top %d", o.Top))
	}
	for _, resource := range slices.Sorted(maps.Keys(o.Keys)) {
		faults = append(faults, validateKey(resource, o.Keys[resource]))
	}
	faults = append(faults, validateLayouts(o.Layouts))
	return errors.Join(faults...)
}

// validateKey returns what is wrong with the names of the partition key of a table or index.
func validateKey(resource string, names []string) error {
	var faults []error
	if len(names) == 0 || len(names) > 4 {
		faults = append(faults, fmt.Errorf("a partition key has one to four attributes, Keys has %d for %q", len(names), resource))
	} else if len(names) > 1 && !strings.Contains(resource, "/") {
		faults = append(faults, fmt.Errorf("table %q has one partition key, Keys has %d attributes %q: leave the sort key out", resource, len(names), names))
	}
	for i, name := range names {
		switch {
		case name == "":
			faults = append(faults, fmt.Errorf("the key of %q in Keys has an attribute without a name", resource))
		case slices.Contains(names[:i], name):
			faults = append(faults, fmt.Errorf("the key of %q in Keys has the attribute %q twice", resource, name))
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
