package heat

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A capacity is what is provisioned or, on demand, the maximum; of an index it is the index's own.
func TestCapacityOf(t *testing.T) {
	provisioned := func(reads, writes int64) *types.ProvisionedThroughputDescription {
		return &types.ProvisionedThroughputDescription{ReadCapacityUnits: aws.Int64(reads), WriteCapacityUnits: aws.Int64(writes)}
	}
	most := func(reads, writes int64) *types.OnDemandThroughput {
		return &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(reads), MaxWriteRequestUnits: aws.Int64(writes)}
	}
	d := &types.TableDescription{
		ItemCount: aws.Int64(7), TableSizeBytes: aws.Int64(700), ProvisionedThroughput: provisioned(10, 20), OnDemandThroughput: most(30, 40),
		WarmThroughput: &types.TableWarmThroughputDescription{ReadUnitsPerSecond: aws.Int64(50), WriteUnitsPerSecond: aws.Int64(60)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndexDescription{{IndexName: aws.String("other"), ItemCount: aws.Int64(9)}, {
			IndexName: aws.String("byStatus"), ItemCount: aws.Int64(3), IndexSizeBytes: aws.Int64(300), ProvisionedThroughput: provisioned(1, 2), OnDemandThroughput: most(-1, 4),
			WarmThroughput: &types.GlobalSecondaryIndexWarmThroughputDescription{ReadUnitsPerSecond: aws.Int64(5), WriteUnitsPerSecond: aws.Int64(6)},
		}},
	}
	check := func(index string, want Capacity) {
		t.Helper()
		if got := CapacityOf(d, index); got == nil || *got != want {
			t.Errorf("%q: got %+v, want %+v", index, got, want)
		}
	}
	check("", Capacity{ReadUnits: 10, WriteUnits: 20, WarmReads: 50, WarmWrites: 60, Items: 7, Bytes: 700})
	check("byStatus", Capacity{ReadUnits: 1, WriteUnits: 2, WarmReads: 5, WarmWrites: 6, Items: 3, Bytes: 300})
	check("other", Capacity{Items: 9})
	d.BillingModeSummary = &types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest}
	check("", Capacity{OnDemand: true, ReadUnits: 30, WriteUnits: 40, WarmReads: 50, WarmWrites: 60, Items: 7, Bytes: 700})
	check("byStatus", Capacity{OnDemand: true, ReadUnits: 0, WriteUnits: 4, WarmReads: 5, WarmWrites: 6, Items: 3, Bytes: 300})
	d.BillingModeSummary.BillingMode = types.BillingModeProvisioned
	d.ProvisionedThroughput, d.WarmThroughput = nil, nil
	check("", Capacity{Items: 7, Bytes: 700})
	if got := CapacityOf(d, "byNothing"); got != nil {
		t.Errorf("an index that is not there: got %+v", got)
	}
}

// A mean item has as many units as its size takes, at least one.
func TestMeanUnits(t *testing.T) {
	for _, test := range []struct {
		capacity *Capacity
		units    float64
		known    bool
	}{
		{nil, 1, false},
		{&Capacity{Items: 0, Bytes: 100}, 1, false},
		{&Capacity{Items: 5}, 1, false},
		{&Capacity{Items: 10, Bytes: 100}, 1, true},
		{&Capacity{Items: 10, Bytes: 10_240}, 1, true},
		{&Capacity{Items: 10, Bytes: 10_241}, 2, true},
		{&Capacity{Items: 1, Bytes: 1}, 1, true},
	} {
		if units, known := test.capacity.meanUnits(); units != test.units || known != test.known {
			t.Errorf("%+v: got %v, %v, want %v, %v", test.capacity, units, known, test.units, test.known)
		}
	}
}
