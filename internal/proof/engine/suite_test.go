package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func TestReadSuite(t *testing.T) {
	r, err := readSuite([]byte(`{"testResults":[
		{"name":"a.ts","assertionResults":[{"fullName":"one","status":"passed"},{"fullName":"two","status":"failed"},{"fullName":"three","status":"pending"}]},
		{"name":"b.ts","message":"does not compile","assertionResults":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"two: failed", "three: pending", "b.ts: does not compile"}; r.Tests != 3 || r.Passed != 1 || !slices.Equal(r.Failed, want) {
		t.Errorf("got %+v, want one of three and %q", r, want)
	}
	if _, err := readSuite([]byte("<html>")); err == nil {
		t.Error("no error for a report that is none")
	}
}

// Without a suite there is nothing to show, which is no success.
func TestWithoutSuite(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		var out bytes.Buffer
		p := &proof{Board: scenario.New(&out), suite: dir}
		scenario.Show(t.Context(), &p.Board, p, scenarios[0])
		if p.End(&out, p) || !strings.Contains(out.String(), "not run: ") {
			t.Errorf("%q: got %s, want that it was not run", dir, out.String())
		}
	}
}
