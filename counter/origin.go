package counter

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Origin is where the counts of before are: a number attribute of an item for each counter, which older programs change
// with UpdateItem and ADD. As long as a process has an Origin, the value of a counter is the attribute and everything
// that was added with this package. So older and newer programs may count at the same time.
//
// Import stores the attribute's value in the counter. Once it is imported and no older program is left, leave Origin
// out. The file docs/recipes/counter.md has the steps.
type Origin struct {
	// Table is the name or ARN of the items' table. Default: Options.Table.
	Table string

	// PartitionKey and SortKey name the key attributes of Table. Defaults: those of Options if Table is empty or the
	// same table. Otherwise "pk", and no sort key.
	PartitionKey, SortKey string

	// SortValue is the sort key of the items, such as META. It is required if there is a SortKey and no Key.
	SortValue string

	// Attribute is the name of the number attribute, at the top level of the item. It is required.
	Attribute string

	// Key returns the key of the item of a counter. It must be a function of the counter's key alone. Default: the
	// partition key is the counter's key, as a string, and the sort key is SortValue.
	Key func(key string) heatsink.Item
}

// withDefaults returns the origin of counters with these options.
func (g Origin) withDefaults(o *Options) *Origin {
	if g.Table == "" || g.Table == o.Table {
		g.Table = o.Table
		g.PartitionKey, g.SortKey = cmp.Or(g.PartitionKey, o.PartitionKey), cmp.Or(g.SortKey, o.SortKey)
	}
	g.PartitionKey = cmp.Or(g.PartitionKey, "pk")
	return &g
}

// validate reports what is wrong with an origin that has its defaults.
func (g *Origin) validate(o *Options, wrong func(format string, args ...any)) {
	if g.Attribute == "" {
		wrong("Origin.Attribute is empty: name the attribute that has the counts of before")
		return
	}
	if err := schema.CheckNames(g.PartitionKey, g.SortKey, g.Attribute); err != nil {
		wrong("Origin: %w", err)
	}
	if g.PartitionKey == g.SortKey || g.Attribute == g.PartitionKey || g.Attribute == g.SortKey {
		wrong("Origin.PartitionKey, SortKey and Attribute must differ: %q, %q, %q", g.PartitionKey, g.SortKey, g.Attribute)
	}
	switch {
	case g.Key != nil && g.SortValue != "":
		wrong("Origin has a Key and the SortValue %q: leave SortValue out, because Key says what the sort key is", g.SortValue)
	case g.Key == nil && g.SortKey != "" && g.SortValue == "":
		wrong("Origin.SortValue is empty, and the items have the sort key %q: name its value, or set Origin.Key", g.SortKey)
	case g.SortKey == "" && g.SortValue != "":
		wrong("Origin.SortValue is %q, but Origin.SortKey is empty", g.SortValue)
	}
	if g.Table == o.Table && g.Key == nil && g.SortValue == baseSortKey {
		wrong("Origin.SortValue is %q, which is the sort key of the counters' own items: count into another table", g.SortValue)
	}
}

// item returns the key of the item of a counter.
func (g *Origin) item(key string) heatsink.Item {
	if g.Key != nil {
		return g.Key(key)
	}
	item := heatsink.Item{g.PartitionKey: text(key)}
	if g.SortKey != "" {
		item[g.SortKey] = text(g.SortValue)
	}
	return item
}

// describe names the attribute of a counter, for people.
func (g *Origin) describe(item heatsink.Item) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		value := "?"
		switch v := item[name].(type) {
		case *types.AttributeValueMemberS:
			value = fmt.Sprintf("%.80q", v.Value)
		case *types.AttributeValueMemberN:
			value = v.Value
		case *types.AttributeValueMemberB:
			value = fmt.Sprintf("%.40x", v.Value)
		}
		parts = append(parts, name+" "+value)
	}
	return fmt.Sprintf("attribute %q of the item with %s in table %s", g.Attribute, strings.Join(parts, " and "), g.Table)
}

// decode reads the attribute. It is nil if it is not there.
func (g *Origin) decode(key, item heatsink.Item) (*wide, error) {
	attribute, there := item[g.Attribute]
	if !there {
		return nil, nil
	}
	n, ok := attribute.(*types.AttributeValueMemberN)
	if !ok {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", attribute), "*types.AttributeValueMember")
		return nil, fmt.Errorf("%w: %s has the type %s, want a whole number (N)", ErrOrigin, g.describe(key), kind)
	}
	w, ok := parseWide(n.Value)
	if !ok {
		return nil, fmt.Errorf("%w: %s is %.64s, want a whole number", ErrOrigin, g.describe(key), n.Value)
	}
	return &w, nil
}

// openOrigin returns the table of the origin, nil if there is none.
func openOrigin(client Client, o *Options) (*direct.Table, error) {
	if o.Origin == nil {
		return nil, nil
	}
	return direct.Open(client, direct.Options{
		Table: o.Origin.Table, PartitionKey: o.Origin.PartitionKey, Retry: o.Retry, Logger: o.Logger,
	})
}

// readOrigin reads the attribute, always with strong consistency.
func (s *store) readOrigin(ctx context.Context, key string) answer {
	g := s.options.Origin
	if g == nil {
		return failure(errNoOrigin)
	}
	itemKey := g.item(key)
	item, err := s.origin.Get(ctx, itemKey, func(in *dynamodb.GetItemInput) {
		in.ConsistentRead = aws.Bool(true)
		in.ProjectionExpression, in.ExpressionAttributeNames = aws.String("#a"), map[string]string{"#a": g.Attribute}
	})
	if err != nil {
		return failure(err)
	}
	n, err := g.decode(itemKey, item)
	if err != nil {
		return failure(err)
	}
	return answer{origin: n}
}

// Origin returns Options.Origin with its defaults, and with a Key in any case. It is nil if there is none.
func (c *Counter) Origin() *Origin {
	if c.options.Origin == nil {
		return nil
	}
	g := *c.options.Origin
	g.Key = c.options.Origin.item
	return &g
}
