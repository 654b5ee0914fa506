package check

import (
	"reflect"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/forward"
)

var hunts = []Scenario{
	{Item: "p", Processes: []string{"put:a", "get;get"}, Movers: 1},
	{Processes: []string{"create:a", "create:b", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"update:a", "get;get"}, Movers: 1},
	{Item: "p", Processes: []string{"delete", "get;get"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"delete", "update:a", "list"}, Movers: 1, Late: 1},
	{Processes: []string{"put:a", "get;get"}, Movers: 1},
	{Processes: []string{"put:a", "delete", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"delete;create:a", "get"}, Movers: 1, Late: 1},
	{Item: "p", Processes: []string{"delete", "list;get"}, Movers: 2},
	{Processes: []string{"create:a;delete", "create:b;get"}, Movers: 1},
	{Processes: []string{"put:a", "put:b", "get;get"}, Movers: 1},
	{Item: "p", Processes: []string{"upsert:a", "get"}, Movers: 1},
	{Processes: []string{"upsert:a", "upsert:b", "get"}, Movers: 1},
	{Item: "p", Processes: []string{"put:a", "get;get"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"put:a", "get;get"}, Movers: 1, Returns: 1, Late: 1},
	{Item: "p", Processes: []string{"update:a", "delete", "get"}, Movers: 1, Returns: 1},
	{Item: "p", Processes: []string{"delete;create:a", "get;list"}, Movers: 1, Returns: 1, Late: 1},
	{Item: "p", Processes: []string{"put:a;delete", "get;get"}, Movers: 2, Late: 1},
	{Item: "p", Processes: []string{"delete", "get"}, Movers: 1, Late: 1, Moves: 2},
	{Item: "p", Processes: []string{"put:a", "get"}, Movers: 1, Late: 1, Moves: 2},
	{Item: "p", Processes: []string{"delete;create:a", "get"}, Movers: 1, Late: 1, Moves: 2},
	{Item: "p", Processes: []string{"put:a", "get"}, Movers: 2, Late: 1, Moves: 2},
}

func TestBreaks(t *testing.T) {
	all := reflect.TypeFor[forward.Breaks]()
	for i := range all.NumField() {
		var b forward.Breaks
		reflect.ValueOf(&b).Elem().Field(i).SetBool(true)
		began, states, caught := time.Now(), 0, false
		for n, s := range hunts {
			s.Breaks, s.Limit = b, 300_000
			v, err := Run(s)
			if err != nil {
				t.Fatal(err)
			}
			states += v.States
			if v.Wrong != "" {
				t.Logf("%s: scenario %d, %d states, %v", all.Field(i).Name, n, states, time.Since(began))
				caught = true
				break
			}
		}
		if !caught {
			t.Errorf("%s: not caught in %d states, %v", all.Field(i).Name, states, time.Since(began))
		}
	}
}
