package move_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// planted is an item of key OPEN, and what is to be said about it.
type planted struct {
	status string
	shard  string // the shard attribute, "" for none
	kind   string // "right" is in its place, "" is of no interest
	why    string
}

// check plants one item at a time as o1 in an empty table, and compares what Verify says.
func (p planted) check(t *testing.T, o move.Options) {
	t.Helper()
	client := start(t, withShards).Client()
	put(t, client, "o1", p.status, func(item heatsink.Item) {
		if p.shard != "" {
			item["shard"] = number(p.shard)
		}
	})
	report, err := mover(t, client, o).Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	switch p.kind {
	case "", "right":
		if listed := int64(len(p.kind) / len("right")); report.Listed != listed || report.Right != listed || len(report.Findings) != 0 {
			t.Errorf("%+v", report)
		}
	default:
		if len(report.Findings) != 1 || report.Listed != 1 || report.Damaged() != 1 {
			t.Fatalf("%+v", report)
		}
		if f := report.Findings[0]; f.Kind != p.kind || !strings.HasPrefix(f.Stored, p.status) || !strings.Contains(f.Why, p.why) {
			t.Errorf("%+v, want %s because %q", f, p.kind, p.why)
		}
	}
}

// withShards adds an index by status and shard.
func withShards(in *dynamodb.CreateTableInput) {
	in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("shard"), AttributeType: "N"})
	in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
		IndexName: aws.String("byShard"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash), key("shard", types.KeyTypeHash), key("created", types.KeyTypeRange)},
	})
}

// An index by status and shard: what is in the shard attribute counts, and nothing but a shard's number is one.
func TestVerifyOfShardAttributes(t *testing.T) {
	now := collection(sixteen)
	now.Index = heatsink.Index{Name: "byShard", PartitionKey: "status", SortKey: "created", ShardAttribute: "shard"}
	own := sixteen.Shard("o1")
	for name, p := range map[string]planted{
		"in its place":                 {"OPEN", fmt.Sprint(own), "right", ""},
		"in another shard":             {"OPEN", fmt.Sprint((own + 1) % 16), "misplaced", ""},
		"in the last that is read":     {"OPEN", fmt.Sprint(15 - own/15), "misplaced", ""},
		"in the first that is not":     {"OPEN", "16", "beyond", ""},
		"half a shard":                 {"OPEN", "1.5", "unexplained", "no given layout has such a key"},
		"a negative shard":             {"OPEN", "-1", "unexplained", "no given layout has such a key"},
		"a shard that is no int":       {"OPEN", "1e30", "unexplained", "no given layout has such a key"},
		"a key that looks like shards": {"OPEN#SHARD_3", fmt.Sprint(own), "right", ""}, // such an index stores keys as they are
	} {
		t.Run(name, func(t *testing.T) {
			p.check(t, move.Options{Collection: now, From: []layout.Layout{{Shards: 4, Strategy: layout.Calculated, Format: layout.PlainNumber()}}})
		})
	}
}

// Widths for reading and writing: an item is found in all shards that readers read, and lost in the first that they do not.
func TestVerifyOfTheLastShardThatIsRead(t *testing.T) {
	now := collection(layout.Layout{Strategy: layout.Calculated})
	now.Widths = layout.Width{Write: 4, Read: 8}
	for shard, kind := range map[int]string{7: "misplaced", 8: "beyond"} {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			planted{status: fmt.Sprintf("OPEN#SHARD_%d", shard), kind: kind}.check(t, move.Options{Collection: now, From: []layout.Layout{{Shards: 4, Format: layout.PlainNumber()}}})
		})
	}
}

// A key that two layouts understand differently is left alone.
func TestVerifyOfAKeyWithTwoReadings(t *testing.T) {
	o := move.Options{Collection: collection(sixteen), From: []layout.Layout{{Shards: 4, Strategy: layout.Calculated, Format: layout.Format{ShardPrefix: "_"}}}}
	planted{status: "OPEN#SHARD_3", kind: "ambiguous", why: `it may be of key "OPEN" or of key "OPEN#SHARD"`}.check(t, o)
}

// Key and Prefix are about logical keys: a stored key that only begins like them is of no interest.
func TestVerifyOfSomeKeys(t *testing.T) {
	own := fmt.Sprint("OPEN#SHARD_", sixteen.Shard("o1"))
	for name, test := range map[string]struct {
		key, prefix string
		planted
	}{
		"the key":                         {"OPEN", "", planted{status: own, kind: "right"}},
		"a longer key":                    {"OPE", "", planted{status: own}},
		"the beginning of the key":        {"", "OPE", planted{status: own, kind: "right"}},
		"the beginning of the shard":      {"", "OPEN#S", planted{status: own}},
		"an unexplained key":              {"", "OPEN#S", planted{status: "OPEN#SHARD_007", kind: "unexplained"}},
		"an unexplained key of no matter": {"", "CLOSED", planted{status: "OPEN#SHARD_007"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.check(t, move.Options{Collection: collection(sixteen), From: []layout.Layout{{}}, Key: test.key, Prefix: test.prefix})
		})
	}
}

// numbered is a table that has a number where the index has a string, as an item may that is older than the index.
type numbered struct{ *dynamodb.Client }

func (c numbered) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out, err := c.Client.Scan(ctx, in, o...)
	if err == nil {
		for _, item := range out.Items {
			item["status"] = number("7")
		}
	}
	return out, err
}

func TestVerifyOfAKeyThatIsNoString(t *testing.T) {
	client := start(t).Client()
	put(t, client, "o1", "OPEN")
	report, err := mover(t, numbered{client}, move.Options{Collection: collection(sixteen, layout.Layout{})}).Verify(t.Context())
	if err != nil || report.Unexplained != 1 || report.Damaged() != 1 || len(report.Findings) != 1 || !strings.Contains(report.Findings[0].Why, `attribute "status" is`) {
		t.Errorf("%+v, %v", report, err)
	}
}

// Where the old layout is spelt like the present one, an item is old in its shard of the old layout, and misplaced in all others.
func TestVerifyOfTwoLayoutsWithOneSpelling(t *testing.T) {
	four := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	for shard := range 4 {
		kind := "misplaced"
		switch shard {
		case sixteen.Shard("o1"):
			kind = "right"
		case four.Shard("o1"):
			kind = "old"
		}
		planted{status: fmt.Sprint("OPEN#SHARD_", shard), kind: kind}.check(t, move.Options{Collection: collection(sixteen), From: []layout.Layout{four}})
	}
}
