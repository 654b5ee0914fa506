package heatcloudwatch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// Contributor Insights lists control items as it lists any key. They are left out and counted apart, the throttled ones too,
// and the report says so.
func TestInsightsLeaveControlItemsOut(t *testing.T) {
	look := func(control bool) (report heat.Report) {
		bubble.Test(t, func(t *testing.T) {
			db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 100, Window: time.Second, OnDemandPartitions: 64, NoSplits: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
				t.Fatal(err)
			}
			client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
			if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
				TableName: aws.String("views"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
			}); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"PAGE#1", "PAGE#2"} {
				burn(t.Context(), client, "views", key, 1, 10)
			}
			if control {
				burn(t.Context(), client, "views", layout.ControlKey{Role: layout.RoleHeat, Collection: "views", Key: "PAGE#1"}.String(), 20, 20)
				burn(t.Context(), client, "views", layout.ControlKey{Role: layout.RoleLedger, Collection: "views", Key: "PAGE#1"}.String(), 1, 20)
			} else {
				time.Sleep(4 * time.Second)
			}
			time.Sleep(time.Minute)
			report, err = heatcloudwatch.Insights(t.Context(), db.CloudWatchClient(), client, "views", heatcloudwatch.Options{})
			if err != nil || len(report.Resources) != 1 {
				t.Fatalf("got %+v, %v", report, err)
			}
		})
		return report
	}
	plain, mixed := look(false).Resources[0].Writes, look(true)
	got := mixed.Resources[0].Writes
	if got.Units != plain.Units || got.Requests != plain.Requests || got.Throttled != 0 || got.Distinct != plain.Distinct || len(got.Keys) != 2 || got.Distinct.Keys != 2 {
		t.Errorf("got  %+v\nwant %+v", got, plain)
	}
	for i, k := range got.Keys {
		if k != plain.Keys[i] {
			t.Errorf("got  %+v\nwant %+v", k, plain.Keys[i])
		}
	}
	if c := got.Control; c.Throttled == 0 || c.Units+float64(c.Throttled) != 20*20+20 || float64(c.Requests) != 420 {
		t.Errorf("of 420 writes of control items: %+v", c)
	}
	if notes := strings.Join(mixed.Notes, "; "); !strings.Contains(notes, "views: 2 of the keys that it lists are of control items of heatsink, and are left out") {
		t.Errorf("notes: %s", notes)
	}
}
