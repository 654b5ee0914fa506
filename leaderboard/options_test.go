package leaderboard

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func TestOpenNamesEveryFault(t *testing.T) {
	client := local.Start(t).Client()
	options := Options{
		Shards: -1, Mode: 9, Period: 99, Retention: -1, EventTTL: time.Hour,
		Names: Names{Score: "place", At: "ttl"},
	}
	_, err := Open(client, options)
	if setup := Setup(t.Context(), client, options); setup == nil || err == nil || setup.Error() != err.Error() {
		t.Errorf("Setup: got %v, Open %v", setup, err)
	}
	for _, text := range []string{
		"Table is empty",
		"Shards is -1, want 1 to 65536",
		"Mode is 9, want Best, Latest or Sum",
		"Period is 99, want an hour, day, week, month or year",
		"Retention is -1ns, want 0 or more",
		"EventTTL is 1h0m0s, want 1h2m0s or more: a late copy of a request could be counted twice",
		`two attributes are named "place"`,
		`two attributes are named "ttl"`,
	} {
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in: %v", text, err)
		}
	}
	for text, options := range map[string]Options{
		"Retention is set without a Period": {Table: table, Retention: time.Hour},
		"TokenKeys[0] has 3 bytes":          {Table: table, TokenKeys: [][]byte{[]byte("abc")}},
		"want no negative values":           {Table: table, Retry: heatsink.Retry{Attempts: -1}},
	} {
		if _, err := Open(client, options); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), text) {
			t.Errorf("got error %v, want %s", err, text)
		}
	}
	if _, err := Open(nil, Options{Table: table}); !errors.Is(err, ErrOptions) {
		t.Errorf("no client: got error %v", err)
	}
}

func TestModeNames(t *testing.T) {
	if got := Best.String() + Latest.String() + Sum.String() + Mode(7).String(); got != "bestlatestsumMode(7)" {
		t.Errorf("got %s", got)
	}
}

func TestSetupChecksATableThatIsThere(t *testing.T) {
	db := local.Start(t)
	options := Options{Table: table}
	for range 2 {
		if err := Setup(t.Context(), db.Client(), options); err != nil {
			t.Error(err)
		}
	}
	if err := db.CreateTable(t.Context(), "other", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	err := Setup(t.Context(), db.Client(), Options{Table: "other"})
	for _, text := range []string{"its key is (pk S, sk S), want (player S, board S)", `it has no index "ranking"`} {
		if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in: %v", text, err)
		}
	}
	ttl, err := db.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("other")})
	if err != nil || ttl.TimeToLiveDescription.AttributeName != nil {
		t.Errorf("the table that was refused has a time to live: %+v, %v", ttl, err)
	}
}

// A table that is there already keeps its attribute names.
func TestNames(t *testing.T) {
	client := local.Start(t).Client()
	names := Names{
		Player: "PK", Board: "SK", Listing: "GSI1PK", Place: "GSI1SK", Score: "points", At: "when", Mode: "kind", Total: "sum", TTL: "expires",
		Hash: "hash",
	}
	options := Options{Table: "app", Index: "GSI1", Names: names, Mode: Sum, Period: layout.Month, Retention: time.Hour}
	board := named(t, open(t, client, options), "galaxy")
	submit(t, board, Submission{Player: "ada", Score: 3, ID: "m1"})
	submit(t, board, Submission{Player: "ada", Score: 4})
	submit(t, board, Submission{Player: "bob", Score: 9})
	wantLines(t, "top", top(t, board, 0), "1 bob 9", "2 ada 7")
	options.Mode = Best
	best := named(t, open(t, client, options), "best")
	submit(t, best, Submission{Player: "ada", Score: 3, Attributes: heatsink.Item{"car": text("red")}})
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("app")})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, item := range out.Items {
		for name := range item {
			seen[name] = true
		}
	}
	for _, name := range names.all() {
		if !seen[name] {
			t.Errorf("no item has %q", name)
		}
		delete(seen, name)
	}
	delete(seen, "car")
	if len(seen) > 0 {
		t.Errorf("items have %v as well", seen)
	}
}

// The templates in the documentation are those of the table.
func TestDocumentationHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../docs/recipes/leaderboard.md")
	if err != nil {
		t.Fatal(err)
	}
	schema := Options{Table: table}.withDefaults().table()
	for _, template := range []string{schema.CloudFormation(), schema.Terraform()} {
		if !strings.Contains(string(page), "\n"+template+"```\n") {
			t.Errorf("docs/recipes/leaderboard.md lacks:\n%s", template)
		}
	}
}
