package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// serveTable returns the address of an engine with the three patterns of a brand-protection table, and its client.
func serveTable(t *testing.T, before ...func(http.Handler) http.Handler) (endpoint string, client *dynamodb.Client) {
	t.Helper()
	db := local.Start(t)
	handler := db.Handler()
	for _, before := range before {
		handler = before(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client = db.Client()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("brands"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 120 {
		putBrand(t, client, "OPS_LOG", i)
		putBrand(t, client, fmt.Sprintf("THREAT#brand-%d", i%20), i)
	}
	return server.URL, client
}

func putBrand(t *testing.T, client *dynamodb.Client, pk string, i int) {
	t.Helper()
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("brands"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAuditByScan(t *testing.T) {
	endpoint, _ := serveTable(t)
	stdout, stderr, code := command(t, "audit", "brands", "--endpoint", endpoint)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		"brands by pk: 240 items (100%) under 21 keys", "OPS_LOG", "120 items  50.0%", "THREAT#brand-{n}",
		"warning  brands: Partition key OPS_LOG has a single value: hot by design", "findings: 1 warning",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "scan of brands: about 240 of 240 items") {
		t.Errorf("no cost beforehand in %q", stderr)
	}
	if _, stderr, code = command(t, "audit", "brands", "--endpoint", endpoint, "--fail-on", "warning"); code != 1 || !strings.Contains(stderr, "--fail-on warning: ") {
		t.Errorf("--fail-on warning: exit %d, %q", code, stderr)
	}
	if _, _, code = command(t, "audit", "brands", "--endpoint", endpoint, "--fail-on", "critical"); code != 0 {
		t.Errorf("--fail-on critical: exit %d", code)
	}
	if stdout, _, _ = command(t, "audit", "brands", "--endpoint", endpoint, "--exclude", "OPS_*"); !strings.Contains(stdout, "no findings") {
		t.Errorf("--exclude: %s", stdout)
	}
	if stdout, _, _ = command(t, "audit", "brands", "--endpoint", endpoint, "--hash-keys", "secret"); strings.Contains(stdout, "THREAT") {
		t.Errorf("--hash-keys: %s", stdout)
	}
}

func TestAuditJSON(t *testing.T) {
	endpoint, _ := serveTable(t)
	for _, source := range [][]string{nil, {"--stream", "--from-start"}} {
		stdout, stderr, code := command(t, append([]string{"audit", "brands", "--endpoint", endpoint, "--json"}, source...)...)
		var got auditDocument
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
			t.Fatalf("%v: exit %d, %v, %s", source, code, err, stderr)
		}
		if len(got.Reports) != 1 || len(got.Reports[0].Resources) != 1 || len(got.Findings) != 1 || got.Findings[0].Kind != heat.LowCardinality {
			t.Errorf("%v: got %+v", source, got)
		}
	}
}

// noAccount makes sure that no AWS account is known.
func noAccount(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
}

func TestAuditOfAnExportNeedsNoAccount(t *testing.T) {
	noAccount(t)
	dir := t.TempDir()
	var lines bytes.Buffer
	for i := range 150 {
		fmt.Fprintf(&lines, `{"Item":{"pk":{"S":"OPS_LOG"},"sk":{"S":"%d"},"status":{"S":"USER#%d"}}}`+"\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, "audit", "brands", "--export", filepath.Join(dir, "*.json"), "--key", "pk", "--key", "byStatus=status")
	if code != 0 || !strings.Contains(stdout, "OPS_LOG has a single value") || !strings.Contains(stdout, "brands/byStatus by status: 150 items (100%) under 150 keys") {
		t.Errorf("exit %d, %s\n%s", code, stderr, stdout)
	}
}

func TestAuditRefusesWhatIsWrong(t *testing.T) {
	noAccount(t)
	endpoint, _ := serveTable(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"audit"}, "no table given: use heatsink audit TABLE"},
		{[]string{"audit", "--export", "a.json", "--key", "pk"}, "no table given: use heatsink audit TABLE"},
		{[]string{"audit", "brands", "orders"}, `one table at a time: use heatsink audit brands without ["orders"]`},
		{[]string{"audit", "brands", "--follow", "1s"}, "heatsink: --follow does nothing without --stream\n"},
		{[]string{"audit", "brands", "--from-start"}, "--from-start does nothing without --stream"},
		{[]string{"audit", "brands", "--cloudwatch", "--shards", "4"}, "--shards does nothing without a source that lists keys"},
		{[]string{"audit", "brands", "--last", "1h"}, "--last does nothing without --cloudwatch, --insights or --stream"},
		{[]string{"audit", "brands", "--key", "pk"}, "--key does nothing without --export"},
		{[]string{"audit", "brands", "--stream", "--items", "5", "--max-rcu", "5"}, "--items does nothing without --scan; --max-rcu does nothing without --scan"},
		{[]string{"audit", "brands", "--items", "0"}, "--items 0: want at least 1, or -1 for all"},
		{[]string{"audit", "brands", "--max-rcu", "1e300"}, "--max-rcu 1e+300: want more than 0 and at most 1,000,000,000"},
		{[]string{"audit", "brands", "--max-rcu", "NaN"}, "--max-rcu NaN"},
		{[]string{"audit", "brands"}, "no AWS region"},
		{[]string{"audit", "brands", "--export", "missing.json", "--key", "pk", "--scan"}, "no AWS region"},
		{[]string{"audit", "brands", "--stream", "--follow", "-1s"}, "--follow -1s: want more than 0"},
		{[]string{"audit", "brands", "--endpoint", "127.0.0.1:18616"}, `--endpoint "127.0.0.1:18616" is not a URL: give one such as http://127.0.0.1:8000`},
		{[]string{"audit", "brands", "--endpoint", "localhost"}, `--endpoint "localhost" is not a URL`},
		{[]string{"audit", "brands", "--fail-on", "awful"}, `--fail-on: unknown severity "awful": it must be one of info, warning, critical`},
		{[]string{"audit", "brands", "--max-rcu", "0"}, "--max-rcu 0"},
		{[]string{"audit", "brands", "--exclude", "[", "--endpoint", endpoint}, "--exclude ["},
		{[]string{"audit", "nothing", "--endpoint", endpoint}, `heatsink: scan: table "nothing" not found at ` + endpoint + "\n"},
		{[]string{"audit", "brands", "--export", "missing.json", "--key", "pk"}, "missing.json: no such file"},
		{[]string{"audit", "brands", "--export", "missing.json"}, "--export needs --key NAME"},
		{[]string{"audit", "brands", "--export", "missing.json", "--key", "=x"}, "want NAME or INDEX=NAME"},
		{[]string{"top", "brands", "--every", "1ms"}, "--every 1ms: want at least 100ms"},
	} {
		if _, stderr, code := command(t, test.args...); code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: exit %d, %q, want %q", test.args, code, stderr, test.want)
		}
	}
}

// A table that is missing is said to be so with the place, and the reason is still there.
func TestMissingTableSaysWhere(t *testing.T) {
	cause := fmt.Errorf("describe: %w", &types.ResourceNotFoundException{})
	c := clients{tables: dynamodb.New(dynamodb.Options{Region: "eu-west-1"})}
	err := c.explain("ordres", cause)
	if missing := (*types.ResourceNotFoundException)(nil); err.Error() != `table "ordres" not found in eu-west-1` || !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
	if err := c.explain("ordres", io.EOF); err != io.EOF {
		t.Errorf("another error: got %v", err)
	}
}

// An export that is none, or has another key, is refused with file and line.
func TestAuditRefusesWhatIsNoExport(t *testing.T) {
	noAccount(t)
	for _, test := range []struct{ text, key, want string }{
		{`{"Item":{"pk":{"S":"a"}}}`, "nosuch", `, line 1: not an item of an export in DynamoDB JSON: the item has no attribute "nosuch"`},
		{"", "pk", "a.json: no items"},
		{`{"Keys":{"pk":{"S":"a"}}}`, "pk", "a.json: no items"},
		{"pk,sk\n", "pk", ", line 1: not an item of an export in DynamoDB JSON: invalid"},
	} {
		file := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := command(t, "audit", "brands", "--export", file, "--key", test.key)
		if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) || !strings.Contains(stderr, file) {
			t.Errorf("%q: exit %d, %q, %q", test.text, code, stdout, stderr)
		}
	}
}

// Contributor Insights that are off are not looked at, which is no good news.
func TestAuditOfInsightsThatAreOff(t *testing.T) {
	endpoint, _ := serveTable(t)
	stdout, stderr, code := command(t, "audit", "brands", "--endpoint", endpoint, "--insights")
	if code != 2 || strings.Contains(stdout, "no findings") || !strings.Contains(stderr, "insights: the table has Contributor Insights disabled: enable it") || !strings.Contains(stderr, "brands: disabled") {
		t.Errorf("alone: exit %d, %q, %q", code, stdout, stderr)
	}
	stdout, stderr, code = command(t, "audit", "brands", "--endpoint", endpoint, "--insights", "--scan")
	if code != 2 || !strings.Contains(stdout, "OPS_LOG has a single value") || !strings.Contains(stderr, "insights: the table has Contributor Insights disabled") {
		t.Errorf("beside a scan: exit %d, %q, %q", code, stdout, stderr)
	}
}

// Texts have no plural of one, and nothing of what a source cannot see.
func TestAuditTexts(t *testing.T) {
	now := time.Now()
	report := heat.Report{Source: heat.Stream, From: now.Add(-time.Minute), To: now}
	one := heat.Flow{Units: 1}
	for _, test := range []struct {
		source heat.Source
		flow   heat.Flow
		want   string
	}{
		{heat.Stream, one, "1 write unit in 1m (0.0/s)"},
		{heat.Live, one, "1 write unit in 1m (0.0/s), 0 throttled"},
		{heat.Live, heat.Flow{Units: 12345, Peak: 2000, Throttled: 1500}, "12,345 write units in 1m (205.8/s, peak 2,000/s), 1,500 throttled"},
	} {
		if report.Source = test.source; flowText(&test.flow, heat.Write, report) != test.want {
			t.Errorf("got %q, want %q", flowText(&test.flow, heat.Write, report), test.want)
		}
	}
	got := []string{
		between(1, 1), between(1, 1200), patternText(heat.Pattern{Items: 1}), keysText(heat.Distinct{Keys: 1}),
		countFindings([]heat.Finding{{Severity: heat.Warning}, {Severity: heat.Warning}, {Severity: heat.Critical}}),
	}
	if want := []string{"1 item", "1 to 1,200 items", "1 item", "1 key", "findings: 1 critical, 2 warnings"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// serveHot returns the address of an engine with physics and a table whose hottest key is throttled, listed by an index that
// has one key only. Contributor Insights is on.
func serveHot(t *testing.T) (endpoint string) {
	t.Helper()
	db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 50, Window: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db.Handler())
	t.Cleanup(func() { server.Close(); db.Close() })
	client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	text := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	}
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("brands"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{text("pk"), text("sk"), text("status")},
		KeySchema:            []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
			KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
		TableName: aws.String("brands"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
	}); err != nil {
		t.Fatal(err)
	}
	for i, accepted, refused := 0, 0, 0; accepted < 150 || refused < 100; i++ {
		item := map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "OPS_LOG"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
		}
		if i < 12 {
			item["pk"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("THREAT#brand-%d", i)}
			item["status"] = &types.AttributeValueMemberS{Value: "ACTIVE"}
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("brands"), Item: item}); err == nil {
			accepted++
		} else if throttled := (*types.ThrottlingException)(nil); errors.As(err, &throttled) {
			refused++
		} else {
			t.Fatal(err)
		}
	}
	return server.URL
}

// Five sources, each said beforehand and shown with its time, and one finding about the key that all of them show.
func TestAuditOfAllSources(t *testing.T) {
	endpoint := serveHot(t)
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(strings.Repeat(`{"Item":{"pk":{"S":"OPS_LOG"},"sk":{"S":"1"}}}`+"\n", 150)), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{
		"audit", "brands", "--endpoint", endpoint, "--stream", "--from-start", "--scan", "--insights", "--cloudwatch", "--last", "2h",
		"--export", file, "--key", "pk",
	}
	stdout, stderr, code := command(t, all...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	inOrder(t, stderr,
		"cloudwatch of brands: metrics of the last 2h, with GetMetricData", "insights of brands: keys of the last 2h", "export of brands: ",
		"scan of brands: about ", "stream of brands: all records that it still has")
	inOrder(t, stdout,
		"cloudwatch, 20", " to ", "insights, 20", "export, as of 20", "scan, as of 20", "stream, 20",
		"critical  brands: ", "OPS_LOG", "writes are throttled by key range", "cloudwatch: ", " requests throttled by key range")

	stdout, stderr, code = command(t, append(all, "--json", "--fail-on", "critical")...)
	var got auditDocument
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 1 || !strings.Contains(stderr, "heatsink: --fail-on critical: critical: brands: ") {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	var sources []heat.Source
	for _, r := range got.Reports {
		sources = append(sources, r.Source)
	}
	if want := []heat.Source{heat.CloudWatch, heat.Insights, heat.Export, heat.Scan, heat.Stream}; !slices.Equal(sources, want) {
		t.Errorf("reports of %v, want %v", sources, want)
	}
	if len(got.Findings) != 1 || got.Findings[0].Kind != heat.LowCardinality || got.Findings[0].Key != "OPS_LOG" {
		t.Fatalf("got %+v", got.Findings)
	}
	for _, source := range sources {
		if !strings.Contains(strings.Join(got.Findings[0].Evidence, "\n"), string(source)+": ") {
			t.Errorf("nothing from %s in %q", source, got.Findings[0].Evidence)
		}
	}

	if stdout, _, _ := command(t, append(all, "--json", "--hash-keys", "secret")...); strings.Contains(stdout, "OPS_LOG") || !strings.Contains(stdout, `"findings":[{`) {
		t.Errorf("--hash-keys: %s", stdout)
	}

	// A plan takes the rates of the stream, the throttles of Insights, and leaves the other reports alone.
	if err := os.WriteFile(file, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code = command(t, "plan", "--report", file, "--top", "1")
	if code != 0 || !strings.Contains(stdout, "OPS_LOG") || !strings.Contains(stdout, "throttle") {
		t.Errorf("plan: exit %d, %s\n%s", code, stderr, stdout)
	}
}

// inOrder checks that texts are there, one after the other.
func inOrder(t *testing.T, text string, wanted ...string) {
	t.Helper()
	rest := text
	for _, want := range wanted {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %q, or not there, in:\n%s", want, text)
		}
		rest = after
	}
}

// A source that fails does not keep the others from being looked at; the error names those that did.
func TestAuditGoesOnWithoutASource(t *testing.T) {
	endpoint, client := serveTable(t)
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("quiet"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, "audit", "quiet", "--endpoint", endpoint, "--scan", "--stream", "--json")
	var got auditDocument
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Reports) != 1 || got.Reports[0].Source != heat.Scan || got.Findings == nil {
		t.Errorf("got %s, %v", stdout, err)
	}
	if code != 2 || !strings.Contains(stderr, `heatsink: stream: table "quiet" has no stream`) {
		t.Errorf("exit %d, %s", code, stderr)
	}

	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(`{"Item":{"pk":{"S":"a"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code = command(t, "audit", "nothing", "--endpoint", endpoint, "--cloudwatch", "--insights", "--scan", "--stream", "--export", file, "--key", "pk")
	if code != 2 || !strings.Contains(stdout, "nothing by pk: 1 item (100%) under 1 key") {
		t.Errorf("exit %d, %s", code, stdout)
	}
	inOrder(t, stderr, "export of nothing: ", "heatsink: ", `cloudwatch: table "nothing" not found at http`, `insights: table "nothing"`, `scan: table "nothing"`, `stream: table "nothing"`)
	if stdout, _, code = command(t, "audit", "nothing", "--endpoint", endpoint, "--cloudwatch", "--scan", "--json"); code != 2 || stdout != "" {
		t.Errorf("of nothing at all: exit %d, %q", code, stdout)
	}
}

// The past of metrics is not how long a stream is followed, unless it is the stream alone that is asked for.
func TestAuditFollowsAStream(t *testing.T) {
	endpoint, _ := serveTable(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--stream"}, "followed for 1m;"},
		{[]string{"--stream", "--last", "3h"}, "followed for 3h;"},
		{[]string{"--stream", "--last", "3h", "--follow", "90s"}, "followed for 1m30s;"},
		{[]string{"--stream", "--cloudwatch", "--last", "3h"}, "followed for 1m;"},
		{[]string{"--stream", "--cloudwatch", "--last", "3h", "--follow", "2h"}, "followed for 2h;"},
		{[]string{"--stream", "--from-start", "--follow", "2h"}, "all records that it still has;"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		stderr := &cancelAt{text: "stream of", cancel: cancel}
		run(ctx, append([]string{"audit", "brands", "--endpoint", endpoint}, test.args...), io.Discard, stderr)
		if !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%v: %q, want %q", test.args, stderr.String(), test.want)
		}
	}
}

// cancelAt cancels when a text is written.
type cancelAt struct {
	bytes.Buffer
	text   string
	cancel func()
}

func (c *cancelAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.text) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// An audit that is interrupted before it has seen anything ends without a word.
func TestAuditInterrupted(t *testing.T) {
	endpoint, _ := serveTable(t)
	for _, at := range []string{"cloudwatch of", "stream of"} {
		ctx, cancel := context.WithCancel(t.Context())
		var stdout bytes.Buffer
		stderr := &cancelAt{text: at, cancel: cancel}
		code := run(ctx, []string{"audit", "brands", "--endpoint", endpoint, "--cloudwatch", "--scan", "--stream", "--follow", "1h"}, &stdout, stderr)
		if code != 2 || stdout.Len() > 0 || strings.Contains(stderr.String(), "heatsink: ") {
			t.Errorf("at %q: exit %d, %q, %q", at, code, stdout.String(), stderr.String())
		}
	}
}

// What is written while top looks is shown, in plain lines or as JSON.
func TestTop(t *testing.T) {
	t.Parallel()
	endpoint, client := serveTable(t)
	i := 0 // of the item: one that stays as it is leaves no record in a stream
	for _, asJSON := range []bool{false, true} {
		args := []string{"top", "brands", "--endpoint", endpoint, "--last", "4s", "--every", "500ms", "-n", "2"}
		if asJSON {
			args = append(args, "--json")
		}
		ended := make(chan string, 1)
		go func() {
			var out, err bytes.Buffer
			if code := run(t.Context(), args, &out, &err); code != 0 {
				t.Errorf("exit %d: %s", code, err.String())
			}
			ended <- out.String()
		}()
		out, running := "", true
		for ; running; i++ { // until it ends, as nobody knows when it begins
			putBrand(t, client, "PAGE#viral", i)
			select {
			case out = <-ended:
				running = false
			case <-time.After(10 * time.Millisecond):
			}
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if !asJSON {
			if !strings.Contains(out, "PAGE#viral") {
				t.Errorf("got %s", out)
			}
			continue
		}
		var last heat.Report
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(last.Resources) != 1 || last.Resources[0].Writes.Keys[0].Key != "PAGE#viral" {
			t.Errorf("got %+v, %v", last, err)
		}
	}
}

// What audit has seen of a stream, plan makes a plan of.
func TestPlanOfAReport(t *testing.T) {
	endpoint, client := serveTable(t)
	for i := range 60 {
		putBrand(t, client, "PAGE#viral", i)
	}
	stdout, _, _ := command(t, "audit", "brands", "--endpoint", endpoint, "--stream", "--from-start", "--json")
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, "plan", "--report", file, "--top", "2", "--json")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(lines) != 2 || !strings.Contains(lines[0], `"verdict"`) {
		t.Errorf("exit %d, %s, %s", code, stderr, stdout)
	}
	if _, stderr, code := command(t, "plan", "--report", file, "--writes", "5"); code != 2 || !strings.Contains(stderr, "leave --writes and --reads out") {
		t.Errorf("with --writes: exit %d, %s", code, stderr)
	}
	stdout, _, _ = command(t, "audit", "brands", "--endpoint", endpoint, "--json")
	if err := os.WriteFile(file, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "plan", "--report", file); code != 2 || !strings.Contains(stderr, "a report from scan has no rates of keys") {
		t.Errorf("of a scan: exit %d, %s", code, stderr)
	}
	if err := os.WriteFile(file, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "plan", "--report", file); code != 2 || !strings.Contains(stderr, "not a report") {
		t.Errorf("of something else: exit %d, %s", code, stderr)
	}
}

// An audit that is interrupted shows what it has seen, and says so.
func TestAuditInterruptedShowsWhatItSaw(t *testing.T) {
	t.Parallel()
	// The key is in one shard, of which records are asked for one page after another. At the second page the first was counted.
	var pages atomic.Int64
	endpoint, client := serveTable(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding") // so that answers can be read here
			answer := httptest.NewRecorder()
			engine.ServeHTTP(answer, r)
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetRecords") && strings.Contains(answer.Body.String(), "PAGE#viral") {
				pages.Add(1)
			}
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
		})
	})
	ctx, interrupt := context.WithCancel(t.Context())
	var out, errs output
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"audit", "brands", "--endpoint", endpoint, "--stream", "--follow", "10m"}, &out, &errs)
	}()
	for i := 0; ; i++ {
		putBrand(t, client, "PAGE#viral", i)
		if pages.Load() > 1 {
			interrupt()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if code := <-ended; code != 2 {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if got := out.String(); !strings.Contains(got, "PAGE#viral") || !strings.Contains(got, "note: interrupted") {
		t.Errorf("got %s\n%s", got, errs.String())
	}
}
