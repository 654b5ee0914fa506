package session_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

func TestOptionsNameEveryFault(t *testing.T) {
	client := local.Start(t).Client()
	bad := session.Options{
		Idle: time.Millisecond, MaxAge: -time.Hour, Shards: -1,
		Names: session.Names{ID: "x", User: "x", ListIndex: "i", UserIndex: "i"},
	}
	_, err := session.Open[cart](client, bad)
	for _, want := range []string{"Table is empty", "Idle is 1ms", "MaxAge is -1h0m0s", "Shards is -1", `two attributes are named "x"`, `both indexes are named "i"`} {
		if !errors.Is(err, session.ErrOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	if again := session.Setup(t.Context(), client, bad); again == nil || again.Error() != err.Error() {
		t.Errorf("Setup: got %v", again)
	}
	for _, options := range []session.Options{
		{Table: "t", TokenKeys: [][]byte{[]byte("short")}},
		{Table: "t", Retry: heatsink.Retry{Attempts: -1}},
		{Table: "t", Idle: 101 * 365 * 24 * time.Hour},
		{Table: "t", Shards: 1 << 20},
	} {
		if _, err := session.Open[cart](client, options); !errors.Is(err, session.ErrOptions) {
			t.Errorf("%+v: got %v", options, err)
		}
	}
	if _, err := session.Open[cart](nil, session.Options{Table: "t"}); !errors.Is(err, session.ErrOptions) {
		t.Errorf("no client: %v", err)
	}
	if err := session.Setup(t.Context(), nil, session.Options{Table: "t"}); !errors.Is(err, session.ErrOptions) {
		t.Errorf("Setup, no client: %v", err)
	}
}

// Setup creates the table or says what is wrong with the one that is there.
func TestSetupChecksTheTable(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "sessions", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	err := session.Setup(t.Context(), db.Client(), session.Options{Table: "sessions"})
	for _, want := range []string{"its key is (pk S, sk S), want (id S)", `it has no index "living"`, `it has no index "byUser"`} {
		if !errors.Is(err, session.ErrTable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	ttl, err := db.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("sessions")})
	if err != nil || ttl.TimeToLiveDescription.AttributeName != nil {
		t.Errorf("the table that was refused has a time to live: %+v, %v", ttl, err)
	}
	for range 2 {
		if err := session.Setup(t.Context(), db.Client(), session.Options{Table: "others"}); err != nil {
			t.Error(err)
		}
	}
}

// 000-21: everything works under other names, the time to live's among them.
func TestNames(t *testing.T) {
	client := local.Start(t).Client()
	sessions := open(t, client, session.Options{StrictRevocation: true, Names: session.Names{
		ID: "sessionId", List: "status", User: "userId", Expires: "size", TTL: "expiry", Until: "date", Created: "time", Idle: "ttl", Version: "name", Data: "values",
		ListIndex: "StatusIndex", UserIndex: "UserIndex",
	}})
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: new("sessions")})
	if err != nil || *ttl.TimeToLiveDescription.AttributeName != "expiry" {
		t.Errorf("time to live: %v, %v", ttl, err)
	}
	s := create(t, sessions, "ann", session.WithMaxAge(time.Hour))
	s, err = sessions.Change(t.Context(), s.ID, func(c *cart) error { c.Items++; return nil })
	if err != nil || s.Data.Items != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
	stale := s
	stale.Expires = stale.Expires.Add(-20 * time.Minute)
	if _, err := sessions.Touch(t.Context(), stale); err != nil {
		t.Error(err)
	}
	if s, err = sessions.Expire(t.Context(), s, time.Now().Add(time.Minute)); err != nil {
		t.Error(err)
	}
	if n, err := sessions.Count(t.Context()); n != 1 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	if n, err := sessions.RevokeUser(t.Context(), "ann"); n != 1 || err != nil {
		t.Errorf("revoked %d, %v", n, err)
	}
	stored, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: new("sessions")})
	if err != nil || len(stored.Items) != 2 {
		t.Fatalf("stored %v, %v, want what is left of the session, and the marker", stored, err)
	}
	for _, item := range stored.Items {
		if item["sessionId"] == nil || len(item) > 3 || item["values"] != nil || item["userId"] != nil {
			t.Errorf("left over: %v", item)
		}
	}
}

// The templates in the docs are those of the table that Setup creates.
func TestDocsHaveTheTable(t *testing.T) {
	text, err := os.ReadFile("../docs/recipes/session.md")
	if err != nil {
		t.Fatal(err)
	}
	table := session.Schema(session.Options{Table: "sessions"})
	for what, want := range map[string]string{
		"CloudFormation": "```yaml\n" + table.CloudFormation() + "```\n",
		"Terraform":      "```hcl\n" + table.Terraform() + "```\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("docs/recipes/session.md lacks the %s of the table:\n%s", what, want)
		}
	}
}
