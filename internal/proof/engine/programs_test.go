package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func TestReadGoTest(t *testing.T) {
	r, err := readGoTest([]byte(`{"Action":"start","Package":"p"}
		{"Action":"run","Package":"p","Test":"TestA"}
		{"Action":"pass","Package":"p","Test":"TestA/one"}
		{"Action":"pass","Package":"p","Test":"TestA"}
		{"Action":"fail","Package":"p","Test":"TestB"}
		{"Action":"skip","Package":"p","Test":"TestC"}
		{"Action":"fail","Package":"p"}
		{"Action":"build-fail","ImportPath":"q"}
		{"Action":"fail","Package":"q","FailedBuild":"q"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(r.Failed)); r.Tests != 5 || r.Passed != 2 || r.Skipped != 1 || !slices.Equal(got, []string{"p TestB", "q"}) {
		t.Errorf("got %+v", r)
	}
	for _, text := range []string{"go: no module", `{"Action":"start","Package":"p"}`} {
		if _, err := readGoTest([]byte(text)); err == nil {
			t.Errorf("%s: got no error", text)
		}
	}
}

// What a program lacks is told, and is no success. A checkout is the user's to have.
func TestWithoutPrograms(t *testing.T) {
	var out bytes.Buffer
	p := &proof{Board: scenario.New(&out), work: t.TempDir(), peers: t.TempDir()}
	suites := []otherSuite{
		{name: "first", needs: []*shelf{{name: "none", programs: []string{"no-such-client"}}}},
		{name: "second", checkout: &checkout{"somebody/tests", "TESTS", func(*proof) string { return "" }}},
	}
	var results []*otherResult
	if err := p.showTests(t.Context(), suites, &results); err != nil || len(results) > 0 {
		t.Fatalf("got %v, %v", results, err)
	}
	if f := p.Figures; len(f) != 2 || f[0].Holds || !strings.Contains(f[0].After, "not run: ") || !f[1].Holds || !strings.Contains(f[1].After, "set TESTS to a checkout") {
		t.Errorf("got %+v", f)
	}
}

// Packages are fetched once, and again if others are wanted or the fetching was interrupted.
func TestShelfIsFilledOnce(t *testing.T) {
	p := &proof{Board: scenario.New(os.Stderr), peers: t.TempDir()}
	fetches := 0
	command, of := "version", []string{"a@1"}
	shelf := func() *shelf {
		return &shelf{name: "some", programs: []string{"go"}, packages: of, fetch: func(*proof, []string) [][]string {
			fetches++
			return [][]string{{"go", command}}
		}}
	}
	for _, step := range []struct {
		command string
		of      []string
		fetches int
		fails   bool
	}{
		{"no-such-command", []string{"a@1"}, 1, true},
		{"version", []string{"a@1"}, 2, false},
		{"version", []string{"a@1"}, 2, false},
		{"version", []string{"a@2"}, 3, false},
	} {
		command, of = step.command, step.of
		s := shelf()
		for range 2 { // for two programs
			if err := s.fill(t.Context(), p); (err != nil) != step.fails || fetches != step.fetches {
				t.Errorf("%+v: got %v after %d fetches", step, err, fetches)
			}
		}
	}
}

// Every test of ours that is embedded runs, and every failure that is excused has a reason of its own.
func TestPrograms(t *testing.T) {
	files, err := os.ReadDir("adaptor")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{proof: &proof{peers: t.TempDir(), work: t.TempDir(), python: python}, adaptor: "adaptor", dir: "checkout"}
	var commands strings.Builder
	for _, s := range slices.Concat(programs, otherSuites) {
		for _, cmd := range s.command(b) {
			commands.WriteString(strings.Join(cmd.Args, " ") + "\n")
		}
		for _, e := range s.excuses {
			regexp.MustCompile(e.tests)
		}
		if got := s.explain("a test that nobody wrote"); got != "" {
			t.Errorf("%s: everything is explained, by %q", s.name, got)
		}
		if s.least < 20 {
			t.Errorf("%s has %d tests, want more", s.name, s.least)
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), filepath.Ext(file.Name()))
		if !strings.Contains(commands.String(), name) {
			t.Errorf("nothing runs %s", file.Name())
		}
	}
}

// The document has the programs, in the versions that run.
func TestProgramsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Programs tried\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, s := range programs {
		space := strings.LastIndexByte(s.program, ' ')
		if space < 0 {
			continue // of a checkout, which says its version
		}
		if name, version := s.program[:space], s.program[space+1:]; !strings.Contains(section, name) || !strings.Contains(section, version) {
			t.Errorf("docs/compatibility.md does not say that %s was tried", s.program)
		}
	}
}
