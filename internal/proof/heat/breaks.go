package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// breakable are the packages that are broken, and their part of the sample: as much as they have of the lines.
var breakable = []struct {
	pkg     string
	percent int
}{{"./heat", 75}, {"./plan", 25}}

// breaks breaks heat and plan at random, a line at a time, and counts what their own tests notice.
func breaks(ctx context.Context, p *proof) error {
	var all scenario.Broken
	for _, of := range breakable {
		b, err := scenario.Break(ctx, "-pkg", of.pkg, "-n", fmt.Sprint(max(1, p.breaks*of.percent/100)), "-seed", fmt.Sprint(p.seed))
		if err != nil {
			return err
		}
		all.Breaks, all.Caught = all.Breaks+b.Breaks, all.Caught+b.Caught
		p.Tell(of.pkg+": breaks, of these caught", fmt.Sprintf("%d, %d (%.0f %%)", b.Breaks, b.Caught, b.Share()))
		b.List(p.Out)
		p.Breaks = append(p.Breaks, b)
	}
	p.Must("sample", fmt.Sprint(all.Breaks), fmt.Sprintf("at least %d", p.breaks*99/100), all.Breaks >= p.breaks*99/100)
	p.Must("caught", fmt.Sprintf("%.1f %%", all.Share()), "at least 80 %", all.Share() >= 80)
	return nil
}

// goTest runs go test, and returns what it printed.
func goTest(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go test %s: %w:\n%s", strings.Join(args, " "), err, scenario.End(string(out)))
	}
	return string(out), nil
}
