package observed_test

import (
	"fmt"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/observed"
)

// What a report costs grows with its keys, not with their square: the page asks each second, and has thousands.
func TestManyKeys(t *testing.T) {
	allocations := func(keys int) float64 {
		var flow heat.Flow
		for i := range keys {
			flow.Keys = append(flow.Keys, heat.KeyHeat{Key: fmt.Sprintf("CUSTOMER#%05d", i), Units: 10, RateLow: 1})
		}
		reports := []heat.Report{{Source: heat.Engine, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "app"}, Writes: flow}}}}
		return testing.AllocsPerRun(1, func() { observed.Of(reports) })
	}
	if few, many := allocations(200), allocations(800); many > 8*few {
		t.Errorf("%.0f allocations for 200 keys, %.0f for 800", few, many)
	}
}
