package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/doctor"
	"github.com/heatsink-go/heatsink/internal/golden"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

var update = flag.Bool("update", false, "write golden files anew")

// sickTable is an engine on which faults are planted.
type sickTable struct {
	t        *testing.T
	client   *dynamodb.Client
	endpoint string
	before   func(w http.ResponseWriter, r *http.Request, operation string) (answered bool)
	date     func() string // of answers; nil: the server's own
	body     func(operation, body string) string
}

func newSickTable(t *testing.T, options local.Options) *sickTable {
	t.Helper()
	db, err := local.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := &sickTable{t: t, client: db.Client()}
	handler := db.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if p.date != nil {
			w.Header()["Date"] = []string{p.date()}
			if p.date() == "" {
				w.Header()["Date"] = nil
			}
		}
		switch {
		case p.before != nil && p.before(w, r, operation):
		case p.body != nil:
			recorded := httptest.NewRecorder()
			handler.ServeHTTP(recorded, r)
			w.WriteHeader(recorded.Code)
			fmt.Fprint(w, p.body(operation, recorded.Body.String()))
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	p.endpoint = server.URL
	return p
}

// create creates a table with the keys pk and sk.
func (p *sickTable) create(edit ...func(*dynamodb.CreateTableInput)) {
	p.t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}
	for _, edit := range edit {
		edit(in)
	}
	if _, err := p.client.CreateTable(p.t.Context(), in); err != nil {
		p.t.Fatal(err)
	}
}

// indexed adds a global index byStatus.
func indexed(in *dynamodb.CreateTableInput) {
	in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("status"), AttributeType: types.ScalarAttributeTypeS})
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
	}}
}

// warm warms the table, so that its capacity is no matter.
func warm(in *dynamodb.CreateTableInput) {
	in.WarmThroughput = &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(40_000), ReadUnitsPerSecond: aws.Int64(12_000)}
}

// put stores an item as it is.
func (p *sickTable) put(pk, sk string, more ...string) {
	p.t.Helper()
	item := heatsink.Item{"pk": str(pk), "sk": str(sk)}
	for i := 0; i < len(more); i += 2 {
		item[more[i]] = str(more[i+1])
	}
	if _, err := p.client.PutItem(p.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
		p.t.Fatal(err)
	}
}

// open opens a collection, and puts ten items into it.
func (p *sickTable) open(o heatsink.Options) *heatsink.Collection[heatsink.Item] {
	p.t.Helper()
	o.Table, o.PartitionKey, o.SortKey, o.Rand = "orders", "pk", "sk", rand.NewPCG(1, 1)
	c, err := heatsink.Open[heatsink.Item](p.client, o)
	if err != nil {
		p.t.Fatal(err)
	}
	for i := range 10 {
		if _, err := c.Put(p.t.Context(), heatsink.Item{"pk": str("NEW"), "sk": str(fmt.Sprintf("%04d", i)), "status": str("open")}); err != nil {
			p.t.Fatal(err)
		}
	}
	return c
}

// set changes an attribute of a stored item, whatever heatsink thinks of it.
func (p *sickTable) set(pk, sk, name string, value types.AttributeValue) {
	p.t.Helper()
	_, err := p.client.UpdateItem(p.t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("orders"), Key: heatsink.Item{"pk": str(pk), "sk": str(sk)},
		UpdateExpression: aws.String("SET #n = :v"), ExpressionAttributeNames: map[string]string{"#n": name},
		ExpressionAttributeValues: heatsink.Item{":v": value},
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// refuse answers operations with an error of DynamoDB; "" is all of them.
func (p *sickTable) refuse(code, message string, operations ...string) {
	p.before = func(w http.ResponseWriter, _ *http.Request, operation string) bool {
		for _, o := range operations {
			if o == operation || o == "" {
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"__type":"com.amazon.coral.service#%s","message":%q}`, code, message)
				return true
			}
		}
		return false
	}
}

// deny refuses operations as IAM does.
func (p *sickTable) deny(operations ...string) {
	p.refuse("AccessDeniedException", "User: arn:aws:iam::123456789012:user/ann is not authorized to perform this action on resource: "+
		"arn:aws:dynamodb:us-east-1:123456789012:table/orders because no identity-based policy allows it", operations...)
}

// shift sets the server's clock.
func (p *sickTable) shift(by time.Duration) {
	p.date = func() string { return time.Now().UTC().Add(by).Format(http.TimeFormat) }
}

// fixed4 is the recorded layout of most faults.
var fixed4 = heatsink.Options{Recorded: true, Layout: layout.Layout{Shards: 4}}

// plantedFault is something that is wrong, and what doctor has to say about it.
type plantedFault struct {
	name  string
	plant func(*sickTable)
	args  []string
	code  int
}

var unitsOf = regexp.MustCompile(`"CapacityUnits":[0-9.]+`)

var plantedFaults = []plantedFault{
	{name: "account", plant: func(p *sickTable) { p.create() }, args: []string{}},
	{name: "account without tables", plant: func(*sickTable) {}, args: []string{"--fail-on", "warning"}, code: 1},
	{name: "account that may not list tables", plant: func(p *sickTable) { p.deny("ListTables") }, args: []string{}, code: 2},
	{name: "healthy table without a record", plant: func(p *sickTable) { p.create(); p.put("CONFIG", "1") }},
	{name: "healthy collection", plant: func(p *sickTable) { p.create(warm); p.open(fixed4); p.put("CONFIG", "1") }, args: []string{"orders", "--fail-on", "warning"}},
	{name: "writes are allowed", plant: func(p *sickTable) { p.create() }, args: []string{"orders", "--try-writes", "--items", "0"}},

	{name: "no such table", plant: func(p *sickTable) {
		p.create(func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("Orders-prod") })
	}, code: 2},
	{name: "table is deleted", plant: func(p *sickTable) {
		p.create()
		p.body = func(operation, body string) string {
			return strings.ReplaceAll(body, `"TableStatus":"ACTIVE"`, `"TableStatus":"DELETING"`)
		}
	}, args: []string{"orders", "--fail-on", "problem"}, code: 2},
	{name: "table is changed", plant: func(p *sickTable) {
		p.create()
		p.body = func(operation, body string) string {
			return strings.ReplaceAll(body, `"TableStatus":"ACTIVE"`, `"TableStatus":"UPDATING"`)
		}
	}},
	{name: "not a DynamoDB", plant: func(p *sickTable) {
		p.before = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			fmt.Fprint(w, "<html>welcome</html>")
			return true
		}
	}, code: 2},
	{name: "server that answers every request with {}", plant: func(p *sickTable) {
		p.before = func(w http.ResponseWriter, _ *http.Request, _ string) bool { fmt.Fprint(w, "{}"); return true }
	}, code: 2},
	{name: "account of a server that answers every request with {}", plant: func(p *sickTable) {
		p.before = func(w http.ResponseWriter, _ *http.Request, _ string) bool { fmt.Fprint(w, "{}"); return true }
	}, args: []string{}, code: 2},
	{name: "server that answers every request with nothing", plant: func(p *sickTable) {
		p.before = func(http.ResponseWriter, *http.Request, string) bool { return true }
	}, code: 2},
	{name: "proxy that fails", plant: func(p *sickTable) {
		p.create()
		p.before = func(w http.ResponseWriter, _ *http.Request, operation string) bool {
			if operation == "Query" || operation == "BatchGetItem" {
				w.WriteHeader(http.StatusBadGateway)
				fmt.Fprint(w, `{"__type":"ProxyError","message":"no upstream"}`)
				return true
			}
			return false
		}
	}, code: 2},
	{name: "expired token", plant: func(p *sickTable) {
		p.refuse("ExpiredTokenException", "The security token included in the request is expired", "")
	}, code: 2},
	{name: "unknown access key", plant: func(p *sickTable) {
		p.refuse("UnrecognizedClientException", "The security token included in the request is invalid.", "")
	}, code: 2},
	{name: "wrong secret", plant: func(p *sickTable) {
		p.refuse("InvalidSignatureException", "The request signature we calculated does not match the signature you provided.", "")
	}, code: 2},
	{name: "time of signatures", plant: func(p *sickTable) {
		p.refuse("InvalidSignatureException", "Signature expired: 20260622T010000Z is now earlier than 20260622T014500Z", "")
	}, code: 2},
	{name: "clock is 3 minutes behind", plant: func(p *sickTable) { p.create(); p.shift(3 * time.Minute) }},
	{name: "clock is 20 minutes ahead", plant: func(p *sickTable) { p.create(); p.shift(-20 * time.Minute) }, args: []string{"orders", "--fail-on", "problem"}, code: 1},
	{name: "no date", plant: func(p *sickTable) { p.create(); p.date = func() string { return "" } }, code: 2},

	{name: "adaptive retries of the SDK", plant: func(p *sickTable) { p.t.Setenv("AWS_RETRY_MODE", "adaptive"); p.create() }, args: []string{}},
	{name: "one attempt", plant: func(p *sickTable) { p.t.Setenv("AWS_MAX_ATTEMPTS", "1"); p.create() }, args: []string{}},
	{name: "fifty attempts", plant: func(p *sickTable) { p.t.Setenv("AWS_MAX_ATTEMPTS", "50"); p.create() }, args: []string{}},

	{name: "DescribeTable denied", plant: func(p *sickTable) { p.create(); p.deny("DescribeTable") }, code: 2},
	{name: "GetItem denied", plant: func(p *sickTable) { p.create(); p.deny("GetItem") }, code: 2},
	{name: "Scan and what describes denied", plant: func(p *sickTable) {
		p.create()
		p.deny("Scan", "DescribeTimeToLive", "DescribeContinuousBackups")
	}, code: 2},
	{name: "writes denied", plant: func(p *sickTable) { p.create(); p.deny("PutItem", "UpdateItem") }, args: []string{"orders", "--try-writes", "--fail-on", "problem"}, code: 1},
	{name: "everything denied", plant: func(p *sickTable) { p.create(); p.deny("") }, code: 2},
	{name: "throttled", plant: func(p *sickTable) {
		p.create()
		p.refuse("ProvisionedThroughputExceededException", "The level of configured provisioned throughput for the table was exceeded.", "Scan", "GetItem")
	}, code: 2},

	{name: "description of the table throttled", plant: func(p *sickTable) {
		p.create()
		p.refuse("ThrottlingException", "Rate exceeded", "DescribeTable")
	}, code: 2},
	{name: "table without keys", plant: func(p *sickTable) {
		p.create()
		p.body = func(_, body string) string {
			return strings.ReplaceAll(body, `"KeySchema":[`, `"KeySchema":[],"Other":[`)
		}
	}, code: 2},
	{name: "table with two partition keys", plant: func(p *sickTable) {
		p.create()
		p.body = func(_, body string) string { return strings.ReplaceAll(body, `"RANGE"`, `"HASH"`) }
	}, code: 2},
	{name: "impossible units", plant: func(p *sickTable) {
		p.create(warm)
		p.open(fixed4)
		p.body = func(_, body string) string { return unitsOf.ReplaceAllString(body, `"CapacityUnits":"NaN"`) }
	}, code: 2},

	{name: "charter damaged", plant: func(p *sickTable) {
		p.create(warm)
		p.open(fixed4)
		p.set("_hs#C#table", "-", "_hs_widths", str("many"))
	}, code: 2},
	{name: "charter of a newer version", plant: func(p *sickTable) {
		p.create(warm)
		p.open(fixed4)
		p.set("_hs#C#table", "-", "_hs_v", &types.AttributeValueMemberN{Value: "9"})
	}, code: 2},
	{name: "charter with other keys", plant: func(p *sickTable) { p.create(warm); p.open(fixed4); p.set("_hs#C#table", "-", "_hs_sk", str("at")) }, code: 2},
	{name: "index is gone", plant: func(p *sickTable) {
		p.create(warm, indexed)
		p.open(heatsink.Options{Recorded: true, Name: "byStatus", Index: heatsink.Index{Name: "byStatus", PartitionKey: "status"}, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
		_, err := p.client.UpdateTable(p.t.Context(), &dynamodb.UpdateTableInput{
			TableName: aws.String("orders"), GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("byStatus")}}},
		})
		if err != nil {
			p.t.Fatal(err)
		}
		for { // it is removed in the background
			out, err := p.client.DescribeTable(p.t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
			if err != nil {
				p.t.Fatal(err)
			}
			if len(out.Table.GlobalSecondaryIndexes) == 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}, args: []string{"orders", "--name", "byStatus"}, code: 2},
	{name: "index with keys only, and few partitions", plant: func(p *sickTable) {
		p.create(indexed)
		p.open(heatsink.Options{Recorded: true, Index: heatsink.Index{Name: "byStatus", PartitionKey: "status"}, Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}})
	}},
	{name: "movable, on a server that does not check signatures", plant: func(p *sickTable) {
		p.create(warm)
		p.open(heatsink.Options{Movable: true, Layout: layout.Layout{Strategy: layout.Calculated}})
	}},
	{name: "record of a movable collection damaged", plant: func(p *sickTable) {
		p.create(warm)
		p.open(heatsink.Options{Movable: true, Layout: layout.Layout{Strategy: layout.Calculated}})
		p.set("_hs#P#table", "-", "_hs_st", str("flying"))
	}, code: 2},
	{name: "record of a movable collection lost", plant: func(p *sickTable) {
		p.create(warm)
		p.open(heatsink.Options{Movable: true, Layout: layout.Layout{Strategy: layout.Calculated}})
		p.set("_hs#C#table", "-", "_hs_needs", str(`["move","moved"]`))
		_, err := p.client.DeleteItem(p.t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: heatsink.Item{"pk": str("_hs#P#table"), "sk": str("-")}})
		if err != nil {
			p.t.Fatal(err)
		}
	}, code: 2},
	{name: "versions without a time to live", plant: func(p *sickTable) {
		p.create(warm)
		p.open(heatsink.Options{Recorded: true, Layout: layout.Layout{Shards: 4}, Version: "v", TTL: "ttl"})
	}},
	{name: "provisioned for less than a partition", plant: func(p *sickTable) {
		p.create(func(in *dynamodb.CreateTableInput) {
			in.BillingMode, in.ProvisionedThroughput = types.BillingModeProvisioned, &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(20), WriteCapacityUnits: aws.Int64(5)}
		})
		p.open(fixed4)
	}},

	{name: "shards beyond the width", plant: func(p *sickTable) {
		p.create(warm)
		p.open(fixed4)
		p.put("NEW#SHARD_7", "late")
		p.put("NEW#SHARD_4", "late")
	}, args: []string{"orders", "--fail-on", "problem"}, code: 1},
	{name: "the same, with hashed keys", plant: func(p *sickTable) {
		p.create(warm)
		p.open(fixed4)
		p.put("NEW#SHARD_7", "late")
	}, args: []string{"orders", "--hash-keys", "secret"}},
	{name: "bare keys and lookalikes", plant: func(p *sickTable) {
		p.create(warm)
		p.open(fixed4)
		p.put("NEW", "old")
		p.put("NEW#SHARD#2", "other")
	}},
	{name: "wrong shard", plant: func(p *sickTable) {
		p.create(warm)
		p.open(heatsink.Options{Recorded: true, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
		for shard := range 4 {
			p.put(fmt.Sprintf("NEW#SHARD_%d", shard), "a")
		}
	}},
	{name: "calculated shards beyond the width", plant: func(p *sickTable) {
		p.create(warm)
		p.open(heatsink.Options{Recorded: true, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
		p.put("NEW#SHARD_5", "late")
	}},
	{name: "calculated shards of an index", plant: func(p *sickTable) {
		p.create(warm, indexed, func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].WarmThroughput = in.WarmThroughput })
		p.open(heatsink.Options{Recorded: true, Index: heatsink.Index{Name: "byStatus", PartitionKey: "status"}, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
		p.put("A", "late", "status", "open#SHARD_5")
		for shard := range 4 {
			p.put("B", fmt.Sprint(shard), "status", fmt.Sprintf("open#SHARD_%d", shard))
		}
	}},
	{name: "adaptive, beyond the ledger", plant: func(p *sickTable) {
		p.create(warm)
		c := p.open(heatsink.Options{Adaptive: &heatsink.Adaptive{}})
		if _, err := c.Ledgers().Grow(p.t.Context(), "NEW", time.Time{}, 4, "by hand"); err != nil {
			p.t.Fatal(err)
		}
		p.put("NEW#SHARD_3", "fine")
		p.put("NEW#SHARD_6", "late")
		p.put("OLD#SHARD_1", "late")
	}},
	{name: "adaptive, ledger damaged", plant: func(p *sickTable) {
		p.create(warm)
		c := p.open(heatsink.Options{Adaptive: &heatsink.Adaptive{}})
		if _, err := c.Ledgers().Grow(p.t.Context(), "NEW", time.Time{}, 4, "by hand"); err != nil {
			p.t.Fatal(err)
		}
		p.set("_hs#L#table##NEW", "-", "_hs_r", str("wide"))
	}},
	{name: "strange control items", plant: func(p *sickTable) {
		p.create(warm)
		p.open(fixed4)
		p.put("_hs#mine", "1")
		p.put("_hs#L#gone##NEW", "-")
		other := fixed4
		other.Name = "second"
		p.open(other)
	}},
	{name: "pages without items, for ever", plant: func(p *sickTable) {
		p.create()
		pages := 0
		p.before = func(w http.ResponseWriter, _ *http.Request, operation string) bool {
			if operation != "Scan" {
				return false
			}
			pages++
			fmt.Fprintf(w, `{"Items":[],"Count":0,"ScannedCount":0,"LastEvaluatedKey":{"pk":{"S":"%d"},"sk":{"S":"x"}}}`, pages)
			return true
		}
	}, code: 2},
	{name: "the same page, for ever", plant: func(p *sickTable) {
		p.create()
		p.before = func(w http.ResponseWriter, _ *http.Request, operation string) bool {
			if operation != "Scan" {
				return false
			}
			fmt.Fprint(w, `{"Items":[{"pk":{"S":"A"},"sk":{"S":"x"}}],"Count":1,"ScannedCount":1,"LastEvaluatedKey":{"pk":{"S":"A"},"sk":{"S":"x"}}}`)
			return true
		}
	}, args: []string{"orders", "--items", "-1"}, code: 2},
	{name: "shards without a record", plant: func(p *sickTable) { p.create(); p.put("NEW#SHARD_1", "1"); p.put("NEW#SHARD_2", "1") }, code: 2},
	{name: "shards without a record, told", plant: func(p *sickTable) { p.create(warm); p.put("NEW#SHARD_1", "1"); p.put("NEW#SHARD_2", "1") }, args: []string{"orders", "--shards", "2"}},
	{name: "told of an index that is not there", plant: func(p *sickTable) {
		p.create(warm, indexed)
		p.put("A", "1", "status", "NEW#SHARD_1")
	}, args: []string{"orders", "--shards", "2", "--layout", "byState={key}#SHARD_{shard}"}, code: 2},
	{name: "healthy, told of an index that lists nothing", plant: func(p *sickTable) { p.create(warm, indexed); p.put("A", "1") }, args: []string{"orders", "--shards", "2", "--layout", "byStatus={key}#SHARD_{shard}"}},
}

// What doctor prints about faults of all kinds, planted into a real engine. Look at the file as its readers would. Where something is
// wrong, it has only that.
func TestDoctorOnFaults(t *testing.T) {
	var all strings.Builder
	for _, f := range plantedFaults {
		t.Run(f.name, func(t *testing.T) {
			p := newSickTable(t, local.Options{})
			f.plant(p)
			args := f.args
			if args == nil {
				args = []string{"orders"}
			}
			stdout, stderr, code := command(t, append([]string{"doctor", "--endpoint", p.endpoint}, args...)...)
			if code != f.code {
				t.Errorf("exit %d, want %d: %s", code, f.code, stderr)
			}
			if !strings.HasPrefix(f.name, "account") && !strings.HasPrefix(f.name, "healthy") {
				stdout = regexp.MustCompile(`(?m)^ok .*\n`).ReplaceAllString(stdout, "")
			}
			text := fmt.Sprintf("== %s: heatsink doctor %s\n%s%sexit %d\n\n", f.name, strings.Join(args, " "), stdout, stderr, code)
			text = regexp.MustCompile(`of [0-9.,]+ (KB|bytes?)`).ReplaceAllString(text, "of … KB") // a charter names its writer
			all.WriteString(strings.ReplaceAll(text, p.endpoint, "http://engine"))
		})
	}
	golden.Text(t, filepath.Join("testdata", "doctor.txt"), all.String(), *update)
}

// Whoever interrupts doctor sees what it has found, and which checks were not made.
func TestDoctorInterrupted(t *testing.T) {
	for _, at := range []string{"DescribeTable", "GetItem", "DescribeTimeToLive", "Scan"} {
		t.Run(at, func(t *testing.T) {
			p := newSickTable(t, local.Options{})
			p.create()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.before = func(_ http.ResponseWriter, r *http.Request, operation string) bool {
				if operation != at {
					return false
				}
				_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
				cancel()
				<-r.Context().Done()
				return true
			}
			var stdout, stderr bytes.Buffer
			code := run(ctx, []string{"doctor", "orders", "--endpoint", p.endpoint, "--json"}, &stdout, &stderr)
			var report doctor.Report
			if err := json.Unmarshal(stdout.Bytes(), &report); err != nil || code != 2 {
				t.Fatalf("exit %d, %v, %s, %s", code, err, &stdout, &stderr)
			}
			if report.Count(doctor.Problem) > 0 || !strings.Contains(stdout.String(), `"check":"items","outcome":"unknown"`) || !strings.Contains(stdout.String(), "the examination was interrupted") {
				t.Errorf("got %s", &stdout)
			}
		})
	}
}

func TestDoctorOfTableBeingCreated(t *testing.T) {
	p := newSickTable(t, local.Options{StatusDelay: time.Hour})
	p.create()
	stdout, stderr, code := command(t, "doctor", "orders", "--endpoint", p.endpoint, "--fail-on", "problem")
	if code != 2 || !strings.Contains(stdout, "table orders is being created") || !strings.Contains(stdout, "wait table-exists") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
}

func TestDoctorWithoutServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	stdout, _, code := command(t, "doctor", "orders", "--endpoint", server.URL)
	if code != 2 || !strings.Contains(stdout, "does not answer: ") || !strings.Contains(stdout, "unknown  table, record, schema, ttl, stream, recovery, capacity, items  not checked: the endpoint does not answer") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

// withoutAccount hides what the machine has for AWS.
func withoutAccount(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
}

func TestDoctorWithoutSettings(t *testing.T) {
	withoutAccount(t)
	stdout, _, code := command(t, "doctor", "orders")
	if code != 2 || !strings.Contains(stdout, "problem  credentials  the settings cannot be used: no AWS region") {
		t.Errorf("exit %d, %s", code, stdout)
	}
	stdout, _, code = command(t, "doctor", "orders", "--region", "eu-west-1")
	if code != 2 || !strings.Contains(stdout, "problem  credentials  no credentials: ") || !strings.Contains(stdout, "→ set AWS_PROFILE") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

func TestDoctorJSON(t *testing.T) {
	p := newSickTable(t, local.Options{})
	p.create(warm)
	p.open(fixed4)
	for i := range 300 {
		p.put(fmt.Sprintf("CUSTOMER#%d", i), "1")
	}
	p.put("NEW#SHARD_4", "late")
	stdout, stderr, code := command(t, "doctor", "orders", "--endpoint", p.endpoint, "--json", "--items", "50")
	var report doctor.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 || stderr != "" {
		t.Fatalf("exit %d, %v, %s, %s", code, err, stdout, stderr)
	}
	if s := report.Sample; s == nil || s.Items > 60 || s.Items == 0 || s.Of != 312 || s.Fraction != float64(s.Items)/312 || s.Units <= 0 {
		t.Errorf("got %+v", s)
	}
	if report.Table != "orders" || report.Endpoint != p.endpoint || report.Region != "us-east-1" {
		t.Errorf("got %+v", report)
	}
}

// doctor says before what the sample costs, where it is read at a rate that somebody chose. A local engine is read without waiting.
func TestDoctorAnnouncesCost(t *testing.T) {
	p := newSickTable(t, local.Options{})
	p.create(warm)
	p.open(fixed4)
	for i := range 300 {
		p.put(fmt.Sprintf("CUSTOMER#%d", i), "1", "text", strings.Repeat("x", 8000))
	}
	const want = "items: about 311 of 311 items, 3"
	_, stderr, code := command(t, "doctor", "orders", "--endpoint", p.endpoint, "--max-rcu", "5000", "--json")
	if code != 0 || !strings.HasPrefix(stderr, want) || !strings.HasSuffix(stderr, " read units, 0s, at up to 5,000 units per second\n") {
		t.Errorf("exit %d, got %q, want %q", code, stderr, want)
	}
	began := time.Now()
	if _, stderr, code := command(t, "doctor", "orders", "--endpoint", p.endpoint); code != 0 || stderr != "" || time.Since(began) > 2*time.Second {
		t.Errorf("exit %d, after %v, %q", code, time.Since(began), stderr)
	}
}

// A table that is examined has the same items afterwards, also if writes were tried, and no write was sent if not.
func TestDoctorChangesNothing(t *testing.T) {
	p := newSickTable(t, local.Options{})
	p.create()
	p.open(heatsink.Options{Adaptive: &heatsink.Adaptive{}})
	var writes []string
	p.before = func(_ http.ResponseWriter, _ *http.Request, operation string) bool {
		switch operation {
		case "DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups", "GetItem", "BatchGetItem", "Query", "Scan":
		default:
			writes = append(writes, operation)
		}
		return false
	}
	before := p.all()
	for _, args := range [][]string{{"doctor", "orders"}, {"doctor", "orders", "--try-writes"}} {
		if _, stderr, code := command(t, append(args, "--endpoint", p.endpoint)...); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if len(args) == 2 && len(writes) > 0 {
			t.Errorf("sent %q", writes)
		}
	}
	if got := strings.Join(writes, " "); got != "PutItem UpdateItem DeleteItem" {
		t.Errorf("sent %q", got)
	}
	if after := p.all(); after != before {
		t.Errorf("got %s, want %s", after, before)
	}
}

// all returns all items as text.
func (p *sickTable) all() string {
	p.t.Helper()
	out, err := p.client.Scan(p.t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := json.Marshal(out.Items)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func TestDoctorMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "b"}, "one table at a time"},
		{[]string{"orders", "--fail-on", "critical"}, `--fail-on "critical": want warning or problem`},
		{[]string{"orders", "--max-rcu", "0"}, "--max-rcu 0: want more than 0"},
		{[]string{"orders", "--endpoint", "127.0.0.1"}, "is not a URL"},
		{[]string{"orders", "--hash-keys", ""}, "want a secret that is not empty"},
		{[]string{"orders", "--unsharded"}, "--unsharded does nothing without --shards"},
		{[]string{"--items", "5"}, "--items does nothing without a table"},
		{[]string{"orders", "--shards", "4", "--layout", "{key}#{bucket}#{shard}"}, "has buckets"},
		{[]string{"orders", "--shards", "0"}, "--shards 0"},
	} {
		if stdout, stderr, code := command(t, append([]string{"doctor"}, c.args...)...); code != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %q, %q, want %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

// docs/doctor.md names every check and every flag. What it shows is compared with a run by internal/docs.
func TestDoctorDocument(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "doctor.md"))
	if err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(filepath.Join("testdata", "doctor.txt"))
	if err != nil {
		t.Fatal(err)
	}
	newDoctor().Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "region", "profile", "seed", "unsharded": // as everywhere
		default:
			if !strings.Contains(string(document), "--"+f.Name) {
				t.Errorf("docs/doctor.md does not name --%s", f.Name)
			}
		}
	})
	for line := range strings.SplitSeq(string(printed), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && (fields[0] == "ok" || fields[0] == "problem") && !strings.Contains(string(document), "| "+fields[1]+" |") {
			t.Errorf("docs/doctor.md does not name the check %s", fields[1])
		}
	}
}
