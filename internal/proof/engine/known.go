package main

import (
	"regexp"
	"slices"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
)

// fact is a difference between engines that is known, and what is known of AWS about it.
type fact struct {
	name         string
	peers        []string // who differs
	operations   *regexp.Regexp
	kind         answer.Kind
	ours, theirs *regexp.Regexp
	fact         string // what AWS does
	source       string // where that is public
}

// explain returns the fact that explains a finding, or nil.
func explain(f finding) *fact {
	for i := range known {
		k := &known[i]
		if k.kind == f.Kind && slices.Contains(k.peers, f.peer) &&
			(k.operations == nil || k.operations.MatchString(f.op.Name)) &&
			(k.ours == nil || k.ours.MatchString(f.Ours)) && (k.theirs == nil || k.theirs.MatchString(f.Theirs)) {
			return k
		}
	}
	return nil
}

// known are the facts. docs/compatibility.md has them for readers.
var known = []fact{}
