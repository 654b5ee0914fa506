package eventlog

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// The table that Setup creates is one that it accepts, and one that lacks something is refused with all that it lacks.
func TestSetup(t *testing.T) {
	client := local.Start(t).Client()
	plain := Options{Table: "logs"}
	full := Options{Table: "full", PartitionKey: "PK", SortKey: "SK", Retention: time.Hour, TTL: "expires", Index: Index{Name: "GSI1", PartitionKey: "a", SortKey: "b"}}
	for range 2 {
		for _, options := range []Options{plain, full} {
			if err := Setup(t.Context(), client, options); err != nil {
				t.Errorf("%+v: %v", options, err)
			}
		}
	}
	full.Table = "logs"
	err := Setup(t.Context(), client, full)
	if !errors.Is(err, ErrTable) {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"(pk S, sk S), want (PK S, SK S)", `no index "GSI1"`} {
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
	for _, wrong := range []Options{{}, {Table: "t", Retention: -1}} {
		if err := Setup(t.Context(), client, wrong); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: got %v", wrong, err)
		}
	}
}

// Setup deletes nothing: it does not turn the time to live on in a table that it has not created, however young.
func TestSetupKeepsTheItemsThatAreThere(t *testing.T) {
	for _, age := range []time.Duration{0, 30 * time.Second, time.Minute} {
		bubble.Test(t, func(t *testing.T) {
			db := local.Start(t)
			client := db.Client()
			if err := db.CreateTable(t.Context(), "logs", "pk", "sk"); err != nil {
				t.Fatal(err)
			}
			for _, sk := range []string{"1", "2", "3", "4", "5"} {
				_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("logs"), Item: map[string]types.AttributeValue{
					"pk": &types.AttributeValueMemberS{Value: "mine"}, "sk": &types.AttributeValueMemberS{Value: sk},
					"ttl": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)},
				}})
				if err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(age)
			err := Setup(t.Context(), client, Options{Table: "logs", Retention: 90 * 24 * time.Hour})
			if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "turn it on with UpdateTimeToLive") {
				t.Errorf("age %v: got %v", age, err)
			}
			time.Sleep(time.Hour)
			out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("logs")})
			if err != nil || out.Count != 5 {
				t.Errorf("age %v: got %+v, %v, want all 5 items", age, out, err)
			}
		})
	}
}

// The templates and the program in the docs are those of the code.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../docs/recipes/eventlog.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][]string{}
	for i, part := range strings.Split(string(doc), "```") {
		if language, text, _ := strings.Cut(part, "\n"); i%2 == 1 {
			blocks[language] = append(blocks[language], text)
		}
	}
	plain := Options{Table: "logs", Retention: time.Hour}.withDefaults()
	listed := Options{Table: "logs", Retention: time.Hour, Index: Index{Name: "GSI1"}}.withDefaults()
	for language, want := range map[string][]string{
		"yaml": {plain.table().CloudFormation(), listed.table().CloudFormation()},
		"hcl":  {plain.table().Terraform(), listed.table().Terraform()},
	} {
		for i, text := range want {
			if len(blocks[language]) != len(want) || blocks[language][i] != text {
				t.Errorf("block %d of %s is not\n%s", i, language, text)
			}
		}
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks["go"]) == 0 {
		t.Error("there is no program")
	}
	for _, program := range blocks["go"] {
		for line := range strings.Lines(program) {
			line = strings.TrimSpace(line)
			if !slices.Contains([]string{"", "…", "package main", "func main() {"}, line) && !strings.Contains(string(examples), line) {
				t.Errorf("no example has the line %q", line)
			}
		}
	}
}
