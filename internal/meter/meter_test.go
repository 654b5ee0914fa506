package meter

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

// A cost is added to every meter of a context, and to none that only another context has.
func TestAddReachesAllMeters(t *testing.T) {
	var outer, inner, other Meter
	ctx := With(context.Background(), &outer)
	_ = With(ctx, &other)
	both := With(ctx, &inner)
	first, second := Cost{1, 2, 3, 4, 5, 6}, Cost{10, 20, 30, 40, 50, 60}
	Add(ctx, first)
	Add(both, second)
	Add(context.Background(), first)
	if want := (Cost{11, 22, 33, 44, 55, 66}); outer.Cost() != want || inner.Cost() != second || other.Cost() != (Cost{}) {
		t.Errorf("got %+v, %+v and %+v", outer.Cost(), inner.Cost(), other.Cost())
	}
}

// Capacity is asked for where there is a meter, and the caller has not said what to report.
func TestAsk(t *testing.T) {
	metered := With(context.Background(), new(Meter))
	for _, c := range []struct {
		ctx        context.Context
		said, want types.ReturnConsumedCapacity
	}{
		{context.Background(), "", ""},
		{metered, "", types.ReturnConsumedCapacityTotal},
		{metered, types.ReturnConsumedCapacityIndexes, types.ReturnConsumedCapacityIndexes},
		{metered, types.ReturnConsumedCapacityNone, types.ReturnConsumedCapacityNone},
	} {
		got := c.said
		if Ask(c.ctx, &got); got != c.want {
			t.Errorf("%q became %q, want %q", c.said, got, c.want)
		}
	}
	if got := Of(context.Background()).Wanted(); got != types.ReturnConsumedCapacityNone {
		t.Errorf("without a meter %q is wanted", got)
	}
	if got := Of(metered).Wanted(); got != types.ReturnConsumedCapacityTotal {
		t.Errorf("with a meter %q is wanted", got)
	}
}

// A transaction writes once, however often it is sent with its token: after that it reads.
func TestRepeatedTransactionReads(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "orders", "pk"); err != nil {
		t.Fatal(err)
	}
	var m Meter
	for range 2 {
		out, err := db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("once"), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			TransactItems: []types.TransactWriteItem{{Put: &types.Put{
				TableName: aws.String("orders"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		WroteAll(With(t.Context(), &m), out.ConsumedCapacity)
	}
	if want := (Cost{WriteUnits: 2, ReadUnits: 2}); m.Cost() != want {
		t.Errorf("got %+v, want %+v", m.Cost(), want)
	}
}

func TestReadAndWrote(t *testing.T) {
	units := func(n float64) types.ConsumedCapacity { return types.ConsumedCapacity{CapacityUnits: &n} }
	var m Meter
	ctx := With(t.Context(), &m)
	one, silent := units(1), types.ConsumedCapacity{}
	Read(ctx, 3, &one)
	Read(ctx, 1, nil)
	ReadAll(ctx, 2, []types.ConsumedCapacity{units(2), silent, units(0.5)})
	Wrote(ctx, &one)
	Wrote(ctx, nil)
	WroteAll(ctx, []types.ConsumedCapacity{units(4), silent})
	if want := (Cost{Items: 6, ReadUnits: 3.5, WriteUnits: 5}); m.Cost() != want {
		t.Errorf("got %+v, want %+v", m.Cost(), want)
	}
}

// Without a meter nothing is allocated: most requests have none.
func TestWithoutMetersNothingIsAllocated(t *testing.T) {
	ctx := t.Context()
	var report types.ReturnConsumedCapacity
	if n := testing.AllocsPerRun(100, func() {
		Ask(ctx, &report)
		Add(ctx, Cost{Requests: 1})
		Read(ctx, 1, nil)
		Wrote(ctx, nil)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
