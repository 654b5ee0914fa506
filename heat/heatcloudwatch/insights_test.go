package heatcloudwatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/local"
)

// X25: Contributor Insights list the keys that were used most and those that were throttled, through the SDK's own clients;
// and they agree with a recorder on who is hottest.
func TestInsightsNameTheHotKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 100, Window: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		recorder := heat.NewRecorder(heat.Options{})
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		off, err := heatcloudwatch.Insights(t.Context(), db.CloudWatchClient(), client, "views", heatcloudwatch.Options{})
		if err != nil || len(off.Resources) != 0 || !strings.Contains(strings.Join(off.Notes, " "), "views: disabled") {
			t.Fatalf("while they are off: %+v, %v", off, err)
		}
		if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
			TableName: aws.String("views"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
		}); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			burn(t.Context(), client, "views", fmt.Sprint("PAGE#", i), 1, 1+i%3)
		}
		burn(t.Context(), client, "views", "PAGE#viral", 13, 300)
		time.Sleep(time.Minute)
		report, err := heatcloudwatch.Insights(t.Context(), db.CloudWatchClient(), client, "views", heatcloudwatch.Options{})
		if err != nil || len(report.Resources) != 1 {
			t.Fatalf("got %+v, %v", report, err)
		}
		keys := report.Resources[0].Writes.Keys
		hot := keys[0]
		if hot.Key != "PAGE#viral" || hot.Units < 3000 || hot.Throttled < 700 || hot.Share < 0.9 {
			t.Errorf("got %+v", hot)
		}
		live := recorder.Report().Resources[0].Writes
		if got, want := hot.Units, live.Keys[0].Units; got != want || live.Keys[0].Throttled != hot.Throttled {
			t.Errorf("insights count %v and %d throttled, the recorder %v and %d", got, hot.Throttled, want, live.Keys[0].Throttled)
		}
		if !slices.ContainsFunc(keys, func(k heat.KeyHeat) bool { return k.Key == "PAGE#2" }) || len(keys) != 21 {
			t.Errorf("%d keys", len(keys))
		}
	})
}
