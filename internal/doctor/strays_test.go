package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// However many collections have left control items behind, a few are asked for, and one line tells of the rest.
func TestManyOtherCollections(t *testing.T) {
	for role, want := range map[layout.Role]string{
		layout.RoleLedger:  "unknown there are control items of 10 more collections, such as other20: whether they have charters was not asked",
		layout.RoleCharter: "ok 10 more collections are recorded in the table as well",
	} {
		db := local.Start(t)
		create(t, db.Client())
		fill(t, db.Client(), heatsink.Options{Recorded: true, Layout: layout.Layout{Shards: 2}})
		for i := range maxOthers + 10 {
			key := layout.ControlKey{Role: role, Collection: fmt.Sprintf("other%02d", i)}
			if role == layout.RoleLedger {
				key.Key = "KEY"
			}
			_, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("events"), Item: heatsink.Item{"pk": text(key.String()), "sk": text("-")}})
			if err != nil {
				t.Fatal(err)
			}
		}
		report, _ := examined(t, Options{Client: db.Client()})
		var found []string
		for _, r := range report.Results {
			if r.Check == "items" && strings.Contains(r.Found, "collection") {
				found = append(found, r.Outcome.String()+" "+r.Found)
			}
		}
		found = slices.DeleteFunc(found, func(text string) bool { return strings.Contains(text, "none is where readers miss it") })
		if len(found) != maxOthers+1 || found[maxOthers] != want {
			t.Errorf("%v: got %q, want %d, the last %q", role, found, maxOthers+1, want)
		}
	}
}

// What a check says beside its verdict does not replace the verdict, and a comparison that is not complete is no good news.
func TestVerdictOnItems(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*sample, *judge)
		want []string
	}{
		"nothing":            {func(*sample, *judge) {}, []string{"ok: 5 items, all of the table: none is where readers miss it"}},
		"another collection": {func(s *sample, _ *judge) { s.charters["second"] = struct{}{} }, []string{"ok: collection second is", "ok: 5 items, all of the table: none is where readers miss it"}},
		"full":               {func(_ *sample, j *judge) { j.full = true }, []string{"unknown: collection c: only 100,000 keys were compared"}},
		"full, and a stray": {
			func(_ *sample, j *judge) { j.full, j.misplaced = true, stray{items: 1, example: "K"} },
			[]string{"problem: collection c: 1 item is in another shard", "unknown: collection c: only 100,000 keys were compared"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := &visit{report: Report{Sample: &Sample{Items: 5, Of: 5, Fraction: 1}}}
			j := newJudge(nil, "collection c")
			j.listed = 5
			s := &sample{visit: v, judges: []*judge{j}, charters: keySet{}}
			c.edit(s, j)
			v.strays(t.Context(), s)
			if len(v.report.Results) != len(c.want) {
				t.Fatalf("got %v, want %q", v.report.Results, c.want)
			}
			for i, r := range v.report.Results {
				if got := r.Outcome.String() + ": " + r.Found; !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("got %q, want %q", got, c.want[i])
				}
			}
		})
	}
}

// A charter in a control table is of the table that it names, whether that is given by its name or its ARN.
func TestCharterOfAnotherTable(t *testing.T) {
	for table, fine := range map[string]bool{"orders": true, "arn:aws:dynamodb:eu-west-1:123456789012:table/orders": true, "old-orders": false, "ord": false} {
		v := &visit{options: Options{Table: table}, table: &types.TableDescription{
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		}}
		c := &collection{name: "c"}
		c.charter.PartitionKey, c.charter.Table = "pk", "orders"
		v.keys(c)
		if got := v.worst("schema") == OK; got != fine {
			t.Errorf("%s: got %v", table, v.report.Results)
		}
	}
}

// Commands in remedies reach the server and the account that were examined.
func TestFlags(t *testing.T) {
	v := &visit{options: Options{Table: "orders", Profile: "Ann's", ControlTable: "control"}, report: Report{Region: "eu-west-1", Endpoint: "http://engine"}}
	for got, want := range map[string]string{
		v.flags():        ` --region eu-west-1 --profile 'Ann'\''s' --endpoint http://engine`,
		v.controlFlags(): ` --control-table control --region eu-west-1 --profile 'Ann'\''s' --endpoint http://engine`,
		v.aws("wait"):    `aws dynamodb wait --table-name orders --region eu-west-1 --profile 'Ann'\''s' --endpoint-url http://engine`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// An action counts as allowed only if the server has shown that it is.
func TestAccessOfFailures(t *testing.T) {
	var a access
	a.note("Query", "arn", fmt.Errorf("bad gateway"))
	a.note("GetItem", "arn", fmt.Errorf("bad gateway"))
	a.note("GetItem", "arn", nil)
	if got := a.unknown(); !slices.Equal(a.allowed, []string{"GetItem"}) || !slices.Equal(got, []string{"Query"}) {
		t.Errorf("allowed %q, unknown %q", a.allowed, got)
	}
}
