package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// broken is what internal/mutants says of a package in its last line.
type broken struct {
	Package   string     `json:"package"`
	Breaks    int        `json:"breaks"`
	Caught    int        `json:"caught"`
	Survivors []survivor `json:"survivors"`
}

// survivor is a break that no test noticed.
type survivor struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// breakable are the packages that are broken, and their part of the sample: as much as they have of the lines.
var breakable = []struct {
	pkg     string
	percent int
}{{"./heat", 75}, {"./plan", 25}}

// breaks breaks heat and plan at random, a line at a time, and counts what their tests notice.
func breaks(ctx context.Context, p *proof) error {
	all, caught := 0, 0
	for _, of := range breakable {
		b, err := mutants(ctx, of.pkg, p.breaks*of.percent/100, p.seed)
		if err != nil {
			return err
		}
		all, caught = all+b.Breaks, caught+b.Caught
		p.Tell(of.pkg+": breaks, of these caught", fmt.Sprintf("%d, %d (%.0f %%)", b.Breaks, b.Caught, share(b.Caught, b.Breaks)))
		for _, s := range b.Survivors {
			fmt.Fprintf(p.Out, "survived: %s/%s:%d: %s → %s\n", of.pkg, s.File, s.Line, strings.TrimSpace(s.Before), strings.TrimSpace(s.After))
		}
		p.Breaks = append(p.Breaks, b)
	}
	p.Must("sample", fmt.Sprint(all), fmt.Sprintf("at least %d", p.breaks*99/100), all >= p.breaks*99/100)
	p.Must("caught", fmt.Sprintf("%.1f %%", share(caught, all)), "at least 80 %", share(caught, all) >= 80)
	return nil
}

func share(part, whole int) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// mutants runs internal/mutants on a package. Its progress goes to stderr: it takes hours.
func mutants(ctx context.Context, pkg string, n int, seed uint64) (b broken, err error) {
	cmd := exec.CommandContext(ctx, "go", "run", "./internal/mutants", "-pkg", pkg, "-n", strconv.Itoa(max(1, n)), "-seed", strconv.FormatUint(seed, 10))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	ran := cmd.Run()
	if err := json.Unmarshal([]byte(lastLine(out.String())), &b); err != nil {
		return b, fmt.Errorf("mutants of %s: %w, %w", pkg, ran, err)
	}
	return b, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// goTest runs go test, and returns what it printed.
func goTest(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go test %s: %w:\n%s", strings.Join(args, " "), err, scenario.End(string(out)))
	}
	return string(out), nil
}
