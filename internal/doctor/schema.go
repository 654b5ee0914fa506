package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/layout"
)

// schema compares the table's keys and indexes with those that its collections are recorded with.
func (v *visit) schema(context.Context) {
	if v.table == nil {
		v.result("schema", Unknown, seePermissions, needsDescribe)
		return
	}
	for _, c := range v.collections {
		v.keys(c)
		v.index(c)
		v.replicas(c)
	}
	for _, index := range sorted(v.options.Layouts) {
		if hash, _ := v.indexKeys(index); index != "" && hash == "" {
			v.result("schema", Problem, "check --layout: INDEX=TEMPLATE names a global index of the table", "--layout is for the index %s, which the table does not have", index)
		}
	}
	for _, index := range v.table.GlobalSecondaryIndexes {
		name := aws.ToString(index.IndexName)
		switch {
		case index.IndexStatus == types.IndexStatusCreating:
			v.result("schema", Warning, "wait until it is active: "+v.aws("describe-table"), "index %s is being created: a Query of it is refused", name)
		case index.IndexStatus == types.IndexStatusDeleting:
			v.result("schema", Warning, "leave Options.Index out where it names this index", "index %s is being deleted", name)
		}
	}
	if !v.has("schema") {
		v.result("schema", OK, "", "%s", v.schemaText())
	}
}

// schemaText describes the keys of the table.
func (v *visit) schemaText() string {
	hash, sort := v.keyNames()
	text := fmt.Sprintf("partition key %s (%s)", hash, v.typeOf(hash))
	if sort != "" {
		text += fmt.Sprintf(", sort key %s (%s)", sort, v.typeOf(sort))
	}
	var names []string
	for _, index := range v.table.GlobalSecondaryIndexes {
		names = append(names, aws.ToString(index.IndexName))
	}
	if names != nil {
		text += ", global indexes " + strings.Join(names, ", ")
	}
	if len(v.collections) > 0 {
		text += ", as recorded"
	}
	return text
}

const setOptions = "set Options.PartitionKey, Options.SortKey and Options.Index to those of the table in all programs, and replace the charter: heatsink ledger charter --help"

// keys compares the table's keys with those of a charter.
func (v *visit) keys(c *collection) {
	hash, sort := v.keyNames()
	if c.charter.PartitionKey != hash || c.charter.SortKey != sort {
		v.result("schema", Problem, setOptions, "collection %s is recorded with the keys %s, but the table has %s", c.name, pair(c.charter.PartitionKey, c.charter.SortKey), pair(hash, sort))
		return
	}
	if kind := v.typeOf(hash); c.charter.Index.Name == "" && kind != types.ScalarAttributeTypeS {
		v.result("schema", Problem, "use a table whose partition key is a string", "the partition key %s is of type %s, and heatsink spreads strings only", hash, kind)
	}
	if name := c.charter.Table; name != "" && v.options.Table != name && !strings.HasSuffix(v.options.Table, "/"+name) { // the table may be given by its ARN
		v.result("schema", Problem, "check TABLE and --name: several tables share this control table", "collection %s is recorded for table %s", c.name, name)
	}
}

func pair(hash, sort string) string { return strings.TrimSuffix(hash+", "+sort, ", ") }

// index compares the index of a charter with the table's.
func (v *visit) index(c *collection) {
	wanted := c.charter.Index
	if wanted.Name == "" {
		return
	}
	i := slices.IndexFunc(v.table.GlobalSecondaryIndexes, func(d types.GlobalSecondaryIndexDescription) bool { return aws.ToString(d.IndexName) == wanted.Name })
	if i < 0 {
		v.result("schema", Problem, "create the index, with "+pair(wanted.PartitionKey, wanted.SortKey)+" as its keys: "+v.aws("update-table"),
			"collection %s is listed by the index %s, which the table does not have", c.name, wanted.Name)
		return
	}
	index := v.table.GlobalSecondaryIndexes[i]
	hash, sort := namesOf(index.KeySchema)
	named := hash == wanted.PartitionKey || wanted.ShardAttribute != "" && slices.ContainsFunc(index.KeySchema, func(k types.KeySchemaElement) bool {
		return aws.ToString(k.AttributeName) == wanted.PartitionKey
	})
	if !named || sort != wanted.SortKey {
		v.result("schema", Problem, setOptions, "collection %s is recorded with the keys %s of index %s, but the index has %s", c.name, pair(wanted.PartitionKey, wanted.SortKey), wanted.Name, pair(hash, sort))
	}
	if kind := v.typeOf(wanted.PartitionKey); named && kind != types.ScalarAttributeTypeS {
		v.result("schema", Problem, "use an index whose partition key is a string", "the partition key %s of index %s is of type %s, and heatsink spreads strings only", wanted.PartitionKey, wanted.Name, kind)
	}
	if p := index.Projection; p != nil && p.ProjectionType != types.ProjectionTypeAll {
		v.result("schema", Warning, "create the index with ProjectionType ALL, or use only what it has",
			"index %s projects %s: a Query of collection %s returns items without their other attributes", wanted.Name, p.ProjectionType, c.name)
	}
}

// replicas refuses global tables, as the library does.
func (v *visit) replicas(c *collection) {
	n := len(v.table.Replicas)
	if n == 0 || !c.adaptive() && !c.charter.Movable {
		return
	}
	option := "Options.Adaptive"
	if c.charter.Movable {
		option = "Options.Movable"
	}
	v.result("schema", Problem, "leave "+option+" out, or remove the replicas",
		"the table has %d replicas in other regions, and conditions do not hold across regions: programs with %s are refused", n, option)
}

// signatures finds out whether the server checks the time of signatures, which the end of a move relies on.
func (v *visit) signatures(ctx context.Context) {
	for _, c := range v.collections {
		if !c.charter.Movable || v.options.ControlTable != "" {
			continue
		}
		hash, _ := v.keyNames()
		key := v.probeKey()
		if key == nil {
			return
		}
		key[hash] = &types.AttributeValueMemberS{Value: layout.ControlKey{Role: layout.RolePassage, Collection: c.name}.String()}
		limit, cancel := limited(ctx)
		checked, err := lease.Probe(limit, v.client, &dynamodb.GetItemInput{TableName: &v.options.Table, Key: key})
		cancel()
		switch {
		case err != nil:
			v.result("signatures", Unknown, "try again; docs/moving.md says why this matters", "whether the server checks the time of signatures is not known: %s", oneLine(err))
		case !checked:
			v.result("signatures", Warning, "move items on DynamoDB itself, or start heatsink serve with an access key",
				"the server takes signatures that are an hour old: a move of collection %s rests in its stage split, and neither ends nor goes back", c.name)
		default:
			v.result("signatures", OK, "", "the server refuses signatures that are an hour old, as moves need")
		}
		return // one server
	}
}
