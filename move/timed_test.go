package move_test

import (
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// A request that is never answered is sent again, whichever it is.
func TestRunOutlivesAnUnansweredRequest(t *testing.T) {
	for _, operation := range []string{"UpdateItem", "Scan", "PutItem", "DeleteItem", "GetItem", "DescribeContinuousBackups", "DescribeTable"} {
		for _, timeout := range []time.Duration{0, 2 * time.Second} {
			bubble.Test(t, func(t *testing.T) {
				sent := 0
				client := faulty.On(t, start(t).Client(), func(r faulty.Request) faulty.Fault {
					if r.Operation != operation {
						return faulty.None
					}
					if sent++; sent == 1 {
						return faulty.Unanswered
					}
					return faulty.None
				})
				fill(t, client.Direct, collection(layout.Layout{}), 50, 10)
				o := move.Options{Collection: collection(sixteen, layout.Layout{})}
				o.Collection.Retry.Timeout = timeout
				began := time.Now()
				result, err := mover(t, client, o).Run(t.Context())
				if err != nil || result.Moved != 50 || sent == 0 {
					t.Errorf("%s: moved %d, sent %d, %v", operation, result.Moved, sent, err)
				}
				if took := time.Since(began); took > max(timeout, time.Second)+10*time.Second && timeout > 0 || took > 40*time.Second {
					t.Errorf("%s with a timeout of %v took %v", operation, timeout, took)
				}
			})
		}
	}
}

// An item that transactions have all the time is left to the next pass, and the others are moved.
func TestItemInTransactions(t *testing.T) {
	for name, most := range map[string]int{"some": 7, "forever": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				met := 0
				client := faulty.On(t, start(t).Client(), func(r faulty.Request) faulty.Fault {
					if r.Operation != "UpdateItem" || r.Key("id") != "o00005" || met >= most {
						return faulty.None
					}
					met++
					return faulty.Conflict
				})
				fill(t, client.Direct, collection(layout.Layout{}), 200, 10)
				result, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})}).Run(t.Context())
				switch name {
				case "some":
					if err != nil || result.Moved != 200 || result.Late != 0 || result.Passes != 3 {
						t.Errorf("%+v, %v", result, err)
					}
				default:
					if err == nil || !strings.Contains(err.Error(), "1 item could not be moved in 4 passes") || result.Moved != 199 {
						t.Errorf("%+v, %v", result, err)
					}
				}
			})
		})
	}
}
