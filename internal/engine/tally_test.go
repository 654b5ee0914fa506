package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// Names beyond the most are counted together: no server grows with the tables that it has seen.
func TestThrottledIsBounded(t *testing.T) {
	e := &Engine{}
	account, err := partition.NewAccount(partition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostThrottled + 5 {
		name := fmt.Sprintf("table-%06d", i)
		set, err := account.NewSet(time.Now(), partition.Config{Resource: name, Partitions: 1, Owner: &resource{table: name}})
		if err != nil {
			t.Fatal(err)
		}
		e.tally.count(&partition.Throttle{Causes: []partition.Cause{{Set: set}, {Set: set}}})
	}
	e.tally.count(nil)
	list := e.Throttled()
	if len(list) != mostThrottled+1 || list[0].Table != "" || list[0].Requests != 5 || list[1].Table != "table-000000" || list[1].Requests != 1 {
		t.Errorf("got %d, first %+v", len(list), list[:2])
	}
}
