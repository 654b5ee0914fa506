package main

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

// idleTime lets an engine with a TTL table live through virtual days in which nothing happens. A bubble of synctest needs
// a test, so that is what runs: TestIdle of this package.
func idleTime(ctx context.Context, p *proof) error {
	// The figures of before are of a machine that was busy otherwise: the issue names 0.3 s for a day. The year was stopped.
	const enough = 5 * time.Minute
	took := regexp.MustCompile(`idle for \S+: (\S+)\n`)
	for _, idle := range []struct {
		name, before string
		long, want   time.Duration
	}{
		{"day", "2.49 s", 24 * time.Hour, time.Second},
		{"week", "43.11 s", 7 * 24 * time.Hour, time.Second},
		{"year", "> 150 s", 365 * 24 * time.Hour, time.Second},
	} {
		if p.quick && idle.name == "year" {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, enough)
		out, err := goTest(limited, "./internal/proof/server", "-v", "-run", "^TestIdle$", "-idle", idle.long.String())
		late := limited.Err() != nil && ctx.Err() == nil
		cancel()
		if late {
			p.figure("8 an idle virtual "+idle.name+" with a TTL table", idle.before, "> "+seconds(enough), "<= "+seconds(idle.want), false)
			continue
		}
		if err != nil {
			return err
		}
		found := took.FindStringSubmatch(out)
		if found == nil {
			return fmt.Errorf("TestIdle does not tell how long it took: %s", out)
		}
		d, err := time.ParseDuration(found[1])
		if err != nil {
			return err
		}
		p.figure("8 an idle virtual "+idle.name+" with a TTL table", idle.before, seconds(d), "<= "+seconds(idle.want), d <= idle.want)
	}
	return nil
}
