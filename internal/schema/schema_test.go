package schema_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/schema"
	"github.com/heatsink-go/heatsink/local"
)

var wanted = schema.Table{
	Name: "logs",
	Key:  schema.Key{Partition: schema.String("pk"), Sort: schema.Number("sk")},
	Indexes: []schema.Index{
		{Name: "byUser", Key: schema.Key{Partition: schema.String("user"), Sort: schema.Number("sk")}},
	},
	TTL: "ttl",
}

func TestEnsureCreatesWhatCheckWants(t *testing.T) {
	client := local.Start(t).Client()
	if err := wanted.Check(t.Context(), client); !errors.Is(err, schema.ErrMismatch) || !strings.Contains(err.Error(), `no table "logs"`) {
		t.Errorf("before: got %v", err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := wanted.Ensure(t.Context(), client); err != nil {
				t.Errorf("Ensure: %v", err)
			}
		})
	}
	all.Wait()
	if err := wanted.Ensure(t.Context(), client); err != nil {
		t.Errorf("Ensure of what is there: %v", err)
	}
	if err := wanted.Check(t.Context(), client); err != nil {
		t.Errorf("after: %v", err)
	}
}

func TestCheckNamesEveryFault(t *testing.T) {
	client := local.Start(t).Client()
	other := schema.Table{
		Name: "logs",
		Key:  schema.Key{Partition: schema.String("pk"), Sort: schema.String("at")},
		Indexes: []schema.Index{
			{Name: "byUser", Key: schema.Key{Partition: schema.Binary("user")}},
		},
		TTL: "expiry",
	}
	if err := other.Ensure(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	err := wanted.Ensure(t.Context(), client)
	if !errors.Is(err, schema.ErrMismatch) {
		t.Fatalf("got %v", err)
	}
	for _, text := range []string{
		"its key is (pk S, at S), (pk S, sk N) is needed",
		`the key of index "byUser" is (user B), (user S, sk N) is needed`,
		`its time to live is in attribute "expiry", "ttl" is needed`,
	} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in: %v", text, err)
		}
	}

	wanted := other
	wanted.Indexes = []schema.Index{{Name: "byDay", Key: wanted.Key}}
	if err := wanted.Check(t.Context(), client); err == nil || !strings.Contains(err.Error(), `it has no index "byDay"`) {
		t.Errorf("got %v", err)
	}
}

// An old table is somebody's: its time to live is not turned on for them.
func TestEnsureLeavesAnOldTableAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		without := wanted
		without.TTL = ""
		if err := without.Ensure(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		for range 2 {
			if err := wanted.Ensure(t.Context(), client); err == nil || !strings.Contains(err.Error(), `its time to live is off, attribute "ttl" is needed`) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestEnsureEndsWithItsContext(t *testing.T) {
	client := local.Start(t).Client()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wanted.Ensure(ctx, client); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestInputDefinesAttributesOnce(t *testing.T) {
	var names []string
	for _, definition := range wanted.Input().AttributeDefinitions {
		names = append(names, *definition.AttributeName+string(definition.AttributeType))
	}
	if got := strings.Join(names, " "); got != "pkS skN userS" {
		t.Errorf("got %q", got)
	}
	if mode := wanted.Input().BillingMode; mode != types.BillingModePayPerRequest {
		t.Errorf("got %s", mode)
	}
}

const cloudFormation = `Table:
  Type: AWS::DynamoDB::Table
  Properties:
    TableName: logs
    BillingMode: PAY_PER_REQUEST
    AttributeDefinitions:
      - { AttributeName: pk, AttributeType: S }
      - { AttributeName: sk, AttributeType: N }
      - { AttributeName: user, AttributeType: S }
    KeySchema:
      - { AttributeName: pk, KeyType: HASH }
      - { AttributeName: sk, KeyType: RANGE }
    GlobalSecondaryIndexes:
      - IndexName: byUser
        Projection: { ProjectionType: ALL }
        KeySchema:
          - { AttributeName: user, KeyType: HASH }
          - { AttributeName: sk, KeyType: RANGE }
    TimeToLiveSpecification: { AttributeName: ttl, Enabled: true }
`

const terraform = `resource "aws_dynamodb_table" "logs" {
  name         = "logs"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"
  range_key    = "sk"

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "N"
  }

  attribute {
    name = "user"
    type = "S"
  }

  global_secondary_index {
    name            = "byUser"
    projection_type = "ALL"
    hash_key        = "user"
    range_key       = "sk"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }
}
`

func TestTemplates(t *testing.T) {
	if got := wanted.CloudFormation(); got != cloudFormation {
		t.Errorf("CloudFormation:\n%s", got)
	}
	if got := wanted.Terraform(); got != terraform {
		t.Errorf("Terraform:\n%s", got)
	}
}
