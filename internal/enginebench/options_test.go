package main

import (
	"io"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	for _, test := range []struct{ args, engines, workloads string }{
		{"", "heatsink dynoxide dynalite dynamodb-local empty", "put get update query batch"},
		{"-only get", "heatsink dynoxide dynalite dynamodb-local empty", "get"},
		{"-only dynoxide,empty", "dynoxide empty", "put get update query batch"},
		{"-only get,empty,get,query,empty", "empty", "get query"},
		{"-growth", "heatsink", "put get query"},
		{"-growth -only dynoxide,get", "dynoxide", "get"},
	} {
		o, err := parseOptions(strings.Fields(test.args), io.Discard)
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
			continue
		}
		if got := strings.Join(o.engines, " "); got != test.engines {
			t.Errorf("%s: got engines %q, want %q", test.args, got, test.engines)
		}
		if got := strings.Join(names(o.workloads), " "); got != test.workloads {
			t.Errorf("%s: got workloads %q, want %q", test.args, got, test.workloads)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, args := range []string{
		"-only mysql", "-growth -only update", "-growth -only heatsink,empty",
		"-rounds 0", "-conns 0", "-duration 1ms", "leftover", "-nonsense",
	} {
		if _, err := parseOptions(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: got no error", args)
		}
	}
}
