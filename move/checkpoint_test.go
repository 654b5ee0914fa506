package move_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

const checkpointID = "_hs#M#byStatus"

// checkpointOf returns the stored checkpoint, nil if there is none.
func checkpointOf(t *testing.T, client *dynamodb.Client) heatsink.Item {
	t.Helper()
	out, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: heatsink.Item{"id": text(checkpointID)}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// stop runs a mover until so many items were moved.
func stop(t *testing.T, client *dynamodb.Client, o move.Options, after int) move.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	counting := faulty.On(t, client, func(r faulty.Request) faulty.Fault {
		if r.Operation == "UpdateItem" {
			if after--; after < 0 {
				cancel()
			}
		}
		return faulty.None
	})
	result, err := mover(t, counting, o).Run(ctx)
	if err == nil || ctx.Err() == nil {
		t.Fatalf("the move was not stopped: %v", err)
	}
	return result
}

// A run that was stopped is resumed where it was, and the checkpoint goes when the move is through.
func TestRunResumes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t).Client()
		fill(t, client, collection(layout.Layout{}), 2000, 10)
		o := move.Options{Collection: collection(sixteen, layout.Layout{}), Segments: 4, RCU: 4}
		first := stop(t, client, o, 1200)
		if first.Moved == 0 || checkpointOf(t, client) == nil {
			t.Fatalf("%d items were moved, checkpoint %v", first.Moved, checkpointOf(t, client))
		}
		m := mover(t, client, o)
		forecast, err := m.Plan(t.Context())
		if err != nil || !forecast.Resumes {
			t.Fatalf("%+v, %v", forecast, err)
		}
		counting := faulty.On(t, client, nil)
		result, err := mover(t, counting, o).Run(t.Context())
		if err != nil || !result.Resumed || result.Late != 0 || result.Right != 2000 {
			t.Fatalf("%+v, %v", result, err)
		}
		resumed := 0
		for _, r := range counting.Requests() {
			if in, ok := r.Input.(*dynamodb.ScanInput); ok && in.ProjectionExpression != nil && !aws.ToBool(in.ConsistentRead) {
				if resumed++; resumed <= 4 && in.ExclusiveStartKey == nil {
					t.Errorf("segment %d begins at the beginning", *in.Segment)
				}
			}
		}
		if resumed == 0 {
			t.Error("nothing was left for the second run")
		}
		if checkpointOf(t, client) != nil {
			t.Error("the checkpoint is still there")
		}
	})
}

// A checkpoint that is of another move, damaged or forged never makes a run miss an item.
func TestForgedCheckpoints(t *testing.T) {
	done := func(n int) *types.AttributeValueMemberL {
		l := &types.AttributeValueMemberL{}
		for range n {
			l.Value = append(l.Value, &types.AttributeValueMemberM{Value: heatsink.Item{"d": &types.AttributeValueMemberBOOL{Value: true}}})
		}
		return l
	}
	at := func(key heatsink.Item) *types.AttributeValueMemberL {
		l := done(4)
		l.Value[2] = &types.AttributeValueMemberM{Value: heatsink.Item{"k": &types.AttributeValueMemberM{Value: key}}}
		return l
	}
	for name, test := range map[string]struct {
		edit func(heatsink.Item)
		log  string
	}{
		"all done":         {func(item heatsink.Item) { item["_hs_segments"] = done(4) }, "appeared in old places"},
		"another move":     {func(item heatsink.Item) { item["_hs_move"] = text("other"); item["_hs_segments"] = done(4) }, "another move"},
		"newer version":    {func(item heatsink.Item) { item["_hs_v"] = number("2"); item["_hs_segments"] = done(4) }, "another version"},
		"other segments":   {func(item heatsink.Item) { item["_hs_segments"] = done(5) }, "4 segments"},
		"no segments":      {func(item heatsink.Item) { item["_hs_segments"] = text("x") }, "4 segments"},
		"strange segment":  {func(item heatsink.Item) { item["_hs_segments"].(*types.AttributeValueMemberL).Value[1] = text("x") }, "segment 1 is not understood"},
		"strange key":      {func(item heatsink.Item) { item["_hs_segments"] = at(heatsink.Item{"x": text("y")}) }, "segment 2 is not understood"},
		"number as a key":  {func(item heatsink.Item) { item["_hs_segments"] = at(heatsink.Item{"id": number("1")}) }, "segment 2 is not understood"},
		"two keys":         {func(item heatsink.Item) { item["_hs_segments"] = at(heatsink.Item{"id": text("a"), "b": text("a")}) }, "segment 2 is not understood"},
		"empty key":        {func(item heatsink.Item) { item["_hs_segments"] = at(heatsink.Item{"id": text("")}) }, ""},
		"key of elsewhere": {func(item heatsink.Item) { item["_hs_segments"] = at(heatsink.Item{"id": text("o00001")}) }, ""},
		"nothing":          {func(item heatsink.Item) { clear(item); item["id"] = text(checkpointID) }, "another move"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := start(t).Client()
				fill(t, client, collection(layout.Layout{}), 400, 10)
				var log bytes.Buffer
				o := move.Options{Collection: collection(sixteen, layout.Layout{}), Segments: 4, RCU: 4, Logger: slog.New(slog.NewTextHandler(&log, nil))}
				stop(t, client, o, 100)
				item := checkpointOf(t, client)
				test.edit(item)
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
					t.Fatal(err)
				}
				result, err := mover(t, client, o).Run(t.Context())
				if err != nil || result.Right != 400 || result.Damaged() != 0 {
					t.Errorf("%+v, %v", result, err)
				}
				if !strings.Contains(log.String(), test.log) {
					t.Errorf("logged %q, want %q", log.String(), test.log)
				}
			})
		})
	}
}

// The checkpoint is stored as the run goes, so that a process that is killed loses little.
func TestCheckpointIsStoredMeanwhile(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t).Client(), nil)
		fill(t, client.Direct, collection(layout.Layout{}), 2000, 10)
		result, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), WCU: 100}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		saves := client.Count("PutItem")
		if want := int(result.Took / (5 * time.Second)); saves < 3 || saves > want+2 {
			t.Errorf("%d checkpoints in %v", saves, result.Took)
		}
	})
}

// A table whose key takes no control items is moved without a checkpoint, and with one in a table of their own.
func TestTableWithoutRoomForACheckpoint(t *testing.T) {
	for _, control := range []string{"", "control"} {
		t.Run(fmt.Sprintf("control table %q", control), func(t *testing.T) {
			db := start(t, func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[0].AttributeType = "N" })
			client := faulty.On(t, db.Client(), nil)
			if err := heatsink.SetupControlTable(t.Context(), db.Client(), "control"); err != nil {
				t.Fatal(err)
			}
			put(t, db.Client(), "", "OPEN", func(item heatsink.Item) { item["id"] = number("7") })
			now := collection(sixteen, layout.Layout{})
			if control != "" {
				now.ControlTable, now.Name, now.Recorded = control, "orders", true
				if _, err := open(t, db.Client(), now).Count(t.Context(), heatsink.Query{Key: "OPEN"}); err != nil { // writes the charter
					t.Fatal(err)
				}
			}
			result, err := mover(t, client, move.Options{Collection: now}).Run(t.Context())
			if err != nil || result.Right != 1 || result.Moved != 1 {
				t.Errorf("%+v, %v", result, err)
			}
			if saved := slices.ContainsFunc(client.Requests(), func(r faulty.Request) bool {
				return r.Operation == "PutItem" && strings.HasPrefix(r.Key("pk"), "_hs#M#")
			}); saved != (control != "") {
				t.Errorf("a checkpoint was stored: %t", saved)
			}
		})
	}
}

// Two tables may share a control table, a name and a layout: the checkpoint of one is not used for the other.
func TestCheckpointOfAnotherTable(t *testing.T) {
	db := start(t)
	client := db.Client()
	if err := createOrders(t.Context(), client, func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("orders2") }); err != nil {
		t.Fatal(err)
	}
	if err := heatsink.SetupControlTable(t.Context(), client, "control"); err != nil {
		t.Fatal(err)
	}
	fill(t, client, collection(layout.Layout{}), 50, 10)
	now := collection(sixteen, layout.Layout{})
	now.ControlTable, now.Recorded = "control", true
	if _, err := open(t, client, now).Count(t.Context(), heatsink.Query{Key: "OPEN"}); err != nil { // writes the charter
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopping := faulty.On(t, client, func(r faulty.Request) faulty.Fault {
		if in, ok := r.Input.(*dynamodb.ScanInput); ok && aws.ToBool(in.ConsistentRead) { // the first pass is through
			cancel()
		}
		return faulty.None
	})
	if _, err := mover(t, stopping, move.Options{Collection: now}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("control"), Key: heatsink.Item{"pk": text("_hs#C#byStatus")}}); err != nil {
		t.Fatal(err)
	}
	now.Table = "orders2"
	if _, err := open(t, client, now).Count(t.Context(), heatsink.Query{Key: "OPEN"}); err != nil {
		t.Fatal(err)
	}
	forecast, err := mover(t, client, move.Options{Collection: now}).Plan(t.Context())
	if err != nil || forecast.Resumes {
		t.Errorf("%+v, %v", forecast, err)
	}
}
