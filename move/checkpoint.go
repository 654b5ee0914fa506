package move

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// checkpoint is how far the first pass of a move has come, as a control item. It is advice: whoever goes on from a wrong one
// leaves items to the passes behind it, which begin at the beginning.
type checkpoint struct {
	client Client
	table  string
	key    place.Item
	what   string   // the fingerprint of the move
	names  []string // the key attributes of the data's table
	kinds  []types.ScalarAttributeType
	shards bool // positions may be the beginning of a shard: a partition key alone

	// trail is what a pass has to look at, nil for everything. The record does not tell any more which keys have moved when only their
	// marks are left.
	trail *scope
}

// The attributes of a checkpoint.
const (
	nameVersion  = "_hs_v"
	nameMove     = "_hs_move"
	nameSegments = "_hs_segments"
	nameAt       = "_hs_at"
	nameTrail    = "_hs_keys"
	namePrefixes = "_hs_prefixes"

	checkpointVersion = 1
)

// segment is a part of the table, and how far it was read.
type segment struct {
	number  int
	in      string     // the table, as passage.Arrangement has it; a checkpoint does not say it, because a chore reads one table
	start   place.Item // where the next page begins; nil at the beginning
	scanned int64
	done    bool
}

func newSegments(n int) []*segment {
	all := make([]*segment, n)
	for i := range all {
		all[i] = &segment{number: i}
	}
	return all
}

// newCheckpoint returns the checkpoint of a move of a described table.
func newCheckpoint(client Client, o *Options, table *types.TableDescription) *checkpoint {
	c := &checkpoint{client: client, table: o.Collection.Table, what: fingerprint(o)}
	control := layout.ControlKey{Role: layout.RoleMove, Collection: collectionName(o)}.String()
	c.names = []string{o.Collection.PartitionKey}
	if o.Collection.SortKey != "" {
		c.names = append(c.names, o.Collection.SortKey)
	}
	for _, name := range c.names {
		c.kinds = append(c.kinds, kindOfAttribute(table, name))
	}
	if o.Collection.ControlTable != "" {
		c.table = o.Collection.ControlTable
		c.key = place.Item{adapt.TableKey: &types.AttributeValueMemberS{Value: control}}
		return c
	}
	if c.kinds[0] != types.ScalarAttributeTypeS {
		return nil // such a table takes no control items
	}
	c.key = place.Item{c.names[0]: &types.AttributeValueMemberS{Value: control}}
	if len(c.names) > 1 {
		c.key[c.names[1]] = map[types.ScalarAttributeType]types.AttributeValue{
			types.ScalarAttributeTypeS: &types.AttributeValueMemberS{Value: "-"},
			types.ScalarAttributeTypeN: &types.AttributeValueMemberN{Value: "0"},
			types.ScalarAttributeTypeB: &types.AttributeValueMemberB{Value: []byte("-")},
		}[c.kinds[1]]
	}
	return c
}

func collectionName(o *Options) string {
	if o.Collection.Name != "" {
		return o.Collection.Name
	}
	return cmp.Or(o.Collection.Index.Name, defaultName)
}

func kindOfAttribute(table *types.TableDescription, name string) types.ScalarAttributeType {
	for _, d := range table.AttributeDefinitions {
		if aws.ToString(d.AttributeName) == name {
			return d.AttributeType
		}
	}
	return ""
}

// fingerprint returns what tells one move from another: a checkpoint of another one must not be used.
func fingerprint(o *Options) string {
	c := &o.Collection
	sum := sha256.New()
	if c.ControlTable != "" { // which may be that of several tables; beside its items, a checkpoint may be restored under another name
		fmt.Fprintf(sum, "%q ", c.Table)
	}
	fmt.Fprintf(sum, "%q %q %+v %q %+v %t %t", c.PartitionKey, c.SortKey, c.Index, c.ShardBy, c.EventTime, c.Adaptive != nil, c.Widths != nil)
	fmt.Fprintf(sum, " %q %q %d %#v", o.Key, o.Prefix, o.Segments, c.Layout) // all fields: its String leaves out what one shard has no use for
	if width, ok := c.Widths.(layout.Width); ok {
		fmt.Fprintf(sum, " %d", width.Write)
	}
	for _, l := range o.From {
		fmt.Fprintf(sum, " %#v", l)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// fingerprintByID is fingerprint for a chore at one generation of a movable collection's record: its checkpoint says nothing of another.
func fingerprintByID(o *Options, generation int64, chore forward.Chore) string {
	c := &o.Collection
	sum := sha256.New()
	if c.ControlTable != "" {
		fmt.Fprintf(sum, "%q ", c.Table)
	}
	fmt.Fprintf(sum, "by id %q %q %d %d %d", c.PartitionKey, c.SortKey, generation, chore, o.Segments)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// ofAnother says that a checkpoint is not used.
const ofAnother = "it is of another move"

// load returns the segments of a stored checkpoint of the same move. It returns nil if there is none, and why a stored one is
// not used.
func (c *checkpoint) load(ctx context.Context, segments int) (all []*segment, ignored string, err error) {
	if c == nil {
		return nil, "", nil
	}
	var out *dynamodb.GetItemOutput
	_, err = dispatch.New(dispatch.Retry{}, nil, nil).Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) (err error) {
		out, err = c.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &c.table, Key: c.key, ConsistentRead: aws.Bool(true)}, dispatch.Once)
		return err
	}})
	if err != nil {
		return nil, "", fmt.Errorf("read the checkpoint: GetItem %s: %w", c.table, err)
	}
	if out.Item == nil {
		return nil, "", nil
	}
	if what, _ := out.Item[nameMove].(*types.AttributeValueMemberS); what == nil || what.Value != c.what {
		return nil, ofAnother, nil
	}
	if v, _ := out.Item[nameVersion].(*types.AttributeValueMemberN); v == nil || v.Value != strconv.Itoa(checkpointVersion) {
		return nil, "another version of heatsink wrote it", nil
	}
	c.trail = nil
	keys, _ := out.Item[nameTrail].(*types.AttributeValueMemberSS)
	prefixes, _ := out.Item[namePrefixes].(*types.AttributeValueMemberSS)
	if c.shards && (keys != nil || prefixes != nil) {
		c.trail = &scope{partition: c.names[0], keys: members(keys), prefixes: members(prefixes)}
	}
	list, _ := out.Item[nameSegments].(*types.AttributeValueMemberL)
	if list != nil && len(list.Value) == 0 {
		return nil, "", nil // it is there for its trail, or a pass has ended
	}
	if list == nil || len(list.Value) != segments {
		return nil, fmt.Sprintf("it does not have %d segments", segments), nil
	}
	for i, v := range list.Value {
		s := c.segment(i, v)
		if s == nil {
			return nil, fmt.Sprintf("segment %d is not understood", i), nil
		}
		all = append(all, s)
	}
	return all, "", nil
}

// segment returns a stored segment, nil if it is not understood.
func (c *checkpoint) segment(i int, v types.AttributeValue) *segment {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return nil
	}
	s := &segment{number: i}
	if n, ok := m.Value["n"].(*types.AttributeValueMemberN); ok {
		s.scanned, _ = strconv.ParseInt(n.Value, 10, 64)
		if s.scanned < 0 || s.scanned > 1<<50 { // only shown
			s.scanned = 0
		}
	}
	if done, ok := m.Value["d"].(*types.AttributeValueMemberBOOL); ok && done.Value {
		s.done = true
		return s
	}
	switch key := m.Value["k"].(type) {
	case nil:
		return s
	case *types.AttributeValueMemberM:
		names := c.names
		if c.shards && len(key.Value) == 1 {
			names = names[:1]
		}
		if len(key.Value) != len(names) {
			return nil
		}
		for i, name := range names {
			if scalar(key.Value[name]) != c.kinds[i] {
				return nil
			}
		}
		s.start = key.Value
		return s
	}
	return nil
}

// scalar returns the type of a value that may be a key.
func scalar(v types.AttributeValue) types.ScalarAttributeType {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return types.ScalarAttributeTypeS
	case *types.AttributeValueMemberN:
		return types.ScalarAttributeTypeN
	case *types.AttributeValueMemberB:
		return types.ScalarAttributeTypeB
	}
	return "none"
}

// members returns those of a set, in order.
func members(set *types.AttributeValueMemberSS) []string {
	if set == nil {
		return nil
	}
	return slices.Sorted(slices.Values(set.Value))
}

// save stores how far the segments are. Two movers overwrite each other's, which costs at most some reading.
func (c *checkpoint) save(ctx context.Context, all []segment) error {
	if c == nil {
		return nil
	}
	list := make([]types.AttributeValue, len(all))
	for i, s := range all {
		m := place.Item{"n": &types.AttributeValueMemberN{Value: strconv.FormatInt(s.scanned, 10)}}
		switch {
		case s.done:
			m["d"] = &types.AttributeValueMemberBOOL{Value: true}
		case s.start != nil:
			m["k"] = &types.AttributeValueMemberM{Value: s.start}
		}
		list[i] = &types.AttributeValueMemberM{Value: m}
	}
	item := place.Item{
		nameVersion:  &types.AttributeValueMemberN{Value: strconv.Itoa(checkpointVersion)},
		nameMove:     &types.AttributeValueMemberS{Value: c.what},
		nameSegments: &types.AttributeValueMemberL{Value: list},
		nameAt:       &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().UnixMilli(), 10)},
	}
	if c.trail != nil && len(c.trail.keys) > 0 {
		item[nameTrail] = &types.AttributeValueMemberSS{Value: c.trail.keys}
	}
	if c.trail != nil && len(c.trail.prefixes) > 0 {
		item[namePrefixes] = &types.AttributeValueMemberSS{Value: c.trail.prefixes}
	}
	maps.Copy(item, c.key)
	_, err := c.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &c.table, Item: item}, dispatch.Once)
	if err != nil {
		return fmt.Errorf("store the checkpoint: PutItem %s: %w", c.table, err)
	}
	return nil
}

// remove deletes the checkpoint of a move that is through.
func (c *checkpoint) remove(ctx context.Context) error {
	if c == nil {
		return nil
	}
	_, err := dispatch.New(dispatch.Retry{}, nil, nil).Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) error {
		_, err := c.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &c.table, Key: c.key}, dispatch.Once)
		return err
	}})
	if err != nil {
		return fmt.Errorf("remove the checkpoint: DeleteItem %s: %w", c.table, err)
	}
	return nil
}
