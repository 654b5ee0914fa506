package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// An observer is told the key of a query, one request for each page, and no key of any page of a scan.
func TestObserverIsToldOfPages(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var told []Access
		dropped := ""
		e := openEngine(t, Options{
			Physics: &partition.Options{}, Observe: func(a *Access) { told = append(told, *a) }, Dropped: func(table string) { dropped = table },
		})
		createTable(t, e, newTableInput("tab", "pk:S sk:S").withLocal("local", "pk:S other:S"))
		for i := range 10 {
			putItem(t, e, "tab", fields("pk", "p", "sk", fmt.Sprint(i), "other", "o", "pad", strings.Repeat("x", 100)))
		}
		told = nil
		page := &ReadInput{TableName: new("tab"), Limit: new(int64(4))}
		for {
			out, err := e.Scan(t.Context(), page)
			if err != nil {
				t.Fatal(err)
			}
			if out.LastEvaluatedKey == nil {
				break
			}
			page.ExclusiveStartKey, page.HasStartKey = out.LastEvaluatedKey, true
		}
		if len(told) != 3 {
			t.Errorf("three pages of a scan are %d requests", len(told))
		}
		for i, a := range told {
			want := 0.5 // for each of the partitions that it comes to: the second page stays in one
			if i != 1 {
				want = a.ReadUnits
			}
			if a.Key != nil || a.Sort != nil || a.ReadUnits != want || a.Partition != 0 {
				t.Errorf("page %d of a scan: %+v", i+1, a)
			}
		}
		if units := told[0].ReadUnits + told[2].ReadUnits; units != 2.5 { // four partitions, one of them twice
			t.Errorf("the first and the last page cost %v units", units)
		}

		told = nil
		if _, err := e.Query(t.Context(), &ReadInput{
			TableName: new("tab"), IndexName: new("local"),
			Expressions: Expressions{KeyCondition: new("pk = :p"), Values: fields(":p", "p"), HasValues: true},
		}); err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0].Key[0] != "p" || told[0].Sort != nil || told[0].KeyNames[0] != "pk" {
			t.Errorf("a query: %+v", told)
		}
		if _, err := e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")}); err != nil || dropped != "tab" {
			t.Errorf("dropped %q, %v", dropped, err)
		}
	})
}

// An observer is told which partition has a key: the same one each time, and not the same for all.
func TestObserverIsToldOfPartitions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		of := make(map[string]uint64)
		e := openEngine(t, Options{Physics: &partition.Options{}, Observe: func(a *Access) {
			if known, ok := of[a.Key[0]]; ok && known != a.Partition || a.Partition == 0 {
				t.Errorf("%q is in partition %d, and was in %d", a.Key[0], a.Partition, known)
			}
			of[a.Key[0]] = a.Partition
		}})
		createTable(t, e, newTableInput("tab", "pk:S sk:S"))
		for i := range 80 {
			putItem(t, e, "tab", fields("pk", fmt.Sprint("p", i%40), "sk", fmt.Sprint(i)))
		}
		all := make(map[uint64]int)
		for _, id := range of {
			all[id]++
		}
		if len(of) != 40 || len(all) != 4 {
			t.Errorf("%d keys in %d partitions, want 40 in 4", len(of), len(all))
		}
	})
}

// A rule lists long keys whole, attribute by attribute.
func TestInsightsOfLongKeys(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{Physics: &partition.Options{}})
		createTable(t, e, newTableInput("tab", "pk:S sk:S"))
		in := &ContributorInsightsInput{TableName: new("tab"), Action: new("ENABLE")}
		if _, err := e.UpdateContributorInsights(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("x", 200)
		putItem(t, e, "tab", fields("pk", long+"1", "sk", "a"))
		putItem(t, e, "tab", fields("pk", long+"2", "sk", "b"))
		described, err := e.DescribeContributorInsights(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range described.Rules {
			if !strings.Contains(rule, "-SKC-") {
				continue
			}
			report, err := e.InsightRuleReport(t.Context(), rule, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Contributors) != 2 || len(report.Contributors[0].Keys) != 2 || report.Contributors[1].Keys[0] != long+"2" {
				t.Errorf("got %+v", report)
			}
		}
	})
}
