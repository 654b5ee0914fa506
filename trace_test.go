package heatsink

import (
	"context"
	"testing"

	"github.com/heatsink-go/heatsink/internal/place"
)

// Who does not trace pays nothing for it.
func TestNoTracerAllocatesNothing(t *testing.T) {
	s, r, ctx := &sender{table: "views"}, &request{operation: "Query", Home: place.Home{ShardKey: "a#SHARD_1"}}, context.Background()
	if n := testing.AllocsPerRun(100, func() {
		ctx, endOperation := s.startOperation(ctx, "Query", "a")
		_, endRequest := s.startRequest(ctx, r)
		endRequest(nil)
		endOperation(nil)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
