package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

var (
	caughtAfter = regexp.MustCompile(`(\w+): caught after (\d+) seeds`)
	passedRule  = regexp.MustCompile(`(?m)^    --- (PASS|FAIL): TestEachRuleIsNeeded/(\w+)`)
	seedsRun    = regexp.MustCompile(`(\d+) seeds: (\{.*\})`)
)

// simulate runs the gates of package sim with more seeds: nothing is missed, and each rule is needed.
func simulate(ctx context.Context, p *proof) error {
	out, err := goTest(ctx, "./internal/ledger/sim", "-v", "-run", "^TestNothingIsMissed$", "-seeds", fmt.Sprint(p.simulated))
	found := seedsRun.FindStringSubmatch(out)
	if found == nil {
		return fmt.Errorf("TestNothingIsMissed: %w: %w: %s", errNoFigure, err, scenario.End(out))
	}
	p.Must("seeds without a fault", found[1], fmt.Sprintf(">= %d", p.simulated), err == nil && found[1] == fmt.Sprint(p.simulated))
	p.Tell("what the seeds did", found[2])

	out, _ = goTest(ctx, "./internal/ledger/sim", "-v", "-run", "^TestEachRuleIsNeeded$") // which rules are not caught is told below
	caught, rules, not := 0, 0, []string{}
	for _, rule := range passedRule.FindAllStringSubmatch(out, -1) {
		if rules++; rule[1] == "PASS" {
			caught++
		} else {
			not = append(not, rule[2])
		}
	}
	if rules == 0 {
		return fmt.Errorf("TestEachRuleIsNeeded: %w: %s", errNoFigure, scenario.End(out))
	}
	most, name := 0, ""
	for _, c := range caughtAfter.FindAllStringSubmatch(out, -1) {
		if n, err := strconv.Atoi(c[2]); err == nil && n > most {
			most, name = n, c[1]
		}
	}
	after := fmt.Sprintf("%d of %d", caught, rules)
	if len(not) > 0 {
		after += ", not " + strings.Join(not, ", ")
	}
	p.Must("rules of the protocol without which the simulator finds a fault", after, fmt.Sprintf("%d of %d", rules, rules), caught == rules)
	p.Tell("the largest number of seeds that this took", fmt.Sprintf("%d, for %s", most, name))
	return nil
}

// goTest runs go test, and returns what it printed.
func goTest(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"test", "-count=1", "-timeout", "60m"}, args...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	return string(out), err
}
