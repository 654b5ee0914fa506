package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// loop is the closed loop of a kind of finding, as the command's tests write it.
type loop struct {
	Kind, Found, Planned string
	Before, After        int64 // throttled requests
	Holds                bool
}

func (l *loop) String() string {
	text := l.Found
	if l.Planned != "" {
		text += "; plan: " + l.Planned
	}
	if l.Before+l.After > 0 {
		text += fmt.Sprintf("; throttled requests: %d before, %d after", l.Before, l.After)
	}
	return text
}

// kinds are the kinds of findings: their number, and why some have no loop.
type kinds struct {
	Kinds   int
	Without map[string]string
}

// kindsOf reads them from the test that reads the source, which runs in the directory of its package.
func kindsOf(ctx context.Context, file string) (k kinds, err error) {
	if _, err := goTest(ctx, "./cmd/heatsink", "-run", "^TestEveryKindHasARemedy$", "-args", "-result", file); err != nil {
		return k, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal(text, &k)
}

// loops runs the closed loop of every kind of finding: detect, explain, plan, apply, verify.
func loops(ctx context.Context, p *proof) error {
	kinds, err := kindsOf(ctx, filepath.Join(p.command.Work, "kinds.json"))
	if err != nil {
		return err
	}
	shown := make(map[string]bool)
	for _, test := range []string{"TestRemedies", "TestRemedyOfCapacity", "TestRemedyOfExpiredItems"} {
		var result []loop
		if _, err := p.command.Run(ctx, &result, test); err != nil {
			return err
		}
		for _, l := range result {
			shown[l.Kind] = true
			p.Must(l.Kind, l.String(), "gone with the remedy", l.Holds)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds.Without)) {
		if !shown[kind] {
			shown[kind] = true
			p.Tell(kind, "no loop: "+kinds.Without[kind])
		}
	}
	p.None("kinds without a loop or a reason", kinds.Kinds-len(shown), kinds.Kinds)
	return nil
}
