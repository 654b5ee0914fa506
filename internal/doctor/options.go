package doctor

import (
	"cmp"
	"net"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// Options say what is examined, and how much of it.
type Options struct {
	Client *dynamodb.Client

	// Table is the name of the table. Empty: the account alone is examined.
	Table string

	// Profile is the one that Client was made with, if it is not that of the environment. Remedies name it.
	Profile string

	// Name is the collection's name in its control items. Empty: "table" and the name of each global index are tried.
	Name string

	// ControlTable is the table of the control items, if it is not Table.
	ControlTable string

	// Layouts are those that readers use, by index, "" for the table itself. They count where no charter is stored.
	Layouts map[string]Told

	// Items is the most items to look at. Default: 10,000. Negative: all. NoSample: none.
	Items    int64
	NoSample bool

	// MaxRCU is the most read units a second that the sample consumes. Default: 100, or 10,000 if the server is on this machine, where
	// units cost nothing.
	MaxRCU float64

	// Seed draws the sample. Default: 1.
	Seed uint64

	// TryWrites also sends writes whose condition is never true. Each consumes a write unit, and changes nothing.
	TryWrites bool

	// Redact replaces keys before they are shown. Nil: they are shown.
	Redact func(dst, key []byte) []byte

	// Announce is called before the sample is read, with about what it will cost, unless MaxRCU is left out and units cost nothing.
	// It may be nil.
	Announce func(cost heat.ScanCost, maxRCU float64)

	// Progress is called while the sample is read. It may be nil.
	Progress func(items, of int64)
}

// Told is a layout that somebody says readers use.
type Told struct {
	Layout    layout.Layout
	Unsharded bool // the bare key is read as well
}

func (o Options) withDefaults() Options {
	o.Items = cmp.Or(o.Items, 10_000)
	o.Seed = cmp.Or(o.Seed, 1)
	if o.MaxRCU == 0 && onThisMachine(aws.ToString(o.Client.Options().BaseEndpoint)) {
		o.MaxRCU, o.Announce = 10_000, nil
	}
	o.MaxRCU = cmp.Or(o.MaxRCU, 100)
	return o
}

// onThisMachine reports whether an endpoint is on loopback.
func onThisMachine(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
