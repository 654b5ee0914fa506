package docs

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// history are pages that may speak of names that there were.
var history = []string{"CHANGELOG.md", "docs/api.md"}

// span is a span of docs/monitoring.md, and no name of Go.
const span = "heatsink.Count"

var (
	qualified = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
	ofTests   = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)`)
)

// Names of this module's packages in sentences and tables are there.
func TestNames(t *testing.T) {
	known := exports(t)
	found := 0
	for _, p := range pages(t) {
		if slices.Contains(history, p.path) {
			continue
		}
		for _, l := range p.prose {
			for _, code := range inlineCode.FindAllString(l.text, -1) {
				for _, name := range qualified.FindAllStringSubmatch(code, -1) {
					if e := known[name[1]]; e != nil && !ofTests.MatchString(name[2]) && name[0] != span {
						found++
						if !e.names[name[2]] {
							t.Errorf("%s:%d: package %s has no %s", p.path, l.number, name[1], name[2])
						}
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("%d names were found: are they still recognized?", found)
	}
}

// Every block of JSON can be read, such as a policy that a reader pastes.
func TestJSON(t *testing.T) {
	read := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.lang != "json" {
				continue
			}
			read++
			if err := json.Unmarshal([]byte(b.text), new(any)); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
	if read < 4 {
		t.Errorf("%d blocks of JSON were found", read)
	}
}

// The README stays one that is read to its end, and begins with the two commands.
func TestReadme(t *testing.T) {
	readme := pageOf(t, "README.md")
	if lines := strings.Count(readFile(t, "README.md"), "\n"); lines > 125 {
		t.Errorf("README.md has %d lines, want at most 125: the rest belongs into docs", lines)
	}
	for _, want := range []string{"go run ./cmd/heatsink demo", "make test"} {
		if !strings.Contains(readme.blocks[0].text, want) {
			t.Errorf("the first block of README.md has no %q", want)
		}
	}
	version := regexp.MustCompile(`\ngo (1\.\d+)`).FindStringSubmatch(readFile(t, "go.mod"))[1]
	if !strings.Contains(readFile(t, "README.md"), "Go "+version) {
		t.Errorf("README.md does not say that one needs Go %s", version)
	}
}
