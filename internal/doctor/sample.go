package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// sample looks at the items that a scan of package heat reads. It answers what the scan asks about the table by what is known
// already, so that it needs no other permission than dynamodb:Scan.
type sample struct {
	visit  *visit
	hash   string // the table's partition key
	judges []*judge

	lookalikes map[string]int64 // logical keys and their items, where no layout is known
	damaged    []string         // ledgers
	alien      stray            // items that begin like control items, and are none
	orphans    map[string]int64 // by collection: control items without a charter
	charters   keySet           // of collections that were not asked for
	units      float64

	empty int       // pages in a row that had no item, and said that there are more
	since time.Time // when the first of them was read
}

// A server may return pages without items: DynamoDB does where many were deleted. One that goes on so for ever has a fault.
const (
	maxEmptyPages = 1000
	maxEmptyTime  = time.Minute
)

// errNoEnd is a scan that reads on and on, and gets no items.
var errNoEnd = errors.New("the scan does not end")

// mostPageUnits is far more than DynamoDB charges for a page, which has 1 MB at most.
const mostPageUnits = 10_000

// errUnits is a page whose price cannot be, so that nobody knows at what rate to read on.
var errUnits = errors.New("the server reports impossible units")

// advances returns an error if a scan goes on without items for too long.
func (s *sample) advances(in *dynamodb.ScanInput, out *dynamodb.ScanOutput) error {
	last := out.LastEvaluatedKey
	if len(last) > 0 && reflect.DeepEqual(last, in.ExclusiveStartKey) {
		return fmt.Errorf("%w: a page of it ends where it began", errNoEnd)
	}
	if len(out.Items) > 0 || len(last) == 0 {
		s.empty = 0
		return nil
	}
	if s.empty++; s.empty == 1 {
		s.since = time.Now()
	}
	if s.empty >= maxEmptyPages || time.Since(s.since) > maxEmptyTime {
		return fmt.Errorf("%w: %s in a row had no items, and said that there are more", errNoEnd, figure.Count(s.empty, "page"))
	}
	return nil
}

// DescribeTable returns what is known.
func (s *sample) DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return &dynamodb.DescribeTableOutput{Table: s.visit.table}, nil
}

// DescribeTimeToLive says that nothing expires: an item that has expired may be a stray as well.
func (s *sample) DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return &dynamodb.DescribeTimeToLiveOutput{}, nil
}

// Scan reads a page and looks at its items.
func (s *sample) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	limit, cancel := limited(ctx)
	defer cancel()
	out, err := s.visit.client.Scan(limit, in, options...)
	if err != nil {
		return nil, err
	}
	for _, item := range out.Items {
		s.see(ctx, item)
	}
	if c := out.ConsumedCapacity; c != nil {
		units := aws.ToFloat64(c.CapacityUnits)
		if !(units >= 0 && units <= mostPageUnits) { // NaN is neither
			return nil, fmt.Errorf("%w: %g for a page", errUnits, units)
		}
		s.units += units
	}
	return out, s.advances(in, out)
}

func (s *sample) see(ctx context.Context, item place.Item) {
	key, ok := item[s.hash].(*types.AttributeValueMemberS)
	if ok && layout.IsControl(key.Value) {
		s.control(key.Value, item)
		return
	}
	for _, j := range s.judges {
		j.see(ctx, item)
	}
	if len(s.judges) > 0 || !ok {
		return
	}
	if _, numbered := layout.ShardNumber(key.Value); numbered && len(s.lookalikes) < maxKept {
		s.lookalikes[key.Value[:strings.LastIndex(key.Value, "#SHARD")]]++
	}
}

// control looks at a control item.
func (s *sample) control(key string, item place.Item) {
	k, err := layout.ParseControlKey(key)
	if err != nil {
		s.alien = s.alien.with(0, key)
		return
	}
	i := slices.IndexFunc(s.visit.collections, func(c *collection) bool { return c.name == k.Collection })
	switch {
	case k.Role == layout.RoleCharter && i < 0 && len(s.charters) < maxKept:
		s.charters[k.Collection] = struct{}{}
	case i < 0 && len(s.orphans) < maxKept:
		s.orphans[k.Collection]++
	case i >= 0 && k.Role == layout.RoleLedger && len(s.damaged) < maxKept:
		if _, err := s.visit.ledger(item, s.visit.collections[i]); err != nil {
			s.damaged = append(s.damaged, k.Key)
		}
	}
}

// ledger parses a ledger's item, and notes how wide its key is.
func (v *visit) ledger(item place.Item, c *collection) (ledger.Record, error) {
	values := make([]ledger.Value, 0, len(item))
	hash, sort := v.keyNames()
	for name, value := range item {
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			if name != hash && name != sort {
				values = append(values, ledger.Value{Name: name, Text: value.Value})
			}
		case *types.AttributeValueMemberN:
			if name != sort {
				values = append(values, ledger.Value{Name: name, Number: true, Text: value.Value})
			}
		default:
			if name != sort {
				return ledger.Record{}, fmt.Errorf("%w: attribute %q is a %T, want a string or a number", ledger.ErrRecord, name, value)
			}
		}
	}
	return v.widen(values, c)
}

// widen parses a ledger, and notes how wide its key is.
func (v *visit) widen(values []ledger.Value, c *collection) (ledger.Record, error) {
	r, err := ledger.Parse(values)
	if err == nil && r.Write > v.widest {
		v.widest, v.widestIndex = r.Write, c.charter.Index.Name
	}
	return r, err
}

// items looks at a sample of the table's items, and reports those that no layout in force explains.
func (v *visit) items(ctx context.Context) {
	switch {
	case v.options.NoSample:
		return
	case v.table == nil:
		v.result("items", Unknown, seePermissions, needsDescribe)
		return
	case v.worst("record") == Problem:
		v.result("items", Unknown, "see record", "not checked: the record of where items are cannot be used")
		return
	case v.worst("schema") == Problem:
		v.result("items", Unknown, "see schema", "not checked: the keys of the table are not those that layouts are for")
		return
	}
	s := &sample{visit: v, judges: v.judges(), lookalikes: map[string]int64{}, orphans: map[string]int64{}, charters: keySet{}}
	s.hash, _ = v.keyNames()
	read, err := v.scan(ctx, s)
	if errors.Is(err, errNoEnd) || errors.Is(err, errUnits) {
		v.access.note("Scan", v.resource(), nil)
	} else {
		v.access.note("Scan", v.resource(), err)
	}
	if len(read.Resources) > 0 && read.Resources[0].Stored != nil {
		stored := read.Resources[0].Stored
		v.report.Sample = &Sample{
			Items: stored.Items + stored.Control.Items, Of: max(aws.ToInt64(v.table.ItemCount), stored.Items+stored.Control.Items),
			Fraction: stored.Fraction, Units: s.units,
		}
		if n := v.report.Sample; n.Fraction < 1 && n.Of > n.Items {
			n.Fraction = float64(n.Items) / float64(n.Of)
		}
	}
	switch f := faultOf(err); {
	case f == none:
	case errors.Is(err, errNoEnd):
		v.result("items", Unknown, "find out what answers at the endpoint: a table that can be read has an end", "looked at in part: %s", oneLine(err))
	case errors.Is(err, errUnits):
		v.result("items", Unknown, "find out what answers at the endpoint: DynamoDB charges 128 read units for the largest page", "looked at in part: %s", oneLine(err))
	case f == denied:
		v.result("items", Unknown, seePermissions, "not checked: this needs dynamodb:Scan")
		return
	case f == throttled:
		v.throttled = err
		v.result("items", Unknown, "try again with a smaller --max-rcu", "looked at in part: the scan was throttled")
	case f == interrupted:
		v.result("items", Unknown, "", "looked at in part: %s", cutShort)
	default:
		v.result("items", Unknown, "try again", "looked at in part: %s", reason(err))
	}
	v.strays(ctx, s)
}

// scan reads the sample, and says before what that will cost.
func (v *visit) scan(ctx context.Context, s *sample) (heat.Report, error) {
	options := heat.ScanOptions{
		Items: v.options.Items, MaxRCU: v.options.MaxRCU, Seed: v.options.Seed,
		Progress: func(p heat.ScanProgress) {
			if v.options.Progress != nil {
				v.options.Progress(p.Items, p.Of)
			}
		},
	}
	if v.options.Announce != nil {
		cost, err := heat.EstimateScan(ctx, s, v.options.Table, options) // sends nothing: the table is described already
		if err != nil {
			return heat.Report{}, err
		}
		v.options.Announce(cost, v.options.MaxRCU)
	}
	return heat.ScanTable(ctx, s, v.options.Table, options)
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
