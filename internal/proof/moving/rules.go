package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

var (
	ruleCaught = regexp.MustCompile(`(\w+): wrong after (\d+) states`)
	ruleKept   = regexp.MustCompile(`(\w+): no wrong answer in \d+ states|no scenario shows what the rule of (\w+)`)
	allStates  = regexp.MustCompile(`(?m): (\d+) states$`)
	subtest    = regexp.MustCompile(`(?m)^    --- (PASS|FAIL): (\S+)`)
)

// rules leaves out each rule of the protocol once, and runs all interleavings with all of them.
func rules(ctx context.Context, p *proof) error {
	out, err := goTest(ctx, "./internal/forward/check", "-v", "-run", "^TestEachRuleIsNeeded$")
	caught, most, hardest := 0, 0, ""
	for _, m := range ruleCaught.FindAllStringSubmatch(out, -1) {
		caught++
		if n, bad := strconv.Atoi(m[2]); bad == nil && n > most {
			most, hardest = n, m[1]
		}
	}
	not := []string{}
	for _, m := range ruleKept.FindAllStringSubmatch(out, -1) {
		not = append(not, m[1]+m[2])
	}
	// The test logs a rule as caught whether it was or not, so those that were not are taken off.
	caught -= len(not)
	if caught <= 0 {
		return fmt.Errorf("TestEachRuleIsNeeded: %w: %w: %s", errNoFigure, err, scenario.End(out))
	}
	total := caught + len(not)
	after := fmt.Sprintf("%d of %d", caught, total)
	if len(not) > 0 {
		after += ", not " + strings.Join(not, ", ")
	}
	p.Must("rules of the protocol without which some answer is wrong", after, fmt.Sprintf("%d of %d", total, total), err == nil && len(not) == 0)
	p.Tell("the largest number of states that this took", fmt.Sprintf("%d, for %s", most, hardest))

	out, err = goTest(ctx, "./internal/forward/check", "-v", "-run", "^TestOneItem$")
	states, scenarios := 0, 0
	for _, m := range allStates.FindAllStringSubmatch(out, -1) {
		if n, bad := strconv.Atoi(m[1]); bad == nil {
			states += n
			scenarios++
		}
	}
	if scenarios == 0 {
		return fmt.Errorf("TestOneItem: %w: %w: %s", errNoFigure, err, scenario.End(out))
	}
	p.Must("scenarios of which all interleavings are right, with all rules", fmt.Sprintf("%d, with %d states", scenarios, states), "all", err == nil)
	return nil
}

// damage plants damage of every kind at every stage.
func damage(ctx context.Context, p *proof) error {
	out, err := goTest(ctx, "./move", "-v", "-run", "^TestVerifyFindsPlantedDamageByID$")
	found, all := 0, 0
	kinds, missed := []string{}, []string{}
	for _, m := range subtest.FindAllStringSubmatch(out, -1) {
		_, what, _ := strings.Cut(m[2], "/") // a stage and a kind
		what, _, _ = strings.Cut(what, "#")  // and a number if there are several
		if _, kind, ok := strings.Cut(what, "_"); ok {
			kinds = append(kinds, kind)
		}
		if all++; m[1] == "PASS" {
			found++
		} else {
			missed = append(missed, what)
		}
	}
	if all == 0 {
		return fmt.Errorf("TestVerifyFindsPlantedDamageByID: %w: %w: %s", errNoFigure, err, scenario.End(out))
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	after := fmt.Sprintf("%d of %d", found, all)
	if len(missed) > 0 {
		after += ", not " + strings.Join(missed, ", ")
	}
	p.Must("planted damage, a stage and a kind each, that Verify finds, and nothing else", after, fmt.Sprintf("%d of %d", all, all), err == nil && found == all)
	p.Tell("kinds of damage", strings.Join(kinds, ", "))
	out, err = goTest(ctx, "./move", "-v", "-run", "^TestVerifyOfAHealthyMove$")
	verified := regexp.MustCompile(`verified at map\[(.*)\]`).FindAllStringSubmatch(out, -1)
	if len(verified) == 0 {
		return fmt.Errorf("TestVerifyOfAHealthyMove: %w: %w: %s", errNoFigure, err, scenario.End(out))
	}
	var at []string
	for _, m := range verified {
		at = append(at, m[1])
	}
	p.Must("verified beside writers, there and back, and nothing found: stages and how often", strings.Join(at, "; "), "all", err == nil)
	return nil
}
