package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// errTooSlow is that this machine could not offer the load that a picture is of. Its figures would be those of the machine.
var errTooSlow = errors.New("this machine is too slow or too busy for the load")

// leastOffered is the part of a load that must have been offered.
const leastOffered = 0.95

// enough refuses a load of which too little was offered.
func enough(what string, offered, wanted float64) error {
	if offered < leastOffered*wanted {
		return fmt.Errorf("%w: %s offered %.0f where %.0f were wanted, and pictures are of %.0f %% at least: take them when it is calm",
			errTooSlow, what, offered, wanted, 100*leastOffered)
	}
	return nil
}

var (
	wanted = regexp.MustCompile(`That is ([\d,]+) write units \(WCU\) per second`)
	escape = regexp.MustCompile(`\x1b\[\d+m`)
	row    = regexp.MustCompile(`^(one key|ten shards|adaptive) +\d+ of \d+ +([\d,]+) `) // act, and WCU/s offered in it
)

// held refuses a demo any of whose acts was offered too little, by the table at its end.
func held(screen []string) error {
	target, acts := 0.0, 0
	for _, line := range screen {
		line = escape.ReplaceAllString(line, "")
		if found := wanted.FindStringSubmatch(line); found != nil {
			target = number(found[1])
		}
		found := row.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		acts++
		if err := enough(fmt.Sprintf("act %d of the demo, %s,", acts, found[1]), number(found[2]), target); err != nil {
			return err
		}
	}
	if target == 0 || acts != 4 {
		return fmt.Errorf("the demo has %d acts with figures and a load of %.0f write units, want 4 acts and its load", acts, target)
	}
	return nil
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return 0
	}
	return n
}
