package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// futile runs the step on a table with too few partitions. More shards cannot help there, so growth must end, and say why.
func futile(ctx context.Context, p *proof) error {
	const long = 60 * time.Second
	var r stepResult
	if _, err := p.bubble.Run(ctx, &r, "TestStep", "-seed", "1", "-partitions", fmt.Sprint(fewPartitions), "-step", long.String()); err != nil {
		return err
	}
	p.Must(fmt.Sprintf("the last growth of %v, on %d partitions", long, fewPartitions), fmt.Sprintf("%.1f s, to width %d", r.Settled, r.Width), "< 40 s, width < 256", r.Settled < 40 && r.Width < 256)
	text := ""
	for _, d := range r.Decisions {
		if strings.HasPrefix(d, "futility: ") {
			text = d
		}
	}
	p.Must("what the process says about it", text, "why, and the command", strings.Contains(text, "too few partitions") && strings.Contains(text, "aws dynamodb update-table") && strings.Contains(text, "--warm-throughput"))
	p.None("acknowledged items that are missing at the end", r.ReadBack.Missed, r.ReadBack.Items)
	p.None("items that are there twice", r.ReadBack.Twice, r.ReadBack.Items)
	p.None("pages that miss, repeat or misplace an item", r.Strong.Wrong+r.Eventual.Wrong, r.Strong.Pages+r.Eventual.Pages)
	p.Tell("throttled", percent(r.Calm))
	return nil
}
