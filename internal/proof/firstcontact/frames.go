package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
)

// frames measures how long the page keeps a browser busy. The measurement is in internal/browser, which is a module of its own and
// states the budget.
func frames(ctx context.Context, p *proof) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./frames", "-budget=false")
	cmd.Dir = "internal/browser"
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go run ./frames: %w", err)
	}
	var measured struct {
		Keys, Rows, Columns, Cells int
		Millis                     map[string]struct {
			Samples                          int
			P50, P99, Most, MostP50, MostP99 float64
			Within                           bool
		}
	}
	if err := json.Unmarshal(out.Bytes(), &measured); err != nil {
		return fmt.Errorf("%s: %w", out.Bytes(), err)
	}
	p.Tell("traffic and page", fmt.Sprintf("%d keys; %d rows, %d columns, %d cells", measured.Keys, measured.Rows, measured.Columns, measured.Cells))
	for _, action := range slices.Sorted(maps.Keys(measured.Millis)) {
		m := measured.Millis[action]
		p.Must(action, fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, most %.1f ms of %d", m.P50, m.P99, m.Most, m.Samples),
			fmt.Sprintf("p50 %.0f ms and p99 %.0f ms at most", m.MostP50, m.MostP99), m.Within)
	}
	return nil
}
