package heattest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heattest"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// judged is a test that notes its failures.
type judged struct {
	said     []string
	fatal    bool
	cleanups []func()
}

func (j *judged) Helper()           {}
func (j *judged) Cleanup(do func()) { j.cleanups = append(j.cleanups, do) }

func (j *judged) Errorf(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}

func (j *judged) Fatalf(format string, args ...any) { j.Errorf(format, args...); j.fatal = true }

func (j *judged) end() string {
	for _, do := range j.cleanups {
		do()
	}
	return strings.Join(j.said, "\n")
}

// write puts items, spread over some seconds.
func write(t *testing.T, client *dynamodb.Client, perSecond, seconds int, key func(i int) string) {
	t.Helper()
	for i := range perSecond * seconds {
		_, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: key(i)}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("%08x", uint32(i)*2654435761)}, // in no order
		}}, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		if err != nil && !strings.Contains(err.Error(), "Throughput") {
			t.Fatal(err)
		}
		time.Sleep(time.Second / time.Duration(perSecond))
	}
}

func oneKey(int) string { return "TODAY" }

func manyKeys(i int) string { return fmt.Sprintf("customer-%d", i%997) }

// A test whose load is even passes. One that makes a partition throttle fails, and says which key and what to do.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		name    string
		options heattest.Options
		other   bool // the load is of a client that is not recorded
		drop    bool // the table is deleted and made anew, hours later
		key     func(int) string
		rate    int
		want    []string
	}{
		{name: "even", key: manyKeys, rate: 300},
		{name: "hot", key: oneKey, rate: 1300, want: []string{
			"throttled: orders: ", " write requests; ", " TableWriteKeyRangeThroughputExceeded\n", "critical: orders: ", "'TODAY'", "    remedy: ", `hottest writes of orders: "TODAY"`,
		}},
		{name: "hot, expected", options: heattest.Options{Expected: true}, key: oneKey, rate: 1300},
		{name: "hot, not recorded", other: true, key: oneKey, rate: 1300, want: []string{"not recorded were throttled", "throttled: orders: "}},
		{name: "hot, not recorded, deleted", other: true, drop: true, key: oneKey, rate: 1300, want: []string{"not recorded were throttled", "throttled: orders: "}},
		{name: "even, not recorded, deleted", other: true, drop: true, key: manyKeys, rate: 300},
		{name: "half of all", key: func(i int) string { return []string{"TODAY", manyKeys(i)}[i%2] }, rate: 160, want: []string{"warning: orders: "}},
		{name: "half of all, allowed", options: heattest.Options{Allow: heat.Warning}, key: func(i int) string { return []string{"TODAY", manyKeys(i)}[i%2] }, rate: 160},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				j := &judged{}
				db := heattest.Start(j, c.options)
				if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
					t.Fatal(err)
				}
				client := db.Client()
				if c.other {
					client = db.DB.Client()
				}
				write(t, client, c.rate, 4, c.key)
				if c.drop {
					time.Sleep(4 * time.Hour)
					if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
						t.Fatal(err)
					}
					if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute) // the findings are about the load, not about the silence after it
				got := j.end()
				for _, want := range c.want {
					if !strings.Contains(got, want) {
						t.Errorf("no %q in %q", want, got)
					}
				}
				if c.want == nil && got != "" {
					t.Errorf("failed with %s", got)
				}
			})
		})
	}
}

// Options that cannot be fail the test at once.
func TestOptions(t *testing.T) {
	for want, options := range map[string]heattest.Options{
		"rules":    {Rules: heat.Rules{Warm: 2}},
		"recorder": {Heat: heat.Options{Entries: -1}},
		"engine":   {Engine: local.Options{Physics: &local.Physics{PartitionReads: -1}}},
	} {
		j := &judged{}
		if db := heattest.Start(j, options); db != nil || !j.fatal || !strings.Contains(j.end(), "heattest: "+want) {
			t.Errorf("%s: got %v, %q", want, db, j.said)
		}
	}
	j := &judged{}
	if heattest.Check(j, heat.Info, heat.Rules{Warm: 2}); !j.fatal {
		t.Error("Check with rules that cannot be")
	}
}

// The zero options have DynamoDB's physics: without them nothing could fail.
func TestPhysicsByDefault(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := heattest.Start(t, heattest.Options{})
		if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		if heats, err := db.Partitions(t.Context(), "orders", time.Minute); err != nil || len(heats) != 1 || heats[0].PartitionWrites != 1000 {
			t.Errorf("got %+v, %v", heats, err)
		}
	})
}

// Keys and reasons may hold what a terminal obeys: a failure quotes them.
func TestFailuresAreQuoted(t *testing.T) {
	const odd = "a\x1b[31m\u202e"
	test := &judged{}
	heattest.Check(test, heat.Info, heat.Rules{}, heat.Report{
		Source: heat.Live, From: time.Unix(0, 0), To: time.Unix(60, 0), Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: odd}, Writes: heat.Flow{
				Units: 60_000, Requests: 70_000, Throttled: 10_000, Throttles: []heat.ThrottleCount{{Reason: odd + "KeyRangeThroughputExceeded", Count: 10_000}},
				Keys: []heat.KeyHeat{{Key: odd, Units: 60_000, Low: 60_000, Rate: 1000, RateLow: 1000, Busy: 1000, Share: 1, Requests: 70_000, Throttled: 10_000, Reason: odd + "KeyRangeThroughputExceeded"}},
			},
		}},
	})
	if text := test.end(); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, `hot partition`) || strings.Count(text, "\n") < 6 {
		t.Errorf("got %q", text)
	}
}
