package schema_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
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
		"its key is (pk S, at S), want (pk S, sk N)",
		`the key of index "byUser" is (user B), want (user S, sk N)`,
		`its time to live is on attribute "expiry", want "ttl"`,
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

// ttl returns the attribute of the table's time to live, "" if it is off.
func ttl(t *testing.T, client heatsink.TableClient) string {
	t.Helper()
	out, err := client.DescribeTimeToLive(context.Background(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("logs")})
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(out.TimeToLiveDescription.AttributeName)
}

const (
	off   = `its time to live is disabled, want it on attribute "ttl"`
	turns = `aws dynamodb update-time-to-live --table-name logs --time-to-live-specification Enabled=true,AttributeName=ttl`
)

// A table that this call has not created is somebody's, however young: its time to live is not turned on for them.
func TestEnsureLeavesATableAlone(t *testing.T) {
	fits, other := wanted, wanted
	fits.TTL, other.TTL = "", ""
	other.Key.Sort = schema.String("at")
	for _, there := range []schema.Table{fits, other} {
		for _, age := range []time.Duration{0, 10 * time.Second, 59 * time.Second, time.Minute, time.Hour} {
			bubble.Test(t, func(t *testing.T) {
				client := local.Start(t).Client()
				if err := there.Ensure(t.Context(), client); err != nil {
					t.Fatal(err)
				}
				time.Sleep(age)
				for range 2 {
					begin := time.Now()
					err := wanted.Ensure(t.Context(), client)
					if !errors.Is(err, schema.ErrMismatch) || !strings.Contains(err.Error(), off) || !strings.Contains(err.Error(), turns) {
						t.Errorf("%v, age %v: got %v", there.Key, age, err)
					}
					if took := time.Since(begin); took > 12*time.Second {
						t.Errorf("%v, age %v: took %v", there.Key, age, took)
					}
					if attribute := ttl(t, client); attribute != "" {
						t.Fatalf("%v, age %v: the time to live is on, in %q", there.Key, age, attribute)
					}
				}
			})
		}
	}
}

// Who finds a table that another process has just created waits for that process to turn the time to live on.
func TestEnsureWaitsForWhoeverCreates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		without := wanted
		without.TTL = ""
		if err := without.Ensure(t.Context(), db.Client()); err != nil {
			t.Fatal(err)
		}
		var creator sync.WaitGroup
		creator.Go(func() {
			time.Sleep(8 * time.Second)
			_, err := db.Client().UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
				TableName:               aws.String("logs"),
				TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
			})
			if err != nil {
				t.Error(err)
			}
		})
		client := faulty.On(t, db.Client(), faulty.Script())
		if err := wanted.Ensure(t.Context(), client); err != nil {
			t.Error(err)
		}
		if n := client.Count("UpdateTimeToLive"); n != 0 {
			t.Errorf("got %d changes to a table of another process, want none", n)
		}
		creator.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wanted := wanted
		wanted.Name, without.Name = "others", "others"
		if err := without.Ensure(t.Context(), db.Client()); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := wanted.Ensure(ctx, client); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Second {
			t.Errorf("got %v after %v, want the end of the context", err, time.Since(begin))
		}
	})
}

// A call that creates the table and cannot turn its time to live on says so, and what to do. So does every later call.
func TestEnsureInterrupted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		client := faulty.On(t, db.Client(), faulty.Always(faulty.Throttled).Of("UpdateTimeToLive"))
		err := wanted.Ensure(t.Context(), client)
		if err == nil || !strings.Contains(err.Error(), `the table "logs" was created`) || !strings.Contains(err.Error(), turns) {
			t.Errorf("interrupted: got %v", err)
		}
		if err := wanted.Ensure(t.Context(), db.Client()); !errors.Is(err, schema.ErrMismatch) || !strings.Contains(err.Error(), turns) {
			t.Errorf("again: got %v", err)
		}
		if attribute := ttl(t, db.Client()); attribute != "" {
			t.Errorf("the time to live is on, in %q", attribute)
		}
	})
}

// A lost answer to UpdateTimeToLive is not taken for a failure.
func TestEnsureLosesAnAnswer(t *testing.T) {
	client := faulty.On(t, local.Start(t).Client(), faulty.Always(faulty.LostAnswer).Of("UpdateTimeToLive"))
	if err := wanted.Ensure(t.Context(), client); err != nil {
		t.Error(err)
	}
}

// A lagging client describes a new table late, as DynamoDB may: DescribeTable is eventually consistent.
type lagging struct {
	*dynamodb.Client
	created time.Time
	lag     time.Duration
	replace func() // runs once, when the table is described for the first time after it was created
}

func (l *lagging) CreateTable(ctx context.Context, input *dynamodb.CreateTableInput, options ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	l.created = time.Now()
	return l.Client.CreateTable(ctx, input, options...)
}

func (l *lagging) DescribeTable(ctx context.Context, input *dynamodb.DescribeTableInput, options ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	if time.Since(l.created) < l.lag {
		return nil, &types.ResourceNotFoundException{}
	}
	if l.replace != nil && !l.created.IsZero() {
		l.replace()
		l.replace = nil
	}
	return l.Client.DescribeTable(ctx, input, options...)
}

func TestEnsureBearsALateDescription(t *testing.T) {
	for lag, want := range map[time.Duration]string{3 * time.Second: "", time.Hour: "was deleted"} {
		bubble.Test(t, func(t *testing.T) {
			begin := time.Now()
			err := wanted.Ensure(t.Context(), &lagging{Client: local.Start(t).Client(), lag: lag})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("lag %v: got %v, want %q", lag, err, want)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("lag %v: took %v", lag, took)
			}
		})
	}
}

// If the table was deleted and created again by somebody else, the new one is theirs.
func TestEnsureLeavesAReplacedTableAlone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &lagging{Client: local.Start(t).Client()}
		client.replace = func() {
			if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("logs")}); err != nil {
				t.Error(err)
			}
			if _, err := client.Client.CreateTable(t.Context(), wanted.Input()); err != nil {
				t.Error(err)
			}
		}
		if err := wanted.Ensure(t.Context(), client); !errors.Is(err, schema.ErrMismatch) || !strings.Contains(err.Error(), off) {
			t.Errorf("got %v", err)
		}
		if attribute := ttl(t, client); attribute != "" {
			t.Errorf("the time to live is on, in %q", attribute)
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

func TestEnsureWithoutClient(t *testing.T) {
	err := wanted.Ensure(t.Context(), nil)
	if !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), "logs") {
		t.Errorf("got %v, want an ErrOptions that names the table", err)
	}
}
