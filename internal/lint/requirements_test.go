package lint

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// expectedIDs are the ranges of ids that docs/requirements.md must hold, each once and no others.
var expectedIDs = []struct {
	format   string
	from, to int
}{
	{"000-%02d", 1, 28},
	{"001-%02d", 1, 19},
	{"002-%02d", 1, 8},
	{"003-%02d", 1, 22},
	{"004-%02d", 1, 30},
	{"X%02d", 1, 8},
	{"X%02d", 10, 32}, // there never was an X09
	{"M%02d", 1, 24},
	{"R%02d", 1, 16},
}

// requirement is one row of the document. No proofs means "not yet".
type requirement struct {
	id     string
	text   string
	proofs []string // package.TestName, where package is a directory or heatsink for the root
}

func TestRequirements(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(root, "docs", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range expectedIDs {
		for n := r.from; n <= r.to; n++ {
			ids = append(ids, fmt.Sprintf(r.format, n))
		}
	}
	requirements, faults := parseRequirements(string(doc))
	faults = append(faults, checkRequirements(requirements, ids, existingTests(t))...)
	for _, f := range faults {
		t.Errorf("docs/requirements.md: %s", f)
	}

	proved := 0
	for _, r := range requirements {
		if len(r.proofs) > 0 {
			proved++
		}
	}
	t.Logf("%d of %d requirements are proved by a test", proved, len(ids))
}

func TestParseRequirements(t *testing.T) {
	got, faults := parseRequirements(`# Title

| id | what | proved by |
|---|---|---|
| A-01 | spreads keys | not yet |
| A-02 | reads them | ` + "`heatsink.TestRead`, `internal/engine.FuzzRead`" + ` |

Prose about | pipes is no table.
`)
	want := []requirement{
		{id: "A-01", text: "spreads keys"},
		{id: "A-02", text: "reads them", proofs: []string{"heatsink.TestRead", "internal/engine.FuzzRead"}},
	}
	if len(faults) > 0 {
		t.Errorf("got faults %q, want none", faults)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}

	for _, c := range []struct{ name, row, want string }{
		{"too few cells", "| A-01 | spreads keys |", `line 1: got 2 cells, want 3: "| A-01 | spreads keys |"`},
		{"no text", "| A-01 | | not yet |", `line 1: A-01 says nothing`},
		{"no proof", "| A-01 | spreads keys | |", `line 1: A-01: "" is neither "not yet" nor a test`},
		{"bare proof", "| A-01 | spreads keys | heatsink.TestRead |", `line 1: A-01: "heatsink.TestRead" is neither "not yet" nor a test`},
		{"no package", "| A-01 | spreads keys | `TestRead` |", "line 1: A-01: \"`TestRead`\" is neither \"not yet\" nor a test"},
		{"not a test", "| A-01 | spreads keys | `heatsink.Read` |", "line 1: A-01: \"`heatsink.Read`\" is neither \"not yet\" nor a test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, got := parseRequirements(c.row); !slices.Equal(got, []string{c.want}) {
				t.Errorf("got faults %q, want %q", got, c.want)
			}
		})
	}
}

func TestCheckRequirements(t *testing.T) {
	tests := map[string]bool{"heatsink.TestRead": true}
	got := checkRequirements([]requirement{
		{id: "A-01", proofs: []string{"heatsink.TestRead", "heatsink.TestGone"}},
		{id: "A-03"},
		{id: "A-01"},
	}, []string{"A-01", "A-02"}, tests)
	want := []string{
		"A-01: there is no heatsink.TestGone",
		"A-03 is not an id we know",
		"A-01 is listed twice",
		"A-02 is missing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := checkRequirements([]requirement{{id: "A-01"}}, []string{"A-01"}, tests); len(got) > 0 {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestExistingTests(t *testing.T) {
	tests := existingTests(t)
	for name, want := range map[string]bool{
		"internal/lint.TestExistingTests": true,
		"internal/lint.TestNonexistent":   false,
		"internal/lint.existingTests":     false,
		"heatsink.TestExistingTests":      false,
	} {
		if tests[name] != want {
			t.Errorf("%s: got %v, want %v", name, tests[name], want)
		}
	}
}

var (
	// A table's head and the rule under it: the rows that are no requirements.
	tableHead = regexp.MustCompile(`^\|( id |-)`)
	proofName = regexp.MustCompile("^`([a-z0-9/]+\\.(?:Test|Fuzz|Example|Benchmark)\\w*)`$")
)

// parseRequirements reads every table row of a document, and returns a sentence for each that it does not understand.
func parseRequirements(doc string) (requirements []requirement, faults []string) {
	n := 0
	for line := range strings.Lines(doc) {
		n++
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Sprintf("line %d: ", n)+fmt.Sprintf(format, args...))
		}
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || tableHead.MatchString(line) {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 {
			fault("got %d cells, want 3: %q", len(cells), line)
			continue
		}
		r := requirement{id: strings.TrimSpace(cells[0]), text: strings.TrimSpace(cells[1])}
		if r.text == "" {
			fault("%s says nothing", r.id)
		}
		if proofs := strings.TrimSpace(cells[2]); proofs != "not yet" {
			for proof := range strings.SplitSeq(proofs, ", ") {
				if m := proofName.FindStringSubmatch(proof); m != nil {
					r.proofs = append(r.proofs, m[1])
				} else {
					fault("%s: %q is neither \"not yet\" nor a test", r.id, proof)
				}
			}
		}
		requirements = append(requirements, r)
	}
	return requirements, faults
}

// checkRequirements compares the document with the ids it should hold and the tests there are.
func checkRequirements(requirements []requirement, ids []string, tests map[string]bool) []string {
	var faults []string
	seen := map[string]bool{}
	for _, r := range requirements {
		if !slices.Contains(ids, r.id) {
			faults = append(faults, r.id+" is not an id we know")
		}
		if seen[r.id] {
			faults = append(faults, r.id+" is listed twice")
		}
		seen[r.id] = true
		for _, proof := range r.proofs {
			if !tests[proof] {
				faults = append(faults, fmt.Sprintf("%s: there is no %s", r.id, proof))
			}
		}
	}
	for _, id := range ids {
		if !seen[id] {
			faults = append(faults, id+" is missing")
		}
	}
	return faults
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)

// existingTests collects the repository's tests, fuzz targets, examples and benchmarks as package.Name.
func existingTests(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(file)
		if pkg == "." {
			pkg = "heatsink"
		}
		for _, m := range testFunc.FindAllSubmatch(src, -1) {
			tests[pkg+"."+string(m[1])] = true
		}
	}
	return tests
}
