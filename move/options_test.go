package move_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// What cannot be moved, or not in this way, is refused before anything is sent.
func TestOptionsThatAreRefused(t *testing.T) {
	good := func() move.Options { return move.Options{Collection: collection(sixteen, layout.Layout{})} }
	client := start(t).Client()
	if _, err := move.New(client, good()); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		edit func(*move.Options)
		is   error
		want string
	}{
		"table's own key": {func(o *move.Options) { o.Collection.Index, o.Collection.SortKey = heatsink.Index{}, "sk" }, move.ErrUnsupported, "neither an Index nor Movable"},
		"no layout":       {func(o *move.Options) { o.Collection.Older = nil }, heatsink.ErrOptions, "there is no layout to move from"},
		"the same layout": {func(o *move.Options) { o.From = []layout.Layout{sixteen} }, heatsink.ErrOptions, "From[0] is the layout that the collection has now"},
		"bad layout":      {func(o *move.Options) { o.From = []layout.Layout{{Shards: -1}} }, layout.ErrInvalid, "From[0]"},
		"no rate":         {func(o *move.Options) { o.RCU = -1 }, heatsink.ErrOptions, "RCU is -1"},
		"NaN":             {func(o *move.Options) { o.WCU = math.NaN() }, heatsink.ErrOptions, "WCU is NaN"},
		"huge rate":       {func(o *move.Options) { o.WCU = math.Inf(1) }, heatsink.ErrOptions, "WCU is +Inf"},
		"segments":        {func(o *move.Options) { o.Segments = 65 }, heatsink.ErrOptions, "Segments is 65"},
		"key and prefix":  {func(o *move.Options) { o.Key, o.Prefix = "a", "b" }, heatsink.ErrOptions, "set only one"},
		"random layout":   {func(o *move.Options) { o.Collection.Layout.Strategy = layout.Random }, heatsink.ErrOptions, "needs a Calculated layout"},
	} {
		o := good()
		test.edit(&o)
		if _, err := move.New(client, o); !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

// described is a client that describes the table otherwise than it is.
type described struct {
	*dynamodb.Client
	edit func(*types.TableDescription)
}

func (d described) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	out, err := d.Client.DescribeTable(ctx, in, o...)
	if err == nil {
		d.edit(out.Table)
	}
	return out, err
}

// A table that is not as the options say is refused by the first request.
func TestTablesThatAreRefused(t *testing.T) {
	client := start(t).Client()
	put(t, client, "a", "OPEN")
	for name, test := range map[string]struct {
		edit  func(*move.Options)
		table func(*types.TableDescription)
		want  string
	}{
		"no table":    {edit: func(o *move.Options) { o.Collection.Table = "other" }, want: "Table: other not found"},
		"no index":    {edit: func(o *move.Options) { o.Collection.Index.Name = "other" }, want: `has no index "other"`},
		"other keys":  {edit: func(o *move.Options) { o.Collection.Index.SortKey = "other" }, want: `index byStatus has the key ["status" "created"], but`},
		"other table": {edit: func(o *move.Options) { o.Collection.SortKey = "other" }, want: `the table has the key ["id"], but`},
		"global table": {table: func(d *types.TableDescription) {
			d.Replicas = []types.ReplicaDescription{{RegionName: aws.String("eu-west-1")}}
		}, want: "global table"},
	} {
		o := move.Options{Collection: collection(sixteen, layout.Layout{})}
		c := described{client, func(*types.TableDescription) {}}
		if test.edit != nil {
			test.edit(&o)
		}
		if test.table != nil {
			c.edit = test.table
		}
		m := mover(t, c, o)
		_, planned := m.Plan(t.Context())
		_, ran := m.Run(t.Context())
		_, verified := m.Verify(t.Context())
		for _, err := range []error{planned, ran, verified} {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %s", name, err, test.want)
			}
		}
	}
	if stored(t, client)["a"] != "OPEN" {
		t.Error("the item was moved")
	}
}

// A charter that says something else is an error, and not a reason to move items to the wrong place.
func TestCharterOfAnotherLayout(t *testing.T) {
	client := start(t).Client()
	recorded := collection(layout.Layout{Shards: 8, Strategy: layout.Calculated}, layout.Layout{})
	recorded.Recorded = true
	if _, err := open(t, client, recorded).Put(t.Context(), order{ID: "a", Status: "OPEN", Created: "x"}); err != nil {
		t.Fatal(err)
	}
	now := collection(sixteen, layout.Layout{})
	now.Recorded = true
	if _, err := mover(t, client, move.Options{Collection: now}).Run(t.Context()); !errors.Is(err, heatsink.ErrCharter) {
		t.Errorf("got %v, want ErrCharter", err)
	}
	if _, err := mover(t, client, move.Options{Collection: recorded}).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// The description may be hours old: where it counts too few items, the sample tells.
func TestForecastOfATableWithAnOldDescription(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{}), 15000, 400)
	old := described{client, func(d *types.TableDescription) { d.ItemCount, d.TableSizeBytes = aws.Int64(0), aws.Int64(0) }}
	forecast, err := mover(t, old, move.Options{Collection: collection(sixteen, layout.Layout{}), RCU: 1e5}).Plan(t.Context())
	if err != nil || math.Abs(float64(forecast.Items)-15000) > 5000 || len(forecast.Notes) != 1 {
		t.Errorf("%+v, %v", forecast, err)
	}
}

// Whether the table can be restored is asked, and not guessed.
func TestPointInTimeRecovery(t *testing.T) {
	client := start(t).Client()
	for status, want := range map[types.PointInTimeRecoveryStatus]string{
		types.PointInTimeRecoveryStatusEnabled: "on", types.PointInTimeRecoveryStatusDisabled: "off", "": "unknown",
	} {
		forecast, err := mover(t, backedUp{client, status}, move.Options{Collection: collection(sixteen, layout.Layout{})}).Plan(t.Context())
		if err != nil || forecast.PointInTimeRecovery != want {
			t.Errorf("got %q, want %q: %v", forecast.PointInTimeRecovery, want, err)
		}
	}
}

type backedUp struct {
	*dynamodb.Client
	status types.PointInTimeRecoveryStatus
}

func (b backedUp) DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	if b.status == "" {
		return nil, errors.New("AccessDeniedException")
	}
	return &dynamodb.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: &types.ContinuousBackupsDescription{
		PointInTimeRecoveryDescription: &types.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: b.status},
	}}, nil
}
