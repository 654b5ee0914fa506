package sim

import (
	"fmt"
	"testing"
)

func TestScenarios(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(fmt.Sprint(s.Number), func(t *testing.T) {
			t.Parallel()
			for _, f := range s.Run() {
				t.Logf("%s, %s\n  published: %s\n  ours:      %s", s.Title, f.Case, f.Published, f.Ours)
				if !f.OK {
					t.Errorf("%s, %s: got %s, want %s", s.Title, f.Case, f.Ours, f.Published)
				}
			}
		})
	}
}
