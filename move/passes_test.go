package move_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// A pass that confirms the first one and cannot read the table confirms nothing.
func TestRunFailsIfItCannotConfirm(t *testing.T) {
	client := faulty.On(t, start(t).Client(), func(r faulty.Request) faulty.Fault {
		if scan, ok := r.Input.(*dynamodb.ScanInput); ok && aws.ToBool(scan.ConsistentRead) {
			return faulty.Denied
		}
		return faulty.None
	})
	put(t, client.Direct, "a", "OPEN")
	result, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "AccessDenied") || result.Passes != 2 || result.Moved != 1 {
		t.Errorf("%d passes, %d moved, %v", result.Passes, result.Moved, err)
	}
}

// An item that others change before every update is tried in all passes. The error does not blame programs with an old layout.
func TestItemThatOthersChangeAllTheTime(t *testing.T) {
	for name, test := range map[string]struct {
		changes int
		want    string
	}{"in all passes": {1 << 30, "1 item could not be moved in 4 passes"}, "in the first pass": {5, ""}} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := start(t).Client()
				updates := 0
				client := faulty.On(t, db, func(r faulty.Request) faulty.Fault {
					if r.Operation != "UpdateItem" {
						return faulty.None
					}
					if updates++; updates <= test.changes {
						_, err := db.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
							TableName: aws.String("orders"), Key: map[string]types.AttributeValue{"id": text("a")},
							UpdateExpression: aws.String("SET #s = :s"), ExpressionAttributeNames: map[string]string{"#s": "status"},
							ExpressionAttributeValues: map[string]types.AttributeValue{":s": text(fmt.Sprint("OPEN", updates))},
						})
						if err != nil {
							t.Error(err)
						}
					}
					return faulty.None
				})
				put(t, db, "a", "OPEN")
				result, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})}).Run(t.Context())
				if errors.Is(err, move.ErrOldWriters) || result.Late != 0 {
					t.Errorf("%d late, %v", result.Late, err)
				}
				if test.want != "" {
					if err == nil || !strings.Contains(err.Error(), test.want) || result.Moved != 0 || updates != 4*5 {
						t.Errorf("%d moved, %d updates, %v", result.Moved, updates, err)
					}
					return
				}
				want, _ := sixteen.ShardKey("OPEN5", time.Time{}, sixteen.Shard("a"))
				if got := stored(t, db)["a"]; err != nil || result.Moved != 1 || got != want {
					t.Errorf("%d moved, stored as %q, want %q, %v", result.Moved, got, want, err)
				}
			})
		})
	}
}
