package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// serveTable returns the address of an engine with the three patterns of a brand-protection table, and its client.
func serveTable(t *testing.T) (endpoint string, client *dynamodb.Client) {
	t.Helper()
	db := local.Start(t)
	server := httptest.NewServer(db.Handler())
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
		var got struct {
			Report   heat.Report
			Findings []heat.Finding
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
			t.Fatalf("%v: exit %d, %v, %s", source, code, err, stderr)
		}
		if len(got.Report.Resources) != 1 || len(got.Findings) != 1 || got.Findings[0].Kind != heat.LowCardinality {
			t.Errorf("%v: got %+v", source, got)
		}
	}
}

func TestAuditOfAnExport(t *testing.T) {
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
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	endpoint, _ := serveTable(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"audit"}, "accepts 1 arg(s), received 0"},
		{[]string{"audit", "brands"}, "no AWS region"},
		{[]string{"audit", "brands", "--stream", "--cloudwatch"}, "exclude each other"},
		{[]string{"audit", "brands", "--fail-on", "awful"}, `--fail-on: unknown severity "awful"`},
		{[]string{"audit", "brands", "--max-rcu", "0"}, "--max-rcu 0"},
		{[]string{"audit", "brands", "--exclude", "[", "--endpoint", endpoint}, "--exclude ["},
		{[]string{"audit", "nothing", "--endpoint", endpoint}, `describe table "nothing"`},
		{[]string{"audit", "brands", "--export", "missing.json", "--key", "pk"}, "missing.json: no such file"},
		{[]string{"audit", "brands", "--export", "missing.json"}, "--export needs --key NAME"},
		{[]string{"audit", "brands", "--export", "missing.json", "--key", "=x"}, "NAME or INDEX=NAME is expected"},
		{[]string{"top", "brands", "--every", "1ms"}, "--every is 100ms at least"},
	} {
		if _, stderr, code := command(t, test.args...); code != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: exit %d, %q, want %q", test.args, code, stderr, test.want)
		}
	}
}

// What is written while top looks is shown, in plain lines or as JSON.
func TestTop(t *testing.T) {
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
		out := ""
		for ; out == ""; i++ { // until it ends, as nobody knows when it begins
			putBrand(t, client, "PAGE#viral", i)
			select {
			case out = <-ended:
			case <-time.After(10 * time.Millisecond):
			}
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if !asJSON {
			if !strings.Contains(out, "PAGE#viral") || !strings.Contains(out, "writes seen") {
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
	if _, stderr, code := command(t, "plan", "--report", file, "--writes", "5"); code != 1 || !strings.Contains(stderr, "do not go with it") {
		t.Errorf("with --writes: exit %d, %s", code, stderr)
	}
	stdout, _, _ = command(t, "audit", "brands", "--endpoint", endpoint, "--json")
	if err := os.WriteFile(file, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "plan", "--report", file); code != 1 || !strings.Contains(stderr, "a report from scan has no rates of keys") {
		t.Errorf("of a scan: exit %d, %s", code, stderr)
	}
	if err := os.WriteFile(file, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "plan", "--report", file); code != 1 || !strings.Contains(stderr, "not a report") {
		t.Errorf("of something else: exit %d, %s", code, stderr)
	}
}
