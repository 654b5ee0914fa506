package main

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

// serveItems returns the address of an engine with a table "brands" and so many items of each key.
func serveItems(t *testing.T, items map[string]int) (endpoint string) {
	t.Helper()
	db := local.Start(t)
	server := httptest.NewServer(db.Handler())
	t.Cleanup(server.Close)
	if err := db.CreateTable(t.Context(), "brands", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	var batch []types.WriteRequest
	flush := func() {
		if len(batch) > 0 {
			if _, err := db.Client().BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"brands": batch}}); err != nil {
				t.Fatal(err)
			}
		}
		batch = nil
	}
	for pk, n := range items {
		for i := range n {
			batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
			}}})
			if len(batch) == 25 {
				flush()
			}
		}
	}
	flush()
	return server.URL
}

// 001: the three hot spots are found among brands as people write them, with 13 and with 41 of them.
func TestAuditOfBrandsAsPeopleWriteThem(t *testing.T) {
	for _, brands := range []int{13, 41} {
		items := map[string]int{"OPS_LOG": 250, "BRAND_INDEX": 150, "THREAT#brand-abc-123": 210}
		for i := range brands - 1 {
			items[fmt.Sprintf("THREAT#brand-%c%cz-%d", 'a'+i%26, 'm'+i/26, 100+37*i%900)] = 5 + i%3
		}
		stdout, stderr, code := command(t, "audit", "brands", "--endpoint", serveItems(t, items))
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		for _, want := range []string{
			fmt.Sprintf("THREAT#{id}  %d keys", brands),
			"warning  brands: Partition key OPS_LOG has a single value: hot by design",
			"warning  brands: Partition key BRAND_INDEX has a single value: hot by design",
			"warning  brands: Partition key 'THREAT#brand-abc-123' holds ", "findings: 3 warnings",
		} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%d brands: no %q in:\n%s", brands, want, stdout)
			}
		}
	}
}

// A small table hears that it is too small to tell, and by which flag; the flags of the rules are used.
func TestAuditOfASmallTable(t *testing.T) {
	endpoint := serveItems(t, map[string]int{"OPS_LOG": 20, "USER#1": 1, "USER#2": 1})
	stdout, _, code := command(t, "audit", "brands", "--endpoint", endpoint)
	const small = "note: brands is too small to tell: findings about stored items need 100 items, and it has 22; --min-items changes that"
	if code != 0 || !strings.Contains(stdout, small) || !strings.Contains(stdout, "no findings") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	stdout, _, _ = command(t, "audit", "brands", "--endpoint", endpoint, "--min-items", "10")
	if strings.Contains(stdout, "too small") || !strings.Contains(stdout, "Partition key OPS_LOG has a single value") {
		t.Errorf("--min-items 10: %s", stdout)
	}
	uneven := serveItems(t, map[string]int{"STATUS#ACTIVE": 850, "STATUS#BANNED": 100, "STATUS#NEW": 50})
	stdout, _, _ = command(t, "audit", "brands", "--endpoint", uneven)
	if !strings.Contains(stdout, "Partition key 'STATUS#ACTIVE' holds 85% of the items with a value of STATUS") ||
		!strings.Contains(stdout, "STATUS has 3 values: ACTIVE 85.0%, BANNED 10.0%, NEW 5.0%") || !strings.Contains(stdout, "findings: 1 warning") {
		t.Errorf("a set: %s", stdout)
	}
	if stdout, _, _ = command(t, "audit", "brands", "--endpoint", uneven, "--excess", "0.9"); !strings.Contains(stdout, "no findings") {
		t.Errorf("--excess 0.9: %s", stdout)
	}
}

// Of a large table audit reads random segments, says so, and how likely a key is among them.
func TestAuditSamples(t *testing.T) {
	items := make(map[string]int)
	for i := range 3000 {
		items[fmt.Sprintf("USER#%d", i)] = 1
	}
	endpoint := serveItems(t, items)
	stdout, stderr, code := command(t, "audit", "brands", "--endpoint", endpoint, "--items", "600", "--max-rcu", "100000", "--seed", "7")
	if code != 0 || !strings.Contains(stdout, "(seed 7); any one key is in it with a probability of ") || !strings.Contains(stdout, "with a probability of 95 %") {
		t.Errorf("exit %d, %s: %s", code, stderr, stdout)
	}
}

// Rules that cannot be are refused with what was given, and flags that do nothing are named.
func TestAuditRefusesRules(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--warm", "0"}, "--warm 0: want more than 0 and at most 1"},
		{[]string{"--hot", "1.5"}, "--hot 1.5: want more than 0 and at most 1"},
		{[]string{"--excess", "NaN"}, "--excess NaN: want more than 0 and at most 1"},
		{[]string{"--warm", "0.9", "--hot", "0.5"}, "--warm 0.9 is above --hot 0.5: want it to be lower"},
		{[]string{"--min-items", "0"}, "--min-items 0: want at least 1"},
		{[]string{"--min-requests", "-1"}, "--min-requests -1: want at least 1"},
		{[]string{"--min-requests", "50"}, "--min-requests does nothing without --engine, --insights or --stream"},
		{[]string{"--cloudwatch", "--seed", "3"}, "--seed does nothing without --scan"},
		{[]string{"--cloudwatch", "--min-items", "3"}, "--min-items does nothing without --scan or --export"},
	} {
		_, stderr, code := command(t, append([]string{"audit", "brands", "--endpoint", "http://127.0.0.1:1"}, test.args...)...)
		if code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: exit %d, %q, want %q", test.args, code, stderr, test.want)
		}
	}
}
