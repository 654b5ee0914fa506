package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local/partitions"
)

// ask sends a request that no SDK would, and returns status and body.
func ask(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	status, _, body = askFor(t, method, url, "")
	return status, body
}

// askFor is ask of a client that accepts a type, and returns the type of the body as well.
func askFor(t *testing.T, method, url, accept string) (status int, kind, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Content-Type"), string(text)
}

func putThing(ctx context.Context, c *dynamodb.Client, id, pad string) error {
	_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("things"), Item: map[string]types.AttributeValue{
		"id": &types.AttributeValueMemberS{Value: id}, "pad": &types.AttributeValueMemberS{Value: pad},
	}})
	return err
}

// On a port, too, a hot key is refused with reasons that the SDK decodes, and
// anybody can see which partition it was.
func TestServePhysics(t *testing.T) {
	t.Parallel()
	s := serve(t, "--physics", "--partition-writes", "5", "--partitions", "2")
	if !strings.Contains(s.banner, "with partitions that throttle") {
		t.Errorf("got banner %s", s.banner)
	}
	c := client(s.url, "local", "local")
	if err := createTable(t.Context(), c, "things"); err != nil {
		t.Fatal(err)
	}
	// The first write is owed for 20 seconds: what follows is refused, however
	// slow this machine is.
	if err := putThing(t.Context(), c, "hot", strings.Repeat("x", 100<<10)); err != nil {
		t.Fatal(err)
	}
	err := putThing(t.Context(), c, "hot", "")
	var throttle *types.ThrottlingException
	if !errors.As(err, &throttle) {
		t.Fatalf("got %v, want a ThrottlingException", err)
	}
	if len(throttle.ThrottlingReasons) != 1 || *throttle.ThrottlingReasons[0].Reason != "TableWriteKeyRangeThroughputExceeded" ||
		*throttle.ThrottlingReasons[0].Resource != "arn:aws:dynamodb:us-east-1:000000000000:table/things" {
		t.Errorf("got reasons %+v", throttle.ThrottlingReasons)
	}

	status, body := ask(t, http.MethodGet, s.url+"/partitions?table=things&last=5m")
	var heat []partitions.Heat
	if err := json.Unmarshal([]byte(body), &heat); err != nil || status != http.StatusOK {
		t.Fatalf("got %d %s: %v", status, body, err)
	}
	if len(heat) != 1 || heat[0].Table != "things" || len(heat[0].Partitions) != 2 {
		t.Fatalf("got %+v, want the table with two partitions", heat)
	}
	hot := 0
	for _, p := range heat[0].Partitions {
		written, refused := 0.0, 0.0
		for _, second := range p.Seconds {
			written += second.WriteUnits
			refused += second.WriteThrottled
		}
		if p.WriteTokens < 0 && written == 101 && refused > 0 {
			hot++
		}
	}
	if hot != 1 {
		t.Errorf("got %+v, want one partition that owes and refuses", heat[0].Partitions)
	}
	events := 0.0
	for _, m := range heat[0].Minutes {
		events += m.Metrics["WriteKeyRangeThroughputThrottleEvents"]
	}
	if events != 1 {
		t.Errorf("got %v throttle events, want 1", events)
	}

	// Whoever judges by the report knows how much a partition serves, and how many there are.
	_, body = ask(t, http.MethodGet, s.url+"/heat?table=things")
	for _, want := range []string{`"limits":{"writeUnits":5}`, `"partitions":2`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}

	for _, q := range []struct {
		method, query string
		want          int
	}{
		{http.MethodGet, "", http.StatusOK},
		{http.MethodGet, "?table=ghost", http.StatusNotFound},
		{http.MethodGet, "?last=soon", http.StatusBadRequest},
		{http.MethodPost, "", http.StatusMethodNotAllowed},
	} {
		if status, body := ask(t, q.method, s.url+"/partitions"+q.query); status != q.want {
			t.Errorf("%s /partitions%s: got %d %s, want %d", q.method, q.query, status, body, q.want)
		}
	}
}

// Who must not look without credentials cannot, and without physics there is
// nothing to see.
func TestServePartitionsNotForEverybody(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"credentials":     {"--physics", "--access-key", testKey, "--secret-key", testSecret},
		"without physics": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, args...)
			status, body := ask(t, http.MethodGet, s.url+"/partitions")
			if status < 400 || strings.HasPrefix(body, "[") {
				t.Errorf("got %d %s, want a refusal", status, body)
			}
		})
	}
}

func TestServePhysicsMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--physics", "--partition-writes", "-5"}, "heatsink: --partition-writes is -5, must not be negative\n"},
		{[]string{"--physics", "--partition-reads", "-1"}, "heatsink: --partition-reads is -1, must not be negative\n"},
		{[]string{"--physics", "--partitions", "-2"}, "heatsink: --partitions is -2, must be between 0 and 65536\n"},
		{[]string{"--physics", "--split-hold", "-3m"}, "heatsink: --split-hold is -3m0s, must be between 0 and 876000h0m0s\n"},
		{[]string{"--physics", "--split-duration", "2000000h", "--partitions", "-1"}, "heatsink: --split-duration is 2000000h0m0s, must not be more than 876000h0m0s; --partitions is -1, "},
		{[]string{"--physics", "--partition-writes", "many"}, "--partition-writes"},
		{[]string{"--physics", "--split-hold", "3"}, "--split-hold"},
		{[]string{"--partition-writes", "5"}, "--partition-writes does nothing without --physics"},
		{[]string{"--partition-reads", "5"}, "--partition-reads does nothing without --physics"},
		{[]string{"--partitions", "5"}, "--partitions does nothing without --physics"},
		{[]string{"--split-hold", "5m"}, "--split-hold does nothing without --physics"},
		{[]string{"--physics=false", "--split-duration", "5m"}, "--split-duration does nothing without --physics"},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		args := append([]string{"serve", "--addr", "127.0.0.1:0", "--data", dir}, c.args...)
		stdout, stderr, code := command(t, args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, stdout %q, stderr %q; want %q", c.args, code, stdout, stderr, c.want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: the directory was made all the same: %v", c.args, err)
		}
	}
}
